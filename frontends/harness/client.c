/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json_tokener.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "frontends/harness/harness.h"

#define KILL_MS 30000

int64_t clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct client *client_find(struct clients *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->list[i].name, name))
			return &c->list[i];
	return NULL;
}

int client_add(struct clients *c, const char *name, enum client_kind kind, const char *above,
	struct json_object *hello)
{
	struct client *list, *new;
	size_t at = 0;

	if (client_find(c, name) || (above && !client_find(c, above)))
		return -EINVAL;
	if (above)
		at = (size_t)(client_find(c, above) - c->list);
	list = calloc(c->n + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	/* the pointers between them go along */
	for (size_t i = 0; i < c->n; i++) {
		list[i] = c->list[i];
		if (list[i].above)
			list[i].above = list + (list[i].above - c->list);
	}
	new = &list[c->n];
	free(c->list);
	c->list = list;
	*new = (struct client){.name = strdup(name), .kind = kind, .fd = -1, .theirs = -1};
	new->above = above ? &list[at] : NULL;
	new->hello = json_object_get(hello);
	c->n++;
	return new->name ? 0 : -ENOMEM;
}

/* ---- processes ---- */

static _Noreturn void process_run(struct clients *c, struct client *self);

static pid_t process_fork(struct clients *c, struct client *self)
{
	pid_t pid = fork();

	if (pid == 0)
		process_run(c, self);
	return pid;
}

static void process_run(struct clients *c, struct client *self)
{
	/* what is to run below it, before it becomes anything itself */
	for (size_t i = 0; i < c->n; i++)
		if (c->list[i].above == self && process_fork(c, &c->list[i]) < 0)
			_exit(70);
	for (size_t i = 0; i < c->n; i++) {
		if (c->list[i].fd >= 0)
			close(c->list[i].fd);
		if (c->list[i].theirs >= 0 && &c->list[i] != self)
			close(c->list[i].theirs);
	}
	worker_run(self->theirs, self->kind,
		self->kind == CLIENT_AGENT ? c->agent_socket : c->frontend_socket);
}

int clients_fork(struct clients *c)
{
	int r = 0;

	for (size_t i = 0; i < c->n; i++) {
		int pair[2];

		if (c->list[i].kind == CLIENT_PROGRAM)
			continue;
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
			return -errno;
		c->list[i].fd = pair[0];
		c->list[i].theirs = pair[1];
	}
	for (size_t i = 0; !r && i < c->n; i++)
		if (c->list[i].kind != CLIENT_PROGRAM && !c->list[i].above &&
			process_fork(c, &c->list[i]) < 0)
			r = -errno;
	for (size_t i = 0; i < c->n; i++) {
		if (c->list[i].theirs >= 0)
			close(c->list[i].theirs);
		c->list[i].theirs = -1;
	}
	return r;
}

int client_start(struct client *c, char *const *argv)
{
	int out[2];

	if (c->fd >= 0)
		close(c->fd);
	c->len = 0;
	c->ended = false;
	if (pipe2(out, O_CLOEXEC))
		return -errno;
	c->fd = out[0];
	c->pid = fork();
	if (c->pid < 0) {
		close(out[1]);
		return -errno;
	}
	if (c->pid == 0) {
		int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

		/* what it starts is to end with it */
		if (setpgid(0, 0) || null < 0 || dup2(null, 0) < 0 || dup2(out[1], 1) < 0)
			_exit(126);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(out[1]);
	return 0;
}

/* ---- events ---- */

static int event_add(
	struct client *c, const char *name, const char *call, struct json_object *value)
{
	struct event *list = reallocarray(c->events, c->n_events + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	c->events = list;
	list[c->n_events] = (struct event){.name = strdup(name),
		.call = call ? strdup(call) : NULL,
		.value = json_object_get(value)};
	return list[c->n_events++].name ? 0 : -ENOMEM;
}

/* A line that is no JSON object is an event "line" of a program. */
static int line_take(struct client *c, const char *line)
{
	struct json_object *j = json_tokener_parse(line), *name, *call = NULL, *value = NULL;
	bool known = json_object_is_type(j, json_type_object) &&
		     json_object_object_get_ex(j, "event", &name) && name;
	int r = 0;

	if (!known) {
		json_object_put(j);
		j = json_object_new_string(line);
		r = event_add(c, "line", NULL, j);
	} else if (c->kind == CLIENT_PROGRAM) {
		r = event_add(c, json_object_get_string(name), NULL, j);
	} else {
		json_object_object_get_ex(j, "call", &call);
		json_object_object_get_ex(j, "value", &value);
		if (!strcmp(json_object_get_string(name), "started"))
			c->pid = json_object_get_int(value);
		else
			r = event_add(c, json_object_get_string(name),
				call ? json_object_get_string(call) : NULL, value);
	}
	json_object_put(j);
	return r;
}

static int client_ended(struct client *c)
{
	struct json_object *value;
	int status, r;

	close(c->fd);
	c->fd = -1;
	c->ended = true;
	if (c->kind != CLIENT_PROGRAM)
		return 0;
	while (waitpid(c->pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	c->pid = 0;
	value = json_object_new_object();
	r = value ? 0 : -ENOMEM;
	if (!r)
		json_object_object_add(value, "status",
			json_object_new_int(WIFSIGNALED(status) ? 128 + WTERMSIG(status)
								: WEXITSTATUS(status)));
	if (!r)
		r = event_add(c, "exit", NULL, value);
	json_object_put(value);
	return r;
}

static int client_read(struct client *c)
{
	char *more = realloc(c->buffer, c->len + 65536), *end;
	size_t used = 0;
	ssize_t n;
	int r = 0;

	if (!more)
		return -ENOMEM;
	c->buffer = more;
	n = read(c->fd, c->buffer + c->len, 65536);
	if (n < 0 && errno == EINTR)
		return 0;
	if (n <= 0)
		return client_ended(c);
	c->len += (size_t)n;
	while (!r && (end = memchr(c->buffer + used, '\n', c->len - used))) {
		*end = '\0';
		r = line_take(c, c->buffer + used);
		used = (size_t)(end - c->buffer) + 1;
	}
	memmove(c->buffer, c->buffer + used, c->len - used);
	c->len -= used;
	return r;
}

int clients_wait(struct clients *c, int64_t until)
{
	struct pollfd *p = calloc(c->n + 1, sizeof(*p));
	int64_t left = until - clock_ms();
	int n, r = 0;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < c->n; i++)
		p[i] = (struct pollfd){.fd = c->list[i].fd, .events = POLLIN};
	n = left <= 0 ? 0 : poll(p, c->n, left < INT_MAX ? (int)left : INT_MAX);
	if (n < 0 && errno != EINTR)
		r = -errno;
	else if (n == 0)
		r = -ETIMEDOUT;
	for (size_t i = 0; !r && n > 0 && i < c->n; i++)
		if (p[i].revents)
			r = client_read(&c->list[i]);
	free(p);
	return r;
}

/* ---- commands ---- */

int client_command(struct client *c, struct json_object *command)
{
	size_t len, at = 0;
	const char *s;
	int r = 0;

	if (!command)
		return -ENOMEM;
	s = json_object_to_json_string_length(command, JSON_C_TO_STRING_PLAIN, &len);
	while (!r && s && at <= len) {
		/* it may have so much to say that it does not listen yet */
		struct pollfd p = {.fd = c->fd, .events = POLLIN | POLLOUT};
		ssize_t n;

		if (c->ended || c->fd < 0) {
			r = -EPIPE;
		} else if (poll(&p, 1, -1) < 0) {
			r = errno == EINTR ? 0 : -errno;
		} else if (p.revents & POLLIN) {
			r = client_read(c);
		} else if (p.revents & POLLOUT) {
			/* the NUL at its end stands for the line feed */
			n = at < len ? send(c->fd, s + at, len - at, MSG_NOSIGNAL)
				     : send(c->fd, "\n", 1, MSG_NOSIGNAL);
			if (n > 0)
				at += (size_t)n;
			else if (errno != EINTR)
				r = -errno;
		} else {
			r = -EPIPE;
		}
	}
	json_object_put(command);
	return s ? r : -ENOMEM;
}

int client_kill(struct client *c)
{
	int64_t until = clock_ms() + KILL_MS;
	struct clients one = {.list = c, .n = 1};
	int r = 0;

	/* it told its pid first of all */
	while (!r && !c->pid && !c->ended)
		r = clients_wait(&one, until);
	if (r || c->ended)
		return r;
	if (c->kind == CLIENT_PROGRAM)
		kill(-c->pid, SIGKILL);
	if (kill(c->pid, SIGKILL))
		return -errno;
	while (!r && !c->ended)
		r = clients_wait(&one, until);
	return r;
}

void clients_free(struct clients *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct client *x = &c->list[i];

		if (x->kind == CLIENT_PROGRAM && x->fd >= 0)
			client_kill(x);
		if (x->fd >= 0)
			close(x->fd); /* a worker ends with its control socket */
		for (size_t j = 0; j < x->n_events; j++) {
			free(x->events[j].name);
			free(x->events[j].call);
			json_object_put(x->events[j].value);
		}
		free(x->events);
		free(x->buffer);
		free(x->name);
		json_object_put(x->hello);
	}
	free(c->list);
	c->list = NULL;
	c->n = 0;
	while (waitpid(-1, NULL, 0) > 0)
		;
}
