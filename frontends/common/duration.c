/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frontends/common/duration.h"

#define SECOND	INT64_C(1000)
#define MINUTE	(60 * SECOND)
#define HOUR	(60 * MINUTE)
#define DAY	(24 * HOUR)
#define LONGEST (36525 * DAY)

static const struct {
	const char *name;
	int64_t ms;
} units[] = {{"ms", 1}, {"s", SECOND}, {"m", MINUTE}, {"h", HOUR}, {"d", DAY}};

int duration_parse(const char *s, int64_t *ms)
{
	int64_t sum = 0, last = INT64_MAX;

	if (!isdigit((unsigned char)*s))
		return -EINVAL;
	while (*s) {
		char *end;

		if (!isdigit((unsigned char)*s))
			return -EINVAL;
		errno = 0;
		intmax_t n = strtoimax(s, &end, 10);
		if (errno == ERANGE)
			return -ERANGE;

		size_t len = strcspn(end, "0123456789");
		int64_t unit = 0;
		for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
			if (len == strlen(units[i].name) && !memcmp(end, units[i].name, len))
				unit = units[i].ms;
		if (!len && last == INT64_MAX)
			unit = SECOND; /* a bare number */
		/* from the greater to the smaller, each once */
		if (!unit || unit >= last)
			return -EINVAL;
		if (n > LONGEST / unit || sum + n * unit > LONGEST)
			return -ERANGE;
		sum += n * unit;
		last = unit;
		s = end + len;
	}
	*ms = sum;
	return 0;
}

const char *duration_format(char out[DURATION_SIZE], int64_t ms)
{
	if (ms < 0)
		ms = 0;
	if (ms < SECOND)
		snprintf(out, DURATION_SIZE, "%" PRId64 "ms", ms);
	else if (ms < MINUTE)
		snprintf(out, DURATION_SIZE, "%" PRId64 "s", ms / SECOND);
	else if (ms < HOUR)
		snprintf(out, DURATION_SIZE, "%" PRId64 "m%02" PRId64 "s", ms / MINUTE,
			ms % MINUTE / SECOND);
	else if (ms < DAY)
		snprintf(out, DURATION_SIZE, "%" PRId64 "h%02" PRId64 "m", ms / HOUR,
			ms % HOUR / MINUTE);
	else
		snprintf(out, DURATION_SIZE, "%" PRId64 "d%02" PRId64 "h", ms / DAY,
			ms % DAY / HOUR);
	return out;
}

const char *time_relative(char out[DURATION_SIZE], int64_t now, int64_t then)
{
	char d[DURATION_SIZE];
	int64_t away;

	if (__builtin_sub_overflow(then, now, &away) || away == INT64_MIN)
		away = then > now ? INT64_MAX : -INT64_MAX;
	if (away > -SECOND && away < SECOND)
		snprintf(out, DURATION_SIZE, "now");
	else if (away < 0)
		snprintf(out, DURATION_SIZE, "%.18s ago", duration_format(d, -away));
	else
		snprintf(out, DURATION_SIZE, "in %.18s", duration_format(d, away));
	return out;
}

const char *time_format(char out[TIME_SIZE], int64_t ms)
{
	time_t seconds = (time_t)(ms / SECOND);
	struct tm tm;

	if (!ms || !localtime_r(&seconds, &tm) ||
		!strftime(out, TIME_SIZE, "%Y-%m-%d %H:%M:%S %z", &tm))
		snprintf(out, TIME_SIZE, "-");
	return out;
}

const char *time_short(char out[TIME_SIZE], int64_t now, int64_t ms)
{
	time_t seconds = (time_t)(ms / SECOND), present = (time_t)(now / SECOND);
	struct tm tm, today;
	bool same;

	if (!ms || !localtime_r(&seconds, &tm) || !localtime_r(&present, &today))
		return time_format(out, 0);
	same = tm.tm_year == today.tm_year && tm.tm_yday == today.tm_yday;
	if (!strftime(out, TIME_SIZE, same ? "%H:%M:%S" : "%Y-%m-%d %H:%M", &tm))
		snprintf(out, TIME_SIZE, "-");
	return out;
}

int time_parse(const char *s, int64_t now, int64_t *ms)
{
	static const char *const formats[] = {
		"%Y-%m-%d",
		"%Y-%m-%d %H:%M",
		"%Y-%m-%dT%H:%M",
		"%Y-%m-%d %H:%M:%S",
		"%Y-%m-%dT%H:%M:%S",
	};
	int64_t ago;
	int r = duration_parse(s, &ago);

	if (!r || r == -ERANGE) {
		if (!r)
			*ms = now - ago;
		return r;
	}
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct tm tm = {.tm_isdst = -1};
		const char *end = strptime(s, formats[i], &tm);
		bool utc = end && *end == 'Z';

		if (!end || end[utc])
			continue;
		time_t t = utc ? timegm(&tm) : mktime(&tm);
		if (t == (time_t)-1)
			return -ERANGE;
		*ms = (int64_t)t * SECOND;
		return 0;
	}
	return -EINVAL;
}

int64_t time_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * SECOND + ts.tv_nsec / 1000000;
}
