/* SPDX-License-Identifier: MIT */
/* pause.c -- every process of the service stopped once, for a known time. */
#include "loadtest/open_loop/pause.h"

#include <signal.h>

static void signal_all(const struct pause *pause, int signal)
{
    for (int i = 0; i < pause->service_count; i++)
        child_signal(&pause->services[i].child, signal);
}

void pause_tick(struct pause *pause, int64_t since_begin_ns)
{
    if (pause->from_ns == pause->to_ns)
        return;
    if (!pause->has_begun && since_begin_ns >= pause->from_ns) {
        pause->has_begun = true;
        signal_all(pause, SIGSTOP);
    }
    if (since_begin_ns >= pause->to_ns)
        pause_end(pause);
}

void pause_end(struct pause *pause)
{
    if (pause->has_begun && !pause->has_ended) {
        pause->has_ended = true;
        signal_all(pause, SIGCONT);
    }
}
