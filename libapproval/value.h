/* SPDX-License-Identifier: MIT */
/* Decoded MessagePack values, for the library's own use beside approval.h. */
#ifndef LIBAPPROVAL_VALUE_H
#define LIBAPPROVAL_VALUE_H

#include "libapproval/approval.h"
#include "libapproval/bytes.h"

/* Decodes one value that stands in bytes which the scan has proved. 0 or a negative errno. */
int value_decode(struct bytes raw, struct approval_value **out);

/* The value's own bytes; data NULL for NULL. */
struct bytes value_raw(const struct approval_value *v);

#endif
