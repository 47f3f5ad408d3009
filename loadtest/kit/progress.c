/* SPDX-License-Identifier: MIT */
/* progress.c -- the progress of a long command. */
#include "loadtest/kit/progress.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "loadtest/kit/style.h"
#include "loadtest/kit/why.h"

enum { SAY_EVERY_MS = 15000, LOAD_PER_PROCESSOR = 4, MINUTES_FROM_MS = 90000 };

void progress_begin(struct progress *p, size_t count)
{
    *p = (struct progress){.count = count, .begin_ns = monotonic_ns()};
    p->said_ns = p->begin_ns;
}

double progress_load(void)
{
    double load = 0;

    return getloadavg(&load, 1) == 1 ? load : 0;
}

bool progress_is_busy(double load)
{
    return load > (double)LOAD_PER_PROCESSOR * (double)sysconf(_SC_NPROCESSORS_ONLN);
}

int64_t progress_left_ms(size_t done, size_t count, int64_t elapsed_ms)
{
    if (done == 0 || done > count)
        return -1;
    return (int64_t)((double)elapsed_ms / (double)done * (double)(count - done));
}

static void print_left(int64_t left_ms)
{
    if (left_ms < 0)
        return;
    if (left_ms >= MINUTES_FROM_MS)
        eprintf(", about %" PRId64 " min left", (left_ms + 59999) / 60000);
    else
        eprintf(", about %" PRId64 " s left", (left_ms + 999) / 1000);
}

void progress_show(struct progress *p, const char *fmt, ...)
{
    int64_t now_ns = monotonic_ns();
    bool live = report_is_live(stderr);
    double load = progress_load();
    va_list args;

    if (!live && now_ns - p->said_ns < SAY_EVERY_MS * INT64_C(1000000))
        return;
    p->said_ns = now_ns;
    progress_end();
    eprintf("[%zu/%zu] ", p->done, p->count);
    va_start(args, fmt);
    veprintf(fmt, args);
    va_end(args);
    print_left(progress_left_ms(p->done, p->count, (now_ns - p->begin_ns) / 1000000));
    if (progress_is_busy(load))
        eprintf("; slow: the load is %.0f on %ld processors", load, sysconf(_SC_NPROCESSORS_ONLN));
    if (!live)
        fputc('\n', stderr);
    fflush(stderr);
}

void progress_say(const char *fmt, ...)
{
    va_list args;

    progress_end();
    va_start(args, fmt);
    veprintf(fmt, args);
    va_end(args);
    fputc('\n', stderr);
    fflush(stderr);
}

void progress_end(void)
{
    if (report_is_live(stderr))
        fputs("\r\033[K", stderr);
}
