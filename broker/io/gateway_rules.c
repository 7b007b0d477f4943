/* SPDX-License-Identifier: MIT */
/* Rules and floor, as files and configuration have them. */
#include "broker/io/gateway_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "broker/io/rule_files.h"

/* A file as the configuration has it, or else of that name in the user's folder. */
static int place(const struct gateway *g, const char *set, const char *name, char **out)
{
	int n = 0;

	*out = NULL;
	if (set)
		n = asprintf(out, "%s", set);
	else if (g->user_rules)
		n = asprintf(out, "%s/%s", g->user_rules, name);
	if (n >= 0)
		return 0;
	*out = NULL;
	return -ENOMEM;
}

static int files_read(
	const struct gateway *g, const struct config *config, struct rules_fresh *fresh)
{
	struct rule_places places = {
		.admin_dir = config->rules_admin_dir ? config->rules_admin_dir : g->admin_rules,
		.uid = geteuid()};
	char *rules = NULL;
	int err = 0;

	/* no home is read by the broker of a system */
	if (g->user_mode)
		err = place(g, config->rules_user_file, "rules", &rules);
	if (g->user_mode && err == 0)
		err = place(g, config->floor_user_file, "floor", &fresh->floor_file);
	places.user_rules = rules;
	places.user_floor = fresh->floor_file;
	if (err == 0)
		err = rule_files_load(fresh->rules, fresh->floor, &places, g->log);
	free(rules);
	return err;
}

static int entries_off(const struct gateway *g, const struct config_names *names,
	enum floor_owner owner, struct floor *floor)
{
	char quoted[80];
	int err = 0;

	for (size_t i = 0; i < names->n; i++) {
		const struct bytes name = bytes_of(names->items[i]);
		const int rc = floor_off(floor, name, owner);

		if (rc == 0)
			continue;
		log_error(g->log, "configuration: [floor] off: %s %s",
			log_quote(quoted, sizeof(quoted), name),
			rc == -ENOENT ? "is no entry of the floor" : "can't be switched off");
		err = -EINVAL;
	}
	return err;
}

int rules_read(struct gateway *g, const struct config *config, struct rules_fresh *out)
{
	int err, off;

	out->floor_file = NULL;
	out->rules = ruleset_new();
	out->floor = floor_new(g->user_mode ? FLOOR_USER : FLOOR_ADMIN);
	err = out->rules && out->floor ? files_read(g, config, out) : -ENOMEM;
	if (err != -ENOMEM) {
		off = entries_off(g, &config->floor_off[1], FLOOR_ADMIN, out->floor);
		err = off < 0 ? off : err;
		off = entries_off(g, &config->floor_off[0], FLOOR_USER, out->floor);
		err = off < 0 ? off : err;
	}
	if (err == 0)
		err = ruleset_carry(out->rules, g->judge.rules);
	if (err == 0)
		err = projects_load(g, out->rules);
	if (err == 0)
		err = ruleset_carry_matches(out->rules, g->judge.rules);
	if (err == -ENOSPC)
		log_error(g->log, "rules: with the standing ones there would be too many");
	if (err < 0)
		rules_drop(out);
	return err;
}

void rules_drop(struct rules_fresh *fresh)
{
	ruleset_free(fresh->rules);
	floor_free(fresh->floor);
	free(fresh->floor_file);
}

void rules_swap(struct gateway *g, struct rules_fresh *fresh)
{
	ruleset_free(g->judge.rules);
	floor_free(g->judge.floor);
	free(g->floor_file);
	g->floor_file = fresh->floor_file;
	g->judge.rules = fresh->rules;
	g->judge.floor = fresh->floor;
	projects_sweep(g);
}

int gateway_rules(struct gateway *g, const struct config *config)
{
	struct rules_fresh fresh;
	int err = rules_read(g, config, &fresh);

	if (err == 0)
		rules_swap(g, &fresh);
	return err;
}
