/* SPDX-License-Identifier: MIT */
#include "broker/core/shell/option.h"

#include <string.h>

/* The name of a table with that of a command and a subcommand. */
static int compare(struct bytes command, struct bytes subcommand, const char *name)
{
	const size_t len = strlen(name);
	const size_t n = command.len < len ? command.len : len;
	int rc = n ? memcmp(command.data, name, n) : 0;

	if (rc || command.len > len)
		return rc ? rc : 1;
	name += command.len;
	if (subcommand.len == 0)
		return *name ? -1 : 0;
	if (*name != ' ')
		return *name ? ' ' - *name : 1;
	name++;
	{
		/* the word may hold a NUL */
		const size_t rest = strlen(name);

		rc = memcmp(subcommand.data, name, subcommand.len < rest ? subcommand.len : rest);
		return rc ? rc : (subcommand.len > rest) - (subcommand.len < rest);
	}
}

const struct option_table *option_find(struct bytes command, struct bytes subcommand)
{
	size_t low = 0, high = option_tables_n;

	while (low < high) {
		const size_t middle = (low + high) / 2;
		const int rc = compare(command, subcommand, option_tables[middle].name);

		if (rc == 0)
			return &option_tables[middle];
		if (rc < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* One entry of longs; its end. */
static const char *entry_parse(const char *p, struct option_long *out)
{
	const char *const start = p;

	*out = (struct option_long){0};
	while (*p != ' ' && *p != '=' && *p != '?' && *p != ':' && *p != '!')
		p++;
	out->name = (struct bytes){start, (size_t)(p - start)};
	if (*p == '=' || *p == '?') {
		out->value = *p == '=';
		p++;
	}
	if (*p == '=') {
		out->named = true;
		p++;
	}
	if (*p == ':') {
		out->letter = p + 1;
		p += 2;
	}
	if (*p == '!') {
		out->text = true;
		p++;
	}
	return p + 1;
}

bool option_long(const struct option_table *table, struct bytes name, struct option_long *out)
{
	struct option_long entry;
	unsigned begun = 0;

	for (const char *p = table->longs; *p;) {
		p = entry_parse(p, &entry);
		if (entry.name.len < name.len || memcmp(entry.name.data, name.data, name.len))
			continue;
		*out = entry;
		out->whole = entry.name.len == name.len;
		if (out->whole)
			return true;
		begun++;
	}
	return begun == 1 && name.len > 1 && !(table->flags & OPTION_SINGLE);
}
