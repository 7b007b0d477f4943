/* SPDX-License-Identifier: MIT */
/* Allocations that fail where they are told to, in programs that link with FAIL_ALLOC_WRAP. */
#ifndef TEST_FAIL_ALLOC_H
#define TEST_FAIL_ALLOC_H

#include <stdbool.h>

/* From now on the n-th allocation fails, once (0: none). Returns how many there were before. */
unsigned long fail_alloc(unsigned long n);
/* Has it, since fail_alloc was called with another number than 0? */
bool fail_alloc_did(void);
/* +1 and -1: in between, allocations neither count nor fail. */
void fail_alloc_hold(int by);

#endif
