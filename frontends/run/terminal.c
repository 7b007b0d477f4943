/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "frontends/run/run.h"

void terminal_open(struct terminal *t, pid_t child)
{
	*t = (struct terminal){.fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NONBLOCK),
		.own = getpgrp(),
		.child = child};
	if (t->fd < 0)
		return;
	if (tcgetattr(t->fd, &t->mine) < 0) {
		close(t->fd);
		t->fd = -1;
	}
	t->theirs = t->mine;
}

bool terminal_foreground(struct terminal *t)
{
	if (t->fd < 0 || t->ours || tcgetpgrp(t->fd) != t->own)
		return false;
	t->ours = true;
	if (!t->taken)
		tcgetattr(t->fd, &t->mine);
	return true;
}

void terminal_background(struct terminal *t)
{
	t->ours = false;
}

/* SIGTTOU is blocked, so that we may do this from the background of the child's group. */
void terminal_give(struct terminal *t)
{
	t->len = 0;
	if (!t->ours)
		return;
	if (t->taken)
		tcsetattr(t->fd, TCSANOW, &t->theirs);
	t->taken = false;
	tcsetpgrp(t->fd, t->child);
}

void terminal_take(struct terminal *t)
{
	if (!t->ours || t->taken || tcgetattr(t->fd, &t->theirs) < 0)
		return;
	tcsetpgrp(t->fd, t->own);
	tcsetattr(t->fd, TCSANOW, &t->mine);
	t->taken = true;
}

const char *terminal_line(struct terminal *t)
{
	ssize_t n;
	char c;

	while ((n = read(t->fd, &c, 1)) == 1) {
		if (c == '\n') {
			t->line[t->len] = '\0';
			t->len = 0;
			return t->line;
		}
		if (t->len < sizeof(t->line) - 1)
			t->line[t->len++] = c;
	}
	return NULL;
}
