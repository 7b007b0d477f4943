/* SPDX-License-Identifier: MIT */
/* Durations and times, as people write and read them. Milliseconds throughout. */
#ifndef FCOMMON_DURATION_H
#define FCOMMON_DURATION_H

#include <stdint.h>

#define DURATION_SIZE 24
#define TIME_SIZE     40

/*
 * "90" and "90s" (seconds), "500ms", "5m", "1h", "2d", "1h30m". -EINVAL for
 * anything else, negative ones included; -ERANGE for more than a hundred years.
 */
int duration_parse(const char *s, int64_t *ms);

/* The two greatest units: "850ms", "12s", "3m20s", "2h05m", "4d03h". Negative ones count as 0.
 */
const char *duration_format(char out[DURATION_SIZE], int64_t ms);

/* "12s ago", "in 3m20s", "now". */
const char *time_relative(char out[DURATION_SIZE], int64_t now, int64_t then);

/* Local time with its offset, "2026-01-31 12:00:59 +0100"; "-" for 0. */
const char *time_format(char out[TIME_SIZE], int64_t ms);

/* Local time for a narrow column: "12:00:59" on the day of `now`, else "2026-01-31 12:00"; "-" for
 * 0. */
const char *time_short(char out[TIME_SIZE], int64_t now, int64_t ms);

/*
 * "2026-01-31", "2026-01-31 12:00", "2026-01-31T12:00:59", all in local time
 * or, with a trailing Z, in UTC; or a duration, meaning so long before now.
 */
int time_parse(const char *s, int64_t now, int64_t *ms);

int64_t time_now(void);

#endif
