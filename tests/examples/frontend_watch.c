/* SPDX-License-Identifier: MIT */
/*
 * A frontend that shows what waits for an answer, and denies everything when
 * called with --deny. It shows how to keep a picture that is never wrong: items
 * and events come in order, a new snapshot replaces all that came before.
 */
#include <approval.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct watch {
	bool deny;
};

/* All text that an agent wrote is hostile: nothing of it reaches the terminal as a command. */
static void show(const char *text)
{
	for (; *text; text++)
		putchar((unsigned char)*text < ' ' || (unsigned char)*text >= 0x7f ? '?'
										   : *text);
}

static bool is_pending(const struct approval_value *item)
{
	const char *state = approval_value_text(item, "state");

	return strcmp(approval_value_text(item, "type"), "request") == 0 &&
	       (strcmp(state, "AWAITING") == 0 || strcmp(state, "HELD") == 0);
}

static void answered(struct approval *a, int status, const struct approval_value *result,
	const struct approval_error *error, void *arg)
{
	const struct approval_value *first;

	if (status < 0) {
		printf("not decided: ");
		show(error->message);
		putchar('\n');
		return;
	}
	/* somebody else may have been faster: that is no failure, but it must be told */
	first = approval_value_at(approval_value_get(result, "results"), 0);
	printf("decided: ");
	show(approval_value_text(first, "result"));
	putchar('\n');
}

static void prompt(
	struct approval *a, const struct approval_value *item, const struct watch *watch)
{
	struct approval_answer answer = {
		.size = sizeof(answer),
		.request = approval_value_text(item, "request"),
		.verdict = APPROVAL_DENY,
		.reason = "this terminal denies everything",
	};

	if (!is_pending(item))
		return;
	show(answer.request);
	printf(" ");
	show(approval_value_text(item, "agent"));
	printf(": ");
	show(approval_value_text(item, "tool"));
	printf(" ");
	show(approval_value_text(item, "command"));
	printf(" (");
	show(approval_value_text(item, "why"));
	printf(")\n");
	if (watch->deny)
		approval_decide(a, &answer, 1, answered, NULL, NULL);
}

static void happened(struct approval *a, enum approval_event event, const char *name,
	const struct approval_value *value, const struct approval_error *error, void *arg)
{
	const struct watch *watch = arg;

	switch (event) {
	case APPROVAL_CONNECTED: printf("connected; forget what was shown\n"); break;
	case APPROVAL_DISCONNECTED: printf("disconnected\n"); break;
	case APPROVAL_SNAPSHOT: printf("that is all for now\n"); break;
	case APPROVAL_GAVE_UP:
		printf("gave up: ");
		show(error->message);
		putchar('\n');
		break;
	case APPROVAL_NOTIFICATION:
		if (strcmp(name, "item") == 0) {
			prompt(a, value, watch);
		} else if (strcmp(name, "offered") == 0) {
			prompt(a, approval_value_get(value, "item"), watch);
		} else if (strcmp(name, "resolved") == 0 || strcmp(name, "withdrawn") == 0) {
			show(approval_value_text(value, "request"));
			printf(" is over: ");
			show(approval_value_text(value, "state"));
			putchar('\n');
		}
		break;
	}
}

int main(int argc, char **argv)
{
	struct watch watch = {.deny = argc > 1 && strcmp(argv[1], "--deny") == 0};
	struct approval_options options;
	struct approval *a;
	int rc;

	setvbuf(stdout, NULL, _IOLBF, 0);
	approval_options_init(&options, APPROVAL_FRONTEND);
	options.client = "frontend_watch 1";
	options.retry_ms = -1; /* a frontend waits for its broker as long as it lives */
	rc = approval_new(&a, &options);
	if (rc < 0) {
		fprintf(stderr, "cannot start: %s\n", strerror(-rc));
		return 2;
	}
	approval_on_event(a, happened, &watch);
	approval_subscribe(a);
	do
		rc = approval_wait(a, -1);
	while (rc == 0 || rc == -ENOMEM);
	approval_free(a);
	return rc == -EINTR ? 0 : 1;
}
