/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker/io/path.h"
#include "broker/io/workspace.h"

/* "/", the home folder by any of its names, and what is above it. */
static bool barred(const char *folder, const char *home, const char *home_resolved)
{
	return strcmp(folder, "/") == 0 || (home && path_inside(folder, home)) ||
	       (home_resolved && path_inside(folder, home_resolved));
}

static int has_git(int root, const char *folder, bool only_cached)
{
	char *git;
	int rc;

	if (asprintf(&git, "%s/.git", folder) < 0)
		return -ENOMEM;
	rc = path_exists(root, git, only_cached);
	free(git);
	return rc;
}

int workspace_find(int root, const char *cwd, const char *home, bool only_cached, char **out)
{
	char *folder = NULL, *home_resolved = NULL;
	int rc = 0;

	*out = NULL;
	if (!cwd || cwd[0] != '/')
		return 0;
	if (home) {
		rc = path_resolve(root, home, only_cached, &home_resolved);
		if (rc)
			return rc;
	}
	rc = path_lexical(bytes_of(cwd), NULL, NULL, &folder);
	if (rc || !folder || barred(folder, home, home_resolved))
		goto out;
	*out = strdup(folder);
	if (!*out) {
		rc = -ENOMEM;
		goto out;
	}
	do {
		rc = has_git(root, folder, only_cached);
		if (rc < 0)
			break;
		if (rc > 0) {
			free(*out);
			*out = folder;
			folder = NULL;
			rc = 0;
			goto out;
		}
		*strrchr(folder, '/') = '\0';
	} while (folder[0] && !barred(folder, home, home_resolved));
out:
	if (rc < 0) {
		free(*out);
		*out = NULL;
	}
	free(folder);
	free(home_resolved);
	return rc;
}

int workspace_home(unsigned uid, char **out)
{
	const char *env = getenv("HOME");
	struct passwd pw, *found = NULL;
	const char *home = NULL;
	char *buf = NULL;
	size_t size = 4096;
	int rc = ERANGE;

	*out = NULL;
	if (uid == getuid() && env && env[0] == '/')
		return path_lexical(bytes_of(env), NULL, NULL, out);
	for (; rc == ERANGE && size <= 1u << 20; size *= 2) {
		free(buf);
		buf = malloc(size);
		if (!buf)
			return -ENOMEM;
		rc = getpwuid_r(uid, &pw, buf, size, &found);
	}
	if (rc == 0 && found)
		home = found->pw_dir;
	rc = 0;
	if (home && home[0] == '/')
		rc = path_lexical(bytes_of(home), NULL, NULL, out);
	free(buf);
	return rc;
}
