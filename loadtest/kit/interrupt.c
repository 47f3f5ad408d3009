/* SPDX-License-Identifier: MIT */
/* interrupt.c -- the flag behind Ctrl-C, and the descriptor that ends a sleep. */
#include "loadtest/kit/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/text/exit_codes.h"

/* The handler counts, and every thread may ask. */
static _Atomic int signal_count;
/* A signal may be delivered to any thread, so it does not end the sleep of another thread.  The
 * handler therefore writes to this descriptor, which every sleep watches. */
static int wakes = -1;
/* A process that is forked off has the same descriptor; only this one uses it. */
static pid_t waker;

/* A live block begins at the cursor. */
static volatile sig_atomic_t erases;

void interrupt_erases(bool does)
{
    erases = does;
}

static void count_signal(int number)
{
    static const char erase[] = "\r\033[J";
    static const char text[] = "\nstopping; once more to stop at once\n";
    static const uint64_t one = 1;

    /* A terminal that is closed sends SIGHUP more than once: from the shell to its jobs, and from
     * the kernel to the foreground group.  The second one does not ask the program to end at
     * once. */
    if (number == SIGHUP && signal_count > 0)
        return;
    signal_count++;
    if (erases && write(STDERR_FILENO, erase, sizeof erase - 1) < 0)
        erases = 0;
    if (signal_count > 1)
        _exit(EXIT_INTERRUPTED);
    /* A process that was forked off gets the same signal, and leaves it to this one to say so. */
    if (getpid() == waker && (write(wakes, &one, sizeof one) < 0 ||
                              write(STDERR_FILENO, text, sizeof text - 1) < 0))
        return; /* the message is lost, which does no harm */
}

/* Keeps errno, which the interrupted thread may be about to read. */
static void on_signal(int number)
{
    int reason = errno;

    count_signal(number);
    errno = reason;
}

void interrupt_catch(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal};

    wakes = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    waker = getpid();
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* The number of threads that undo something, which an interrupt must not cut short. */
static _Atomic int deferrals;

void interrupt_defer(bool defer)
{
    deferrals += defer ? 1 : -1;
}

bool interrupted(void)
{
    return signal_count > 0 && deferrals == 0;
}

bool interrupt_sleep_ms(int64_t ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000};
    struct pollfd p = {.fd = wakes, .events = POLLIN};

    /* After a signal that is deferred there is nothing to be woken by. */
    if (getpid() != waker || (deferrals > 0 && signal_count > 0))
        nanosleep(&left, NULL);
    else if (!interrupted())
        (void)ppoll(&p, 1, &left, NULL);
    return !interrupted();
}
