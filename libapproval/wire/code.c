/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include "libapproval/wire/code.h"

static const char *const names[WIRE_CODE_N] = {[WIRE_OK] = "?",
#define WIRE_CODE_NAME(name, text) [WIRE_##name] = text,
	WIRE_CODE_LIST(WIRE_CODE_NAME)
#undef WIRE_CODE_NAME
};

const char *wire_code_name(enum wire_code code)
{
	return (unsigned int)code < WIRE_CODE_N ? names[code] : "?";
}

int wire_code_parse(struct bytes name)
{
	for (int i = WIRE_OK + 1; i < WIRE_CODE_N; i++) {
		if (bytes_is(name, names[i]))
			return i;
	}
	return -EINVAL;
}
