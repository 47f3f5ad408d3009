/* SPDX-License-Identifier: MIT */
/* lost.c -- telling of holds that were lost: the count, the eventfd, the callback. */
#include "lock/lost.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lock/status.h"
#include "lock/watchdog.h"

void dlock_lost_tell(dlock_system *sys, const dlock_lease *leases, size_t count)
{
    int fd = atomic_load(&sys->lost_fd_plus_1) - 1;
    uint64_t number = count;

    if (count == 0)
        return;
    dlock_metrics_add(&sys->metrics, DLOCK_METRIC_lost, count);
    /* It cannot fail: the counter would have to reach 2^64. */
    if (fd >= 0 && write(fd, &number, sizeof(number)) < 0)
        return;
    for (size_t i = 0; i < count && sys->opts.on_lost != NULL; i++)
        sys->opts.on_lost(&leases[i], sys->opts.on_lost_arg);
}

/* With sys->starting held.  0 or less: dlock_error() tells why. */
static int open_fd(dlock_system *sys)
{
    unsigned caps = sys->variant->info.caps;
    int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

    if (fd < 0) {
        (void)dlock_fail(DLOCK_IO, "eventfd: %s", strerror(errno));
        return 0;
    }
    atomic_store(&sys->lost_fd_plus_1, fd + 1);
    if (atomic_load(&sys->watchdog) != NULL ||
        !(caps & (DLOCK_CAP_EXPIRES | DLOCK_CAP_SESSION)))
        return fd + 1; /* or nothing can be lost */
    atomic_store(&sys->watchdog, dlock_watchdog_start(sys));
    if (atomic_load(&sys->watchdog) != NULL)
        return fd + 1;
    atomic_store(&sys->lost_fd_plus_1, 0);
    close(fd);
    (void)dlock_fail(DLOCK_NOMEM, "the watchdog's thread cannot be started");
    return 0;
}

int dlock_lost_fd(dlock_system *sys)
{
    int fd_plus_1;

    dlock_error_clear();
    if (dlock_system_check(sys) != DLOCK_OK)
        return -1;
    pthread_mutex_lock(&sys->starting);
    fd_plus_1 = atomic_load(&sys->lost_fd_plus_1);
    if (fd_plus_1 == 0)
        fd_plus_1 = open_fd(sys);
    pthread_mutex_unlock(&sys->starting);
    return fd_plus_1 - 1;
}

void dlock_lost_close(dlock_system *sys)
{
    int fd = atomic_load(&sys->lost_fd_plus_1) - 1;

    if (fd >= 0)
        close(fd);
}
