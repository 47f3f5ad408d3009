/* SPDX-License-Identifier: MIT */
/* lost.c -- reporting lost holds: the metrics, the descriptor, the callback. */
#include "lock/lost.h"

#include "base/os/event.h"

void dlock_lost_count(dlock_system *sys, enum dlock_loss loss)
{
    static const enum dlock_metric BY_LOSS[] = {
        [DLOCK_LOSS_EXPIRED] = DLOCK_METRIC_lost_expired,
        [DLOCK_LOSS_REFUSED] = DLOCK_METRIC_lost_refused,
        [DLOCK_LOSS_FAIL_OVER] = DLOCK_METRIC_lost_fail_over,
    };

    dlock_metrics_add(&sys->metrics, DLOCK_METRIC_lost, 1);
    dlock_metrics_add(&sys->metrics, BY_LOSS[loss], 1);
}

void dlock_lost_tell(dlock_system *sys, const dlock_lease *leases,
                     const enum dlock_loss *losses, size_t count)
{
    int fd = atomic_load(&sys->lost_fd_plus_1) - 1;

    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++)
        dlock_lost_count(sys, losses[i]);
    if (fd >= 0)
        dlock_event_raise(fd, count);
    for (size_t i = 0; i < count && sys->opts.on_lost != NULL; i++)
        sys->opts.on_lost(&leases[i], sys->opts.on_lost_arg);
}

void dlock_lost_close(dlock_system *sys)
{
    dlock_event_close(atomic_load(&sys->lost_fd_plus_1) - 1);
}
