/* SPDX-License-Identifier: MIT */
/* lost_fd.c -- the descriptor that becomes readable when a hold was lost, made by the
 * first dlock_lost_fd(). */
#include <errno.h>
#include <string.h>

#include "base/os/event.h"
#include "base/os/thread.h"
#include "lock/status.h"
#include "lock/system.h"
#include "lock/watchdog.h"

/* Make the descriptor.  Returns its number plus 1; 0: the call failed, and
 * dlock_error() has the reason.  The caller holds sys->starting. */
static int open_fd(dlock_system *sys)
{
    unsigned caps = sys->variant->info.caps;
    int fd = dlock_event_open();

    if (fd < 0) {
        (void)dlock_fail(DLOCK_IO, "no event can be made: %s", strerror(errno));
        return 0;
    }
    atomic_store(&sys->lost_fd_plus_1, fd + 1);
    if (atomic_load(&sys->watchdog) != NULL ||
        !(caps & (DLOCK_CAP_EXPIRES | DLOCK_CAP_SESSION)))
        return fd + 1; /* without a watchdog no loss is noticed */
    atomic_store(&sys->watchdog, dlock_watchdog_start(sys));
    if (atomic_load(&sys->watchdog) != NULL)
        return fd + 1;
    atomic_store(&sys->lost_fd_plus_1, 0);
    dlock_event_close(fd);
    (void)dlock_fail(DLOCK_NOMEM, "the watchdog's thread cannot be started");
    return 0;
}

int dlock_lost_fd(dlock_system *sys)
{
    DLOCK_PUT_OFF_CANCEL;
    int fd_plus_1;

    dlock_error_clear();
    if (dlock_system_check(sys) != DLOCK_OK)
        return -1;
    dlock_mutex_lock(&sys->starting);
    fd_plus_1 = atomic_load(&sys->lost_fd_plus_1);
    if (fd_plus_1 == 0)
        fd_plus_1 = open_fd(sys);
    dlock_mutex_unlock(&sys->starting);
    return fd_plus_1 - 1;
}
