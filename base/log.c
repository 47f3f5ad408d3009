/* SPDX-License-Identifier: MIT */
/* log.c -- the only place that writes log lines. */
#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

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
    struct timespec now;
    struct tm utc;
    size_t len;
    int n;

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    len = strftime(line, size, "%Y-%m-%dT%H:%M:%S", &utc);
    n = snprintf(line + len, size - len, ".%03ldZ %-5s ", now.tv_nsec / 1000000,
                 LEVELS[level]);
    return len + (size_t)n;
}

void log_line(enum log_level level, const char *fmt, ...)
{
    char line[LINE_MAX_BYTES];
    size_t len, start;
    va_list args;
    int n;

    if ((int)level < atomic_load(&lowest))
        return;
    start = len = stamp(line, sizeof line, level);
    va_start(args, fmt);
    n = vsnprintf(line + len, sizeof line - len - 1, fmt, args);
    va_end(args);
    if (n > 0)
        len += (size_t)n < sizeof line - len - 1 ? (size_t)n : sizeof line - len - 2;
    for (size_t i = start; i < len; i++) {
        if (line[i] == '\n' || line[i] == '\t' || line[i] == '\r')
            line[i] = ' '; /* a library's message of several lines */
        else if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
            line[i] = '?';
    }
    line[len++] = '\n';
    if (write(STDERR_FILENO, line, len) < 0)
        return; /* nowhere left to say so */
}
