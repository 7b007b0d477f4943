/* SPDX-License-Identifier: MIT */
/* A policy from its file, and whether that file, and the programs, may be trusted. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontends/policy/policy.h"
#include "libapproval/limits.h"

/* NULL: only its owner may write it, and he is to be trusted. */
static const char *distrust(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "it is no regular file";
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return "it belongs to somebody else";
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return "others can write it; chmod go-w";
	return NULL;
}

static int say(struct text *why, const char *path, const struct policy_problem *p)
{
	text_terminal(why, path, strlen(path), 0);
	if (p->line)
		text_printf(why, ":%u:%u", p->line, p->column);
	text_printf(why, ": %s", p->text);
	return why->failed ? -ENOMEM : 1;
}

static int say_text(struct text *why, const char *path, uint32_t line, const char *what)
{
	const struct policy_problem p = {line, 1, what};

	return say(why, path, &p);
}

/* What is in the file; 1: it can't be had. */
static int file_read(int fd, const char *path, struct text *out, struct text *why)
{
	char chunk[16384];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) > 0) {
		if (out->len + (size_t)n > LIMIT_RULE_FILE)
			return say_text(why, path, 0, "the file is too long");
		text_addn(out, chunk, (size_t)n);
		if (out->failed)
			return -ENOMEM;
	}
	return n < 0 ? say_text(why, path, 0, strerror(errno)) : 0;
}

static int programs_check(const struct policy *p, struct text *why)
{
	for (size_t i = 0; i < p->n_runs; i++) {
		const struct policy_program *const program = &p->runs[i].program;
		const char *wrong;
		struct stat st;

		if (stat(program->path, &st))
			wrong = strerror(errno);
		else
			wrong = distrust(&st);
		if (!wrong && access(program->path, X_OK))
			wrong = strerror(errno);
		if (!wrong)
			continue;
		say_text(why, p->name, program->line, "");
		text_terminal(why, program->path, strlen(program->path), 0);
		text_printf(why, ": %s", wrong);
		return why->failed ? -ENOMEM : 1;
	}
	return 0;
}

static int text_load(
	const char *path, const struct text *text, struct policy **out, struct text *why)
{
	struct policy_problem problem;
	int err =
		policy_parse(path, (struct bytes){text_string(text), text->len}, out, &problem);

	if (err)
		return err < 0 ? err : say(why, path, &problem);
	err = programs_check(*out, why);
	if (err) {
		policy_free(*out);
		*out = NULL;
	}
	return err;
}

int policy_load(const char *path, struct policy **out, struct text *why)
{
	/* not to wait for the writer of a pipe: it is refused below */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct text text = {0};
	const char *wrong;
	struct stat st;
	int err;

	*out = NULL;
	if (fd < 0)
		return say_text(why, path, 0, strerror(errno));
	wrong = fstat(fd, &st) ? strerror(errno) : distrust(&st);
	err = wrong ? say_text(why, path, 0, wrong) : file_read(fd, path, &text, why);
	if (err == 0)
		err = text_load(path, &text, out, why);
	text_free(&text);
	close(fd);
	return err;
}
