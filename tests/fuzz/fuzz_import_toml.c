/* SPDX-License-Identifier: MIT */
/* Policies and settings in TOML. */
#include "tests/fuzz/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_import(IMPORT_GEMINI, data, size);
	fuzz_import(IMPORT_CODEX, data, size);
	return 0;
}
