/* SPDX-License-Identifier: MIT */
/* Lines of a script with what must be told then. */
#include <string.h>

#include "tests/model/world.h"

void script_expect(struct world *w, const char *line, const char *patterns)
{
	char copy[1024], *save = NULL;
	const char *at;

	script_run(w, line);
	at = w->told;
	snprintf(copy, sizeof(copy), "%s", patterns);
	for (char *p = strtok_r(copy, ";", &save); p; p = strtok_r(NULL, ";", &save)) {
		const char *hit;

		while (*p == ' ')
			p++;
		if (*p == '!' && !(hit = strstr(w->told, p + 1)))
			continue;
		if (*p == '!')
			world_fail(w, "%s: told \"%s\"", line, p + 1);
		hit = strstr(at, p);
		if (!hit)
			world_fail(w, "%s: not told \"%s\" (in this order)", line, p);
		at = hit + strlen(p);
	}
}

void script_all(struct world *w, const char *const *lines)
{
	for (; lines[0]; lines += 2)
		script_expect(w, lines[0], lines[1]);
}
