/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "frontends/run/run.h"

void terminal_open(struct terminal *t)
{
	*t = (struct terminal){.fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NONBLOCK)};
	t->own = getpgrp();
	if (t->fd < 0)
		return;
	/* in the background of a shell it is not ours to give */
	if (tcgetpgrp(t->fd) != t->own || tcgetattr(t->fd, &t->mine) < 0) {
		close(t->fd);
		t->fd = -1;
	}
	t->theirs = t->mine;
}

/* SIGTTOU is blocked, so that we may do this from the background. */
void terminal_give(struct terminal *t, pid_t child)
{
	t->child = child;
	t->len = 0;
	if (t->fd < 0)
		return;
	if (t->taken)
		tcsetattr(t->fd, TCSANOW, &t->theirs);
	t->taken = false;
	tcsetpgrp(t->fd, child);
}

void terminal_take(struct terminal *t)
{
	/* not from somebody else: the child's group has it, or whatever that one gave it to */
	if (t->fd < 0 || t->taken)
		return;
	if (tcgetattr(t->fd, &t->theirs) < 0)
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
