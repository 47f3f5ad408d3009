/* SPDX-License-Identifier: MIT */
/* duration.c -- reading and writing durations. */
#include "base/text/duration.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/os/clock.h"

static const struct unit {
    const char *suffix;
    int64_t ms;
} UNITS[] = {{"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};

enum { UNIT_COUNT = sizeof UNITS / sizeof UNITS[0] };

bool duration_parse(const char *text, int64_t *ms)
{
    int64_t number = 0;
    const char *p = text;

    if (strcmp(text, "0") == 0) {
        *ms = 0;
        return true;
    }
    for (; *p >= '0' && *p <= '9'; p++) {
        if (number > (INT64_MAX - 9) / 10)
            return false;
        number = number * 10 + (*p - '0');
    }
    if (p == text)
        return false;
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        if (strcmp(p, UNITS[i].suffix) == 0) {
            if (number > INT64_MAX / UNITS[i].ms)
                return false;
            *ms = number * UNITS[i].ms;
            return true;
        }
    }
    return false;
}

char *duration_format(int64_t ms, char *buffer, size_t size)
{
    const struct unit *unit = &UNITS[UNIT_COUNT - 1];

    for (size_t i = 0; ms != 0 && i < UNIT_COUNT; i++) {
        if (ms % UNITS[i].ms == 0) {
            unit = &UNITS[i];
            break;
        }
    }
    snprintf(buffer, size, "%" PRId64 "%s", ms / unit->ms, unit->suffix);
    return buffer;
}

int64_t monotonic_ns(void)
{
    return dlock_clock_ns();
}
