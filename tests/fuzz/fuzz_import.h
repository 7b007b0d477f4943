/* SPDX-License-Identifier: MIT */
/* What holds of every import, whatever was read. */
#ifndef FUZZ_IMPORT_H
#define FUZZ_IMPORT_H

#include <stdint.h>

#include "frontends/ctl/import.h"

void fuzz_import(enum import_source source, const uint8_t *data, size_t size);

#endif
