/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <json-c/json_tokener.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/common/json.h"
#include "frontends/harness/harness.h"

#define LINE_WORDS     16
#define LINE_MAX_BYTES (4u << 20)

static int word_add(struct step *s, const char *from, size_t len, struct json_object *json)
{
	struct word *words = reallocarray(s->words, s->n + 1, sizeof(*words));

	if (!words) {
		json_object_put(json);
		return -ENOMEM;
	}
	s->words = words;
	words[s->n] = (struct word){.text = strndup(from, len), .json = json};
	return words[s->n++].text ? 0 : -ENOMEM;
}

/* Where the JSON value at the beginning of the line ends; 0: it is none. */
static size_t json_end(const char *from, const char **problem)
{
	struct json_tokener *t = json_tokener_new();
	size_t len = 0;

	*problem = "no memory";
	if (!t)
		return 0;
	json_object_put(json_tokener_parse_ex(t, from, -1));
	if (json_tokener_get_error(t) == json_tokener_success)
		len = json_tokener_get_parse_end(t);
	else
		*problem = json_tokener_error_desc(json_tokener_get_error(t));
	json_tokener_free(t);
	return len;
}

static size_t json_read(const char *from, struct json_object **out, const char **problem)
{
	size_t len = json_end(from, problem);
	char *text = len ? strndup(from, len) : NULL;

	/* strictly, now that what follows is not in the way */
	if (!text || json_parse(text, out, problem))
		len = 0;
	free(text);
	return len;
}

static int line_split(struct step *s, const char *p, const char **problem)
{
	int r = 0;

	while (!r) {
		struct json_object *json = NULL;
		size_t len;

		p += strspn(p, " \t");
		if (!*p || *p == '#')
			return 0;
		*problem = "too many words";
		if (s->n == LINE_WORDS)
			return -EINVAL;
		if (*p == '{' || *p == '[') {
			len = json_read(p, &json, problem);
			if (!len)
				return -EINVAL;
		} else {
			len = strcspn(p, " \t");
		}
		r = word_add(s, p, len, json);
		p += len;
	}
	return r;
}

static struct step *step_add(struct scenario *s, unsigned line)
{
	struct step *steps = reallocarray(s->steps, s->n + 1, sizeof(*steps));

	if (!steps)
		return NULL;
	s->steps = steps;
	steps[s->n] = (struct step){.line = line};
	return &steps[s->n++];
}

/* There is such a step, with so many words. */
static int step_judge(const struct step *s, struct text *problem)
{
	const struct verb *v = verb_find(s->words[0].text);

	if (!v)
		text_printf(problem, "there is no verb '%s'", s->words[0].text);
	else if (s->n - 1 < v->min || s->n - 1 > v->max)
		text_printf(problem, "usage: %s %s", v->name, v->usage);
	return problem->failed ? -ENOMEM : problem->len ? -EINVAL : 0;
}

static int step_read(struct scenario *s, unsigned number, const char *line, struct text *why)
{
	const char *problem = "no memory";
	struct step *step = step_add(s, number);
	int r = step ? line_split(step, line, &problem) : -ENOMEM;
	struct text said = {0};

	if (!r && step->n)
		r = step_judge(step, &said);
	else if (!r)
		s->n--; /* nothing but a comment */
	if (r == -EINVAL)
		text_printf(why, "%s:%u: %s", s->path, number,
			said.len ? text_string(&said) : problem);
	text_free(&said);
	return r;
}

/* Steps stand in lines; one that ends in a backslash goes on in the next. */
static int lines_read(struct scenario *s, FILE *file, struct text *why)
{
	struct text whole = {0};
	char *line = NULL;
	size_t size = 0;
	ssize_t len;
	unsigned number = 0, first = 1;
	int r = 0;

	while (!r && (len = getline(&line, &size, file)) >= 0) {
		bool more;

		number++;
		while (len && isspace((unsigned char)line[len - 1]))
			line[--len] = '\0';
		more = len && line[len - 1] == '\\';
		text_addn(&whole, line, (size_t)len - more);
		if (whole.failed)
			r = -ENOMEM;
		else if (whole.len > LINE_MAX_BYTES)
			r = -EMSGSIZE;
		if (more || r)
			continue;
		r = step_read(s, first, text_string(&whole), why);
		text_reset(&whole);
		first = number + 1;
	}
	if (!r && ferror(file))
		r = -EIO;
	if (!r && whole.len) {
		text_printf(why, "%s:%u: the last line ends in a backslash", s->path, number);
		r = -EINVAL;
	}
	text_free(&whole);
	free(line);
	return r;
}

int scenario_load(const char *path, struct scenario **out, struct text *why)
{
	struct scenario *s = calloc(1, sizeof(*s));
	FILE *file = NULL;
	int r = -ENOMEM;

	if (!s)
		return r;
	s->path = strdup(path);
	if (!s->path)
		goto out;
	file = fopen(path, "re");
	r = file ? lines_read(s, file, why) : -errno;
	if (r && r != -EINVAL)
		text_printf(why, "%s: %s", path, strerror(-r));
out:
	if (file)
		fclose(file);
	if (r)
		scenario_free(s);
	else
		*out = s;
	return r;
}

void scenario_free(struct scenario *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++) {
		for (size_t j = 0; j < s->steps[i].n; j++) {
			free(s->steps[i].words[j].text);
			json_object_put(s->steps[i].words[j].json);
		}
		free(s->steps[i].words);
	}
	free(s->steps);
	free(s->path);
	free(s);
}
