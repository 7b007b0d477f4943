/* SPDX-License-Identifier: MIT */
/*
 * The smallest agent: asks whether it may run a command, waits, runs it, and
 * tells how that went.
 *
 *	cc agent_blocking.c $(pkg-config --cflags --libs approval)
 *	./a.out rm -r ./build
 */
#include <approval.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TELL_MS 5000 /* nobody waits longer for what is only told */

/* {command: "…"}: what is asked about must be what is run, so the words are quoted. */
static int describe(struct approval_pack *p, char **argv)
{
	char text[4096] = "";
	size_t len = 0;

	for (; *argv; argv++) {
		const char *c;

		text[len++] = '\'';
		for (c = *argv; *c && len < sizeof(text) - 8; c++) {
			if (*c == '\'')
				len += (size_t)sprintf(text + len, "'\\'");
			text[len++] = *c;
		}
		if (*c || len >= sizeof(text) - 8)
			return -E2BIG;
		text[len++] = '\'';
		if (argv[1])
			text[len++] = ' ';
	}
	approval_pack_map(p, 1);
	approval_pack_str(p, "command");
	return approval_pack_strn(p, text, len);
}

static int run(char **argv)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return 127;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void complain(const struct approval *a, const char *what, int rc)
{
	const struct approval_error *e = approval_last_error(a);

	fprintf(stderr, "%s: %s\n", what, *e->message ? e->message : strerror(-rc));
}

int main(int argc, char **argv)
{
	struct approval_options options;
	struct approval_request request;
	const struct approval_decision *d;
	struct approval *a = NULL;
	struct approval_pack *input = NULL;
	int rc, result = 2;

	if (argc < 2) {
		fprintf(stderr, "usage: %s COMMAND…\n", argv[0]);
		return 2;
	}
	approval_options_init(&options, APPROVAL_AGENT);
	options.agent = "example";
	options.client = "agent_blocking 1";
	rc = approval_new(&a, &options);
	if (!rc)
		rc = approval_pack_new(&input);
	if (!rc)
		rc = describe(input, argv + 1);
	if (rc < 0) {
		fprintf(stderr, "cannot ask: %s\n", strerror(-rc));
		goto out;
	}

	approval_request_init(&request);
	request.tool = "Bash";
	request.summary = "run a command";
	request.input = approval_pack_data(input, &request.input_len);
	request.on_disconnect = "cancel";
	rc = approval_request_wait(a, &request, -1, &d);
	if (rc < 0) {
		/* whatever went wrong: no answer is no permission */
		complain(a, "not allowed", rc);
		goto out;
	}
	if (d->verdict == APPROVAL_ALLOW) {
		/* d belongs to the client until its next blocking call */
		char *id = strdup(d->tool_call_id);

		result = run(argv + 1);
		rc = approval_outcome(a, id, result ? "failed" : "succeeded", NULL, TELL_MS);
		if (rc < 0)
			complain(a, "the outcome was not told", rc);
		free(id);
	} else {
		fprintf(stderr, "denied (%s): %s\n%s\n", d->source, d->reason, d->message);
		result = 1;
	}
	approval_bye(a, true, TELL_MS);
out:
	approval_pack_free(input);
	approval_free(a);
	return result;
}
