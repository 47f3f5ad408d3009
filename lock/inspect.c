/* SPDX-License-Identifier: MIT */
/* inspect.c -- reading the state of a lock from outside, freeing it by force, and the counters. */
#include <assert.h>
#include <string.h>

#include "base/os/thread.h"
#include "base/os/utf8.h"
#include "lock/era.h"
#include "lock/handover.h"
#include "lock/info.h"
#include "lock/metrics.h"
#include "lock/name.h"
#include "lock/sized.h"
#include "lock/status.h"
#include "lock/system.h"

/* Owners come from the store, where any client may have written them. */
static void inspect_show_owner(char owner[DLOCK_OWNER_MAX + 1])
{
    char text[DLOCK_OWNER_MAX + 1];

    memcpy(text, owner, sizeof(text));
    utf8_show(text, owner, sizeof(text));
}

dlock_status dlock_inspect_sized(dlock_system *sys, const char *name, dlock_info *out,
                                 size_t size)
{
    DLOCK_PUT_OFF_CANCEL;
    dlock_info info = dlock_info_nothing();
    uint64_t before = dlock_commands_count();
    dlock_status st;

    dlock_error_clear();
    st = dlock_system_check(sys);
    if (st == DLOCK_OK)
        st = dlock_name_check(name);
    if (st == DLOCK_OK && out == NULL)
        st = dlock_fail(DLOCK_INVALID, "there is no info to fill in");
    if (st != DLOCK_OK)
        return st;
    assert(out != NULL); /* dlock_fail() never answers OK */
    dlock_hand_out(out, size, &info, sizeof(info));
    if (sys->variant->inspect == NULL)
        return dlock_fail(DLOCK_UNSUPPORTED, "%s cannot tell the state of a lock",
                          sys->variant->info.name);
    st = sys->variant->inspect(sys->state, name, &info);
    inspect_show_owner(info.owner);
    inspect_show_owner(info.next_owner);
    dlock_hand_out(out, size, &info, sizeof(info));
    dlock_metrics_add(&sys->metrics, DLOCK_METRIC_other_commands,
                      dlock_commands_count() - before);
    return st == DLOCK_UNKNOWN ? DLOCK_IO : st; /* nothing was to be changed */
}

dlock_status dlock_force_release(dlock_system *sys, const char *name)
{
    DLOCK_PUT_OFF_CANCEL;
    uint64_t before = dlock_commands_count();
    dlock_status st;

    dlock_error_clear();
    st = dlock_system_check(sys);
    if (st == DLOCK_OK)
        st = dlock_name_check(name);
    if (st != DLOCK_OK)
        return st;
    if (sys->variant->force == NULL)
        return dlock_fail(DLOCK_UNSUPPORTED, "the locks of %s cannot be freed by force",
                          sys->variant->info.name);
    st = sys->variant->force(sys->state, name);
    if (sys->handover != NULL)
        dlock_handover_stop(sys->handover, name);
    dlock_metrics_add(&sys->metrics, DLOCK_METRIC_other_commands,
                      dlock_commands_count() - before);
    return st;
}

void dlock_metrics_read_sized(dlock_system *sys, dlock_metrics *out, size_t size)
{
    DLOCK_PUT_OFF_CANCEL;
    dlock_metrics sums = {0};

    if (out == NULL)
        return;
    if (sys != NULL)
        dlock_metrics_sum(&sys->metrics, &sums);
    if (sys != NULL && dlock_era(sys) > 1)
        sums.fail_overs = dlock_era(sys) - 1; /* the store counts them, not the cells */
    dlock_hand_out(out, size, &sums, sizeof(sums));
}
