/* SPDX-License-Identifier: MIT */
/* Rules in Starlark. */
#include "tests/fuzz/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_import(IMPORT_CODEX, data, size);
	return 0;
}
