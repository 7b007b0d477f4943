/* SPDX-License-Identifier: MIT */
/* The error codes of the protocol; the one list of them. */
#ifndef WIRE_CODE_H
#define WIRE_CODE_H

#include "libapproval/bytes.h"

#define WIRE_CODE_LIST(X)                                                                      \
	X(UNKNOWN_METHOD, "unknown_method")                                                    \
	X(INVALID, "invalid")                                                                  \
	X(UNSUPPORTED, "unsupported")                                                          \
	X(PROTOCOL, "protocol")                                                                \
	X(NO_SESSION, "no_session")                                                            \
	X(BAD_SUBJECT, "bad_subject")                                                          \
	X(FORBIDDEN, "forbidden")                                                              \
	X(NOT_FOUND, "not_found")                                                              \
	X(GONE, "gone")                                                                        \
	X(MISMATCH, "mismatch")                                                                \
	X(STATE, "state")                                                                      \
	X(LIMIT, "limit")                                                                      \
	X(TOO_LARGE, "too_large")                                                              \
	X(STORE, "store")                                                                      \
	X(SHUTDOWN, "shutdown")

/* All positive, so that a function can return 0, one of these, or a negative errno. */
enum wire_code {
	WIRE_OK = 0,
#define WIRE_CODE_ENTRY(name, text) WIRE_##name,
	WIRE_CODE_LIST(WIRE_CODE_ENTRY)
#undef WIRE_CODE_ENTRY
		WIRE_CODE_N
};

/* As it stands in `error.code`; "?" for a value out of range, never NULL. */
const char *wire_code_name(enum wire_code code);
/* -EINVAL for a name that is not in the list. */
int wire_code_parse(struct bytes name);

#endif
