/* SPDX-License-Identifier: MIT */
/* log.c -- the only place that writes log lines. */
#include "base/text/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/text/printable.h"

enum { LINE_MAX_BYTES = 1024 };

static atomic_int lowest = LOG_INFO;

static const char *const LEVELS[] = {"debug", "info", "warn", "error"};

void log_set_level(enum log_level level)
{
    atomic_store(&lowest, (int)level);
}

/* "2026-01-31T23:59:59.123Z level " */
static size_t stamp(char *line, size_t size, enum log_level level)
{
    int64_t now_ms = dlock_clock_wall_ms();
    time_t now_s = (time_t)(now_ms / 1000);
    struct tm utc;
    size_t len;
    int n;

    gmtime_r(&now_s, &utc);
    len = strftime(line, size, "%Y-%m-%dT%H:%M:%S", &utc);
    n = snprintf(line + len, size - len, ".%03ldZ %-5s ", (long)(now_ms % 1000),
                 LEVELS[level]);
    return len + (size_t)n;
}

void log_line(enum log_level level, const char *fmt, ...)
{
    /* `message` has a byte more than a line, so that a message that was cut here is cut
     * there. */
    char line[LINE_MAX_BYTES], message[LINE_MAX_BYTES + 1];
    va_list args;
    size_t len;

    if ((int)level < atomic_load(&lowest))
        return;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    len = stamp(line, sizeof line, level);
    len += printable_len(message, line + len, sizeof line - len - 1);
    line[len++] = '\n';
    if (write(STDERR_FILENO, line, len) < 0)
        return; /* nowhere left to say so */
}
