/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "frontends/ctl/frozen.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/common/cgroup.h"

static bool file_has(const char *folder, const char *name, const char *what)
{
	char path[PATH_MAX], text[512];
	size_t n = 0;
	FILE *f;

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return false;
	f = fopen(path, "re");
	if (f) {
		n = fread(text, 1, sizeof(text) - 1, f);
		fclose(f);
	}
	text[n] = '\0';
	return strstr(text, what) != NULL;
}

/* Does a session that is alive, and held, have its process in there? */
static bool is_held(const struct items *sessions, const char *folder)
{
	char path[64], line[PATH_MAX];
	bool held = false;

	for (size_t i = 0; i < sessions->n && !held; i++) {
		const struct approval_value *s = sessions->items[i];
		FILE *f;

		if (!approval_value_bool(approval_value_get(s, "held")))
			continue;
		snprintf(path, sizeof(path), "/proc/%lld/cgroup",
			(long long)approval_value_int(approval_value_get(s, "pid")));
		f = fopen(path, "re");
		while (f && !held && fgets(line, sizeof(line), f)) {
			const char *name = strrchr(folder, '/');

			line[strcspn(line, "\n")] = '\0';
			held = !strncmp(line, "0::", 3) && strstr(line, name);
		}
		if (f)
			fclose(f);
	}
	return held;
}

static void thaw(struct doctor *d, const char *folder)
{
	if (cgroup_write(folder, "cgroup.freeze", "0"))
		doctor_findf(d, FINDING_NOTE, NULL, "thawed: %s", folder);
	else
		doctor_findf(d, FINDING_PROBLEM, "thaw it as its owner, or as root",
			"%s is frozen and can't be thawed: %s", folder, strerror(errno));
}

void frozen_look(struct doctor *d, bool wanted)
{
	struct items sessions = {0};
	char root[PATH_MAX], point[PATH_MAX];
	char *const points[] = {point, NULL};
	FTS *fts = cgroup_mount(root, point)
			   ? fts_open(points, FTS_PHYSICAL | FTS_NOSTAT | FTS_NOCHDIR, NULL)
			   : NULL;
	FTSENT *e;
	bool broker;

	/* without a broker all that are frozen are nobody's */
	broker = d->c->client && approval_hello(d->c->client);
	if (fts && broker)
		items_fetch(d->c, "sessions", NULL, 0, &sessions);
	while (fts && (e = fts_read(fts))) {
		if (e->fts_info != FTS_D || strncmp(e->fts_name, CGROUP_RUN_PREFIX,
						    sizeof(CGROUP_RUN_PREFIX) - 1) != 0)
			continue;
		if (!file_has(e->fts_path, "cgroup.events", "frozen 1") ||
			!file_has(e->fts_path, "cgroup.events", "populated 1") ||
			is_held(&sessions, e->fts_path))
			continue;
		if (wanted)
			thaw(d, e->fts_path);
		else if (broker) /* another one may be there */
			doctor_findf(d, FINDING_NOTE,
				"if there is no other broker, 'approvalctl doctor --thaw', or kill "
				"what is in it",
				"%s is frozen, but not by this broker", e->fts_path);
		else
			doctor_findf(d, FINDING_WARNING,
				"start the broker: approval-run says hello again; else "
				"'approvalctl doctor --thaw', or kill what is in it",
				"%s is frozen, and no broker holds it", e->fts_path);
	}
	if (fts)
		fts_close(fts);
	items_free(&sessions);
}
