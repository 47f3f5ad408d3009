/* SPDX-License-Identifier: MIT */
/* info.c -- looking at a lock from outside, and freeing it whoever holds it. */
#include "lock/info.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/metrics.h"
#include "lock/name.h"
#include "lock/sized.h"
#include "lock/status.h"
#include "lock/system.h"

dlock_info dlock_info_nothing(void)
{
    dlock_info info = {.waiter_count = -1};

    return info;
}

static bool read_left(const char *text, int64_t *out)
{
    char *end = NULL;

    if (strcmp(text, "never") == 0) {
        *out = INT64_MAX;
        return true;
    }
    *out = strtoll(text, &end, 10);
    return *end == '\0' && end != text;
}

bool dlock_info_read(const char *text, dlock_info *out)
{
    char left[24];
    int mode;
    int at = 0;

    *out = dlock_info_nothing();
    if (sscanf(text, "%d %23s %d %d %d %" SCNu64 "%n", &mode, left, &out->hold_count,
               &out->waiter_count, &out->reader_count, &out->fence, &at) != 6 ||
        mode < 0 || mode > 2 || text[at] != ' ' || !read_left(left, &out->left_ms))
        return false;
    if (mode == 0) {
        int waiter_count = out->waiter_count;

        *out = dlock_info_nothing();
        out->waiter_count = waiter_count;
        return true;
    }
    out->locked = true;
    out->shared = mode == 2;
    snprintf(out->owner, sizeof(out->owner), "%.*s", (int)DLOCK_OWNER_MAX,
             text + at + 1);
    return true;
}

dlock_status dlock_inspect_sized(dlock_system *sys, const char *name, dlock_info *out,
                                 size_t size)
{
    dlock_info info = dlock_info_nothing();
    uint64_t before = dlock_commands_sent;
    dlock_status st;

    dlock_error_clear();
    st = dlock_system_check(sys);
    if (st == DLOCK_OK)
        st = dlock_name_check(name);
    if (st == DLOCK_OK && out == NULL)
        st = dlock_fail(DLOCK_INVALID, "there is no info to fill in");
    if (st != DLOCK_OK)
        return st;
    dlock_hand_out(out, size, &info, sizeof(info));
    if (sys->variant->inspect == NULL)
        return dlock_fail(DLOCK_UNSUPPORTED, "%s cannot be looked at",
                          sys->variant->info.name);
    st = sys->variant->inspect(sys->state, name, &info);
    dlock_hand_out(out, size, &info, sizeof(info));
    dlock_metrics_add(&sys->metrics, DLOCK_METRIC_other_commands,
                      dlock_commands_sent - before);
    return st == DLOCK_UNKNOWN ? DLOCK_IO : st; /* nothing was to be changed */
}

dlock_status dlock_force_release(dlock_system *sys, const char *name)
{
    uint64_t before = dlock_commands_sent;
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
    dlock_metrics_add(&sys->metrics, DLOCK_METRIC_other_commands,
                      dlock_commands_sent - before);
    return st;
}
