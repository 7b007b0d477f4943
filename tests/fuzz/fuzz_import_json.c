/* SPDX-License-Identifier: MIT */
/* Settings in JSON, of the three agents that have them. */
#include "tests/fuzz/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_import(IMPORT_CLAUDE, data, size);
	fuzz_import(IMPORT_GEMINI, data, size);
	fuzz_import(IMPORT_OPENCODE, data, size);
	return 0;
}
