/* SPDX-License-Identifier: MIT */
/* open.c -- opening and closing a system. */
#include <stdlib.h>
#include <string.h>

#include "base/os/fork.h"
#include "base/os/thread.h"
#include "lock/debts.h"
#include "lock/handover.h"
#include "lock/lost.h"
#include "lock/options.h"
#include "lock/process.h"
#include "lock/recording.h"
#include "lock/status.h"
#include "lock/watchdog.h"

/* Does the system need a watchdog: has it leases to renew, sessions to probe or losses
 * to report? */
static bool is_watched(const dlock_system *sys)
{
    if (sys->variant->probe != NULL)
        return true; /* a session may end any time, and then the lease is not valid */
    if (!(sys->variant->info.caps & DLOCK_CAP_EXPIRES))
        return false;
    return (sys->opts.watchdog && sys->variant->watched) || sys->opts.on_lost != NULL;
}

/* Make the lines of handover.h, if the option `handover` is above 0. */
static bool open_lines(dlock_system *sys)
{
    bool is_limited = !atomic_load(&sys->process->limits_are_lifted);

    if (sys->opts.handover == 0)
        return true;
    sys->handover = dlock_handover_open(sys->holds, (unsigned)sys->opts.handover,
                                        is_limited ? DLOCK_HANDOVER_MS : INT32_MAX);
    return sys->handover != NULL;
}

static dlock_status start(dlock_system *sys, const dlock_options *opts)
{
    const dlock_variant *variant = sys->variant;
    dlock_status st = DLOCK_OK;

    if (!dlock_options_copy(&sys->opts, opts))
        return dlock_fail(DLOCK_NOMEM, "no memory for the options");
    sys->opts.lease_ms = dlock_options_lease_ms(variant, opts->lease_ms);
    st = dlock_retry_parse(sys->opts.retry, &sys->retry);
    if (st != DLOCK_OK)
        return st;
    dlock_random_uuid(sys->uuid);
    sys->uuid[DLOCK_UUID_VERSION_AT] = DLOCK_UUID_OURS;
    sys->holds = dlock_holds_open(variant->info.caps & DLOCK_CAP_REENTRANT);
    if (sys->holds == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for the table of holds");
    if (!open_lines(sys))
        return dlock_fail(DLOCK_NOMEM, "no memory for the lines of waiters");
    if (variant->open != NULL)
        st = variant->open(&sys->opts, &sys->state);
    if (st == DLOCK_OK)
        st = dlock_recording_open(sys);
    if (st != DLOCK_OK || !is_watched(sys))
        return st;
    atomic_store(&sys->watchdog, dlock_watchdog_start(sys));
    if (atomic_load(&sys->watchdog) == NULL)
        return dlock_fail(DLOCK_NOMEM, "the watchdog's thread cannot be started");
    return DLOCK_OK;
}

dlock_status dlock_open(dlock_system **out, const dlock_options *given)
{
    DLOCK_PUT_OFF_CANCEL;
    const dlock_variant *variant;
    dlock_options opts;
    dlock_system *sys;
    dlock_status st;

    dlock_error_clear();
    if (out == NULL)
        return dlock_fail(DLOCK_INVALID, "there is no pointer for the system");
    *out = NULL;
    st = dlock_options_read(&opts, given);
    if (st != DLOCK_OK)
        return st;
    variant = dlock_options_check(&opts);
    if (variant == NULL)
        return DLOCK_INVALID;
    sys = aligned_alloc(_Alignof(dlock_system), sizeof(*sys));
    if (sys == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for the system");
    memset(sys, 0, sizeof(*sys));
    dlock_mutex_init(&sys->starting);
    dlock_fork_watch();
    sys->process = dlock_process_here();
    sys->variant = variant;
    sys->generation = dlock_fork_generation();
    st = start(sys, &opts);
    if (st != DLOCK_OK) {
        dlock_close(sys);
        return st;
    }
    *out = sys;
    return DLOCK_OK;
}

void dlock_close(dlock_system *sys)
{
    DLOCK_PUT_OFF_CANCEL;
    uint64_t owed_count;

    /* In a forked child the threads do not exist and the mutexes may stay locked, so
     * the parent's system is not touched. */
    if (sys == NULL || sys->generation != dlock_fork_generation())
        return;
    owed_count = dlock_debts_stop(sys, DLOCK_CLOSE_PAYS_MS);
    dlock_watchdog_stop(atomic_load(&sys->watchdog));
    dlock_lost_close(sys);
    if (sys->state != NULL)
        sys->variant->close(sys->state);
    dlock_debts_free(sys);
    dlock_handover_close(sys->handover);
    dlock_holds_close(sys->holds);
    dlock_recording_close(sys);
    dlock_options_free(&sys->opts);
    dlock_mutex_destroy(&sys->starting);
    free(sys);
    if (owed_count > 0)
        (void)dlock_fail(DLOCK_UNKNOWN, "%llu releases went unanswered; those locks are free "
                         "when their leases end", (unsigned long long)owed_count);
}

dlock_status dlock_check(dlock_system *sys)
{
    DLOCK_PUT_OFF_CANCEL;
    dlock_status st;

    dlock_error_clear();
    st = dlock_system_check(sys);
    if (st != DLOCK_OK || sys->variant->check == NULL)
        return st;
    return sys->variant->check(sys->state);
}
