/* SPDX-License-Identifier: MIT */
/*
 * An agent with an event loop of its own: asks about several tool calls at once
 * and goes on working meanwhile. The client needs three questions each turn
 * (descriptor, events, time) and one dispatch; any loop can do that.
 */
#include <approval.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

struct work {
	int outstanding, allowed;
};

static void decided(struct approval *a, int status, const struct approval_decision *d,
	const struct approval_error *error, void *arg)
{
	struct work *work = arg;

	work->outstanding--;
	if (status < 0)
		printf("no answer: %s (%s)\n", strerror(-status), error->message);
	else if (d->verdict == APPROVAL_ALLOW)
		work->allowed++;
	else
		printf("denied: %s\n", d->message);
}

static void happened(struct approval *a, enum approval_event event, const char *name,
	const struct approval_value *value, const struct approval_error *error, void *arg)
{
	switch (event) {
	case APPROVAL_DISCONNECTED: printf("lost the broker, trying again\n"); break;
	case APPROVAL_GAVE_UP: printf("gave up: %s\n", error->message); break;
	case APPROVAL_NOTIFICATION: printf("told: %s\n", name); break;
	case APPROVAL_CONNECTED:
	case APPROVAL_SNAPSHOT: break;
	}
}

static int ask_to_read(struct approval *a, const char *path, struct work *work)
{
	struct approval_request request;
	struct approval_pack *input;
	int rc = approval_pack_new(&input);

	if (rc < 0)
		return rc;
	approval_pack_map(input, 1);
	approval_pack_str(input, "file_path");
	rc = approval_pack_str(input, path);
	if (!rc) {
		approval_request_init(&request);
		request.tool = "Read";
		request.input = approval_pack_data(input, &request.input_len);
		rc = approval_request(a, &request, decided, work, NULL);
	}
	if (!rc)
		work->outstanding++;
	approval_pack_free(input);
	return rc;
}

/* Waits for the client's descriptor and for ours (here: standard input). */
static int turn(struct approval *a)
{
	struct pollfd fds[2] = {
		{.fd = approval_fd(a), .events = approval_events(a)},
		{.fd = 0, .events = POLLIN},
	};
	int64_t timeout = approval_timeout(a);

	if (poll(fds, 2, timeout > INT_MAX ? INT_MAX : (int)timeout) < 0 && errno != EINTR)
		return -errno;
	if (fds[1].revents)
		return -ECANCELED; /* Enter or the end of input: enough waited */
	return approval_dispatch(a);
}

int main(int argc, char **argv)
{
	struct approval_options options;
	struct work work = {0};
	struct approval *a;
	int i, rc;

	approval_options_init(&options, APPROVAL_AGENT);
	options.agent = "example";
	options.client = "agent_async_poll 1";
	rc = approval_new(&a, &options);
	if (rc < 0) {
		fprintf(stderr, "cannot start: %s\n", strerror(-rc));
		return 2;
	}
	approval_on_event(a, happened, NULL);
	for (i = 1; i < argc && !rc; i++)
		rc = ask_to_read(a, argv[i], &work);
	while (work.outstanding && (rc == 0 || rc == -ENOMEM))
		rc = turn(a);
	printf("%d of %d allowed\n", work.allowed, argc - 1);
	/* what is still outstanding ends here, with -ECANCELED */
	approval_free(a);
	return work.allowed == argc - 1 ? 0 : 1;
}
