/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "broker/config.h"
#include "broker/config_value.h"
#include "libapproval/limits.h"

#define DURATION_MOST (3650ull * 86400 * 1000000) /* ten years */
#define SIZE_MOST     (1ull << 40)

/* Digits at the begin of text; what follows them is in *rest. */
static int digits_parse(const char *text, uint64_t most, uint64_t *out, const char **rest)
{
	uint64_t v = 0;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	for (; *text >= '0' && *text <= '9'; text++) {
		v = v * 10 + (uint64_t)(*text - '0');
		if (v > most)
			return -EINVAL;
	}
	*out = v;
	*rest = text;
	return 0;
}

int config_bool_parse(const char *text, bool *out)
{
	static const char *const yes[] = {"yes", "true", "on", "1"};
	static const char *const no[] = {"no", "false", "off", "0"};

	for (size_t i = 0; i < 4; i++) {
		*out = strcmp(text, yes[i]) == 0;
		if (*out || strcmp(text, no[i]) == 0)
			return 0;
	}
	return -EINVAL;
}

int config_number_parse(const char *text, uint32_t least, uint32_t most, uint32_t *out)
{
	const char *rest;
	uint64_t v;

	if (digits_parse(text, most, &v, &rest) || *rest || v < least)
		return -EINVAL;
	*out = (uint32_t)v;
	return 0;
}

int config_size_parse(const char *text, uint64_t *out)
{
	static const char units[] = "KMG";
	const char *rest, *unit;
	unsigned shift = 0;
	uint64_t v;

	if (digits_parse(text, SIZE_MOST, &v, &rest))
		return -EINVAL;
	if (*rest) {
		unit = strchr(units, *rest);
		if (!unit || rest[1])
			return -EINVAL;
		shift = 10 * (unsigned)(unit - units + 1);
	}
	if (v == 0 || v > SIZE_MOST >> shift)
		return -EINVAL;
	*out = v << shift;
	return 0;
}

int config_duration_parse(const char *text, int64_t *us)
{
	static const struct {
		const char *name;
		uint64_t us;
	} units[] = {
		{"ms", 1000},
		{"s", 1000000},
		{"m", 60ull * 1000000},
		{"h", 3600ull * 1000000},
		{"d", 86400ull * 1000000},
	};
	const char *rest;
	uint64_t v;

	if (digits_parse(text, DURATION_MOST, &v, &rest))
		return -EINVAL;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(rest, units[i].name) != 0)
			continue;
		if (v == 0 || v > DURATION_MOST / units[i].us)
			return -EINVAL;
		*us = (int64_t)(v * units[i].us);
		return 0;
	}
	return -EINVAL;
}

int config_duration_or_never(const char *text, int64_t *us)
{
	if (strcmp(text, "never") != 0)
		return config_duration_parse(text, us);
	*us = 0;
	return 0;
}

#define MODE_TEXT(prefix, name, text) text,

int config_mode_parse(const char *text, enum mode *out)
{
	static const char *const names[] = {MODE_LIST(MODE_TEXT, )};

	for (unsigned i = 0; i < MODE_YOLO; i++)
		if (strcmp(text, names[i]) == 0) {
			*out = (enum mode)i;
			return 0;
		}
	return -EINVAL;
}

void config_names_free(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

/* The next name in *text, which is moved behind it and its comma; empty: a mistake. */
static struct bytes name_next(const char **text)
{
	const char *start = *text + strspn(*text, " \t");
	size_t len = strcspn(start, ",");

	*text = start + len + (start[len] == ',');
	while (len > 0 && (start[len - 1] == ' ' || start[len - 1] == '\t'))
		len--;
	return (struct bytes){start, len};
}

int config_names_parse(const char *text, size_t most, char ***out, size_t *n)
{
	char **names = calloc(most, sizeof(*names));
	size_t count = 0;
	int rc = names ? 0 : -ENOMEM;

	while (!rc && *text) {
		struct bytes name = name_next(&text);

		if (name.len == 0 || name.len > LIMIT_NAME || count == most)
			rc = -EINVAL;
		for (size_t i = 0; i < count && !rc; i++)
			if (bytes_is(name, names[i]))
				rc = -EINVAL;
		if (!rc) {
			names[count] = strndup(name.data, name.len);
			rc = names[count] ? 0 : -ENOMEM;
			count += !rc;
		}
	}
	if (rc) {
		config_names_free(names, count);
		return rc;
	}
	*out = names;
	*n = count;
	return 0;
}
