/* SPDX-License-Identifier: MIT */
#include "broker/start.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

struct cause {
	int err;
	const char *why; /* and what to do */
};

static const char *cause_find(const struct cause *list, size_t n, int err)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].err == err)
			return list[i].why;
	return NULL;
}

void start_store(const struct log *log, const char *path, int err)
{
	static const struct cause list[] = {
		{-EPROTO, "it was written by a newer approvald; upgrade, or move it away"},
		{-EPERM, "it belongs to another user, or others may write to it; chown it, or "
			 "chmod go-w it"},
		{-ELOOP, "it is a symbolic link; name the file itself as path in [store], or move "
			 "the link away"},
		{-EBUSY, "it is in use by another approvald; end that one, or give this one a "
			 "--state-dir of its own"},
		{-EUCLEAN, "it is corrupt, and nothing of it was changed; move it away, or "
			   "restore a copy"},
		{-ENOMEM, "there is no memory; look at its limits"},
	};
	const char *why = cause_find(list, sizeof(list) / sizeof(list[0]), err);

	if (why)
		log_error(log, "store %s: %s", path, why);
	else
		log_error(log,
			"store %s: %s; make it readable and writable, or name another folder "
			"with --state-dir",
			path, strerror(-err));
}

void start_folder(const struct log *log, const char *path, int err, const char *option)
{
	static const struct cause list[] = {
		{-EPERM, "it belongs to another user, or others may write to it"},
		{-ELOOP, "it is a symbolic link"},
	};
	const char *why = cause_find(list, sizeof(list) / sizeof(list[0]), err);

	log_error(log, "folder %s: %s; put that right, or name another with %s", path,
		why ? why : strerror(-err), option);
}

void start_socket(const struct log *log, const char *folder, int err)
{
	static const struct cause list[] = {
		{-EADDRINUSE, "another approvald listens there; end that one, or give this one "
			      "a --runtime-dir of its own"},
		{-ENAMETOOLONG, "the path is too long for one; name a shorter --runtime-dir"},
		{-ENOTSOCK, "what is in its place is none; remove that"},
		{-ENOMEM, "there is no memory; look at its limits"},
	};
	const char *why = cause_find(list, sizeof(list) / sizeof(list[0]), err);

	if (why)
		log_error(log, "socket in %s: %s", folder, why);
	else
		start_folder(log, folder, err, "--runtime-dir");
}
