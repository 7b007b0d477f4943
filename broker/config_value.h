/* SPDX-License-Identifier: MIT */
/* Values in the configuration. Each parser returns 0, -EINVAL or -ENOMEM. */
#ifndef BROKER_CONFIG_VALUE_H
#define BROKER_CONFIG_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "broker/core/types.h"

int config_bool_parse(const char *text, bool *out);
int config_number_parse(const char *text, uint32_t least, uint32_t most, uint32_t *out);
/* Bytes, with K, M or G for powers of 1024; positive. */
int config_size_parse(const char *text, uint64_t *out);
/* Like config_duration_parse, or "never" for 0. */
int config_duration_or_never(const char *text, int64_t *us);
/* Not yolo, which wants the floor. */
int config_mode_parse(const char *text, enum mode *out);
/* Names with commas between; at most so many, each one once. */
int config_names_parse(const char *text, size_t most, char ***out, size_t *n);
void config_names_free(char **names, size_t n);

#endif
