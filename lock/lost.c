/* SPDX-License-Identifier: MIT */
/* lost.c -- telling of holds that were lost: the count, the event, the callback. */
#include "lock/lost.h"

#include "base/os/event.h"

void dlock_lost_tell(dlock_system *sys, const dlock_lease *leases, size_t count)
{
    int fd = atomic_load(&sys->lost_fd_plus_1) - 1;

    if (count == 0)
        return;
    dlock_metrics_add(&sys->metrics, DLOCK_METRIC_lost, count);
    if (fd >= 0)
        dlock_event_raise(fd, count);
    for (size_t i = 0; i < count && sys->opts.on_lost != NULL; i++)
        sys->opts.on_lost(&leases[i], sys->opts.on_lost_arg);
}

void dlock_lost_close(dlock_system *sys)
{
    dlock_event_close(atomic_load(&sys->lost_fd_plus_1) - 1);
}
