/* SPDX-License-Identifier: MIT */
/* The shipped entries of the floor, by name. */
#ifndef CORE_FLOOR_ENTRY_H
#define CORE_FLOOR_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

/* id, name, what it guards, what is on it */
#define ENTRY_LIST(X)                                                                          \
	X(SSH, "ssh", FLOOR_ALL, "keys and settings of ssh")                                   \
	X(GNUPG, "gnupg", FLOOR_ALL, "keys of GnuPG, and passwords kept with them")            \
	X(CLOUD, "cloud", FLOOR_ALL, "credentials of clouds and their tools")                  \
	X(CLUSTER, "cluster", FLOOR_ALL, "credentials of clusters")                            \
	X(NETRC, "netrc", FLOOR_ALL, "logins kept for network tools")                          \
	X(PGPASS, "pgpass", FLOOR_ALL, "passwords of databases")                               \
	X(DOCKER, "docker", FLOOR_ALL, "logins at container registries")                       \
	X(NPM, "npm", FLOOR_ALL, "logins at npm registries")                                   \
	X(PYPI, "pypi", FLOOR_ALL, "logins at Python package indexes")                         \
	X(BROWSER, "browser", FLOOR_ALL, "profiles of browsers and mail programs")             \
	X(KEYRING, "keyring", FLOOR_ALL, "keyrings and password stores")                       \
	X(ENV, "env", FLOOR_ALL, "environment files, other than examples of them")             \
	X(PRIVATE_KEY, "private-key", FLOOR_ALL, "private keys")                               \
	X(SECRET, "secret", FLOOR_ALL, "secrets and credentials kept as data")                 \
	X(DEPLOY, "deploy", FLOOR_WRITE | FLOOR_RUN, "scripts that deploy or release")         \
	X(GIT_HOOKS, "git-hooks", FLOOR_WRITE, "programs that git runs")                       \
	X(GIT_CONFIG, "git-config", FLOOR_WRITE, "settings of git")                            \
	X(STARTUP, "startup", FLOOR_WRITE, "what shells and logins run")                       \
	X(CRON, "cron", FLOOR_WRITE, "crontabs")                                               \
	X(UNITS, "units", FLOOR_WRITE, "services of the user")                                 \
	X(AUTOSTART, "autostart", FLOOR_WRITE, "what a desktop starts")                        \
	X(AGENT, "agent", FLOOR_WRITE, "agents' own settings")                                 \
	X(APPROVALD, "approvald", FLOOR_WRITE, "this broker's configuration, state, sockets")  \
	X(SYSTEM, "system", FLOOR_WRITE, "system directories")                                 \
	X(DEVICE, "device", FLOOR_WRITE, "devices")                                            \
	X(DELETE, "delete", 0, "recursive delete outside the workspace, or of all of it")      \
	X(MOVE, "move", 0, "move from or to outside the workspace, or of all of it")           \
	X(PERMISSION, "permission", 0,                                                         \
		"change of permissions outside the workspace, or of all of it")                \
	X(WORLD_WRITABLE, "chmod-777", 0, "recursive permission for everybody to write")       \
	X(SETUID, "setuid", 0, "program that runs with its owner's rights")                    \
	X(FETCHED, "fetched-code", 0, "code from the network or a decoder is run")             \
	X(PRIVILEGE, "privilege", 0, "other user's rights")                                    \
	X(FORCE_PUSH, "force-push", 0, "push that overwrites or deletes")                      \
	X(CRONTAB, "crontab", 0, "crontab of a user")                                          \
	X(DD, "dd", 0, "dd onto a device")                                                     \
	X(MKFS, "mkfs", 0, "new file system")                                                  \
	X(READ_ALL, "read-all", 0, "recursive reading of what holds a protected folder")       \
	X(UNREAD, "unread", 0, "command that can't be read with certainty")

#define ENTRY_ID(id, name, guards, about) ENTRY_##id,
enum entry_id { ENTRY_LIST(ENTRY_ID) ENTRY_N };
#define ENTRY_NONE (-1)

struct entry {
	const char *name;
	const char *about;
	uint8_t guards; /* enum floor_use */
};
extern const struct entry floor_entries[ENTRY_N];

/* Whether an entry that is not in off guards against a use. */
static inline bool entry_guards(int entry, unsigned use, uint64_t off)
{
	return floor_entries[entry].guards & use && !(off >> entry & 1);
}

#endif
