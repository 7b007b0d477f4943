/* SPDX-License-Identifier: MIT */
/* libbsd's red-black trees, without the library: its macros want an attribute from it. */
#ifndef CORE_TREE_H
#define CORE_TREE_H

#include <bsd/sys/tree.h>

#ifndef __unused
#define __unused __attribute__((__unused__))
#endif

#endif
