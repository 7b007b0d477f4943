/* SPDX-License-Identifier: MIT */
/* The tool call that a command line stands for, as `ask` and `check` submit it. */
#ifndef CTL_REQUEST_H
#define CTL_REQUEST_H

#include "libapproval/approval.h"

#define REQUEST_AGENT "approvalctl"
#define REQUEST_TOOL  "Bash"

struct ctl_request {
	struct approval_request r;
	struct approval_pack *input;
	char *cwd;
};

/*
 * Input {command, argv}: the words quoted for a shell, and the words. *r and what
 * it points to are valid until request_free. Negative errno.
 */
int request_words(struct ctl_request *q, char **argv, int argc);
/* The same from JSON text. -EINVAL with *why. */
int request_json(struct ctl_request *q, const char *json, const char **why);
void request_free(struct ctl_request *q);

#endif
