/* SPDX-License-Identifier: MIT */
/*
 * The host of a URL, as the URL Standard (WHATWG) parses it, and how sure that is: what
 * clients read differently from each other is doubtful.
 */
#ifndef CORE_RULES_URLHOST_H
#define CORE_RULES_URLHOST_H

#include <stdbool.h>
#include <stddef.h>

#include "libapproval/bytes.h"

#define URLHOST_MAX	 255u
#define URLHOST_READINGS 4u

/* Lower-case ASCII without a dot at its end; IPv4 and IPv6 (in brackets) in their normal form.
 */
struct urlhost {
	size_t len;
	bool address;
	char text[URLHOST_MAX + 1];
};

struct url_reading {
	/*
	 * http or https, an authority without a backslash, host in plain ASCII: every client
	 * goes to hosts[0], the only one. Where it is false no allow rule for a host applies.
	 */
	bool certain;
	/* There may be a host that is not among these: what tightens applies. */
	bool unknown;
	unsigned n;
	struct urlhost hosts[URLHOST_READINGS];
};

/* Any bytes; a URL without a scheme is read as if it had one. */
void url_read(struct bytes url, struct url_reading *out);

/*
 * A host as it stands in a URL after `//` or in a rule: 0 sure, 1 it took more than
 * lower case to make it plain, -1 no host, -2 none that can be told.
 */
int urlhost_parse(struct bytes text, struct urlhost *out);

/* Whether host is that domain or below it; an address is only itself. */
bool urlhost_within(const struct urlhost *host, const struct urlhost *domain);

#endif
