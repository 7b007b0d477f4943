/* SPDX-License-Identifier: MIT */
/* The paths of a call, from the resolver to the engine. */
#include "broker/io/gateway_paths.h"

#include <errno.h>
#include <string.h>

void paths_release(struct request_path *paths, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		str_unref(paths[i].given);
		str_unref(paths[i].resolved);
	}
}

int paths_take(struct facts_draft *d, const struct resolver_result *result,
	struct request_path *paths, unsigned *n)
{
	*n = 0;
	if (!result)
		return 0;
	if (result->timed_out)
		d->flags |= FACT_UNSEEN;
	while (*n < result->n && *n < d->n_paths) {
		const struct resolver_path *const from = &result->paths[*n];
		const struct bytes given = d->paths[*n];
		struct request_path *const to = &paths[(*n)++];

		to->inside = from->inside;
		to->given = str_new(given.data, given.len);
		/* most are what they are called */
		if (from->resolved && bytes_is(given, from->resolved))
			to->resolved = to->given ? str_ref(to->given) : NULL;
		else
			to->resolved = from->resolved
					       ? str_new(from->resolved, strlen(from->resolved))
					       : NULL;
		if (!to->given || (from->resolved && !to->resolved))
			return -ENOMEM;
	}
	return 0;
}
