/* SPDX-License-Identifier: MIT */
/* lost.c -- telling of holds that were lost: the count, the eventfd, the callback. */
#include "lock/lost.h"

#include <unistd.h>

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

void dlock_lost_close(dlock_system *sys)
{
    int fd = atomic_load(&sys->lost_fd_plus_1) - 1;

    if (fd >= 0)
        close(fd);
}
