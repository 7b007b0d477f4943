/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "libapproval/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_set(const char *s)
{
	return s && *s;
}

/* A folder of the XDG specification; one that is not absolute is to be ignored, as the broker
 * does, too. */
static bool is_absolute(const char *s)
{
	return s && *s == '/';
}

static int print_path(char **out, const char *base, uid_t uid, const char *folder)
{
	int n;

	if (base)
		n = asprintf(out, "%s/approvald/%s/sock", base, folder);
	else
		n = asprintf(out, "/tmp/approvald-%u/%s/sock", (unsigned int)uid, folder);
	return n < 0 ? -ENOMEM : 0;
}

int place_choose(struct place *p, enum approval_side side, const struct place_facts *facts)
{
	const char *folder = side == APPROVAL_AGENT ? "agent" : "frontend";
	const char *given = is_set(facts->option) ? facts->option : facts->environment;
	int rc;

	*p = (struct place){.system = facts->system};
	if (is_set(given)) {
		p->path = strdup(given);
		return p->path ? 0 : -ENOMEM;
	}
	if (facts->system) {
		p->compiled = true;
		rc = print_path(&p->path, "/run", 0, folder);
	} else if (is_absolute(facts->runtime_dir)) {
		rc = print_path(&p->path, facts->runtime_dir, 0, folder);
	} else {
		p->compiled = true;
		p->shared = true;
		rc = print_path(&p->path, NULL, facts->uid, folder);
	}
	if (rc < 0)
		p->path = NULL;
	return rc;
}

int place_find(struct place *p, enum approval_side side, const char *option)
{
	struct place_facts facts = {
		.option = option,
		.environment =
			secure_getenv(side == APPROVAL_AGENT ? "APPROVAL_SOCKET"
							     : "APPROVAL_FRONTEND_SOCKET"),
		.runtime_dir = secure_getenv("XDG_RUNTIME_DIR"),
		.system = access(PLACE_SYSTEM_MARK, F_OK) == 0,
		.uid = geteuid(),
	};

	return place_choose(p, side, &facts);
}

int place_verify(const struct place *p, uid_t uid)
{
	char folder[64];
	struct stat st;

	if (!p->shared)
		return 0;
	snprintf(folder, sizeof(folder), "/tmp/approvald-%u", (unsigned int)uid);
	if (lstat(folder, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode) || st.st_uid != uid || (st.st_mode & 077))
		return -EPERM;
	return 0;
}
