/* SPDX-License-Identifier: MIT */
/* interrupt.c -- the flag behind Ctrl-C. */
#include "loadtest/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t signal_count;

static void on_signal(int number)
{
    static const char text[] = "\nstopping; once more to stop at once\n";

    (void)number;
    signal_count++;
    if (signal_count > 1)
        _exit(INTERRUPT_EXIT);
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        return; /* nobody reads us: nothing is lost */
}

void interrupt_catch(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal};

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static bool is_deferred;

void interrupt_defer(bool defer)
{
    is_deferred = defer;
}

bool interrupted(void)
{
    return signal_count > 0 && !is_deferred;
}

bool interrupt_sleep_ms(int64_t ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000};

    if (!interrupted())
        nanosleep(&left, NULL); /* a signal ends it early: that is the point */
    return !interrupted();
}
