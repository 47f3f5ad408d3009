/* SPDX-License-Identifier: MIT */
/* info.c -- looking at a lock from outside, and freeing it whoever holds it. */
#include "lock/info.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lock/metrics.h"
#include "lock/name.h"
#include "lock/number.h"
#include "lock/sized.h"
#include "lock/status.h"
#include "lock/system.h"

dlock_info dlock_info_nothing(void)
{
    dlock_info info = {.waiter_count = -1};

    return info;
}

enum field { MODE, LEFT, LEVELS, WAITERS, READERS, FENCE, FIELD_COUNT };

/* Read the numbers, each with a space behind it.  Answers where the owner begins; NULL:
 * they are not there, or out of their ranges. */
static const char *read_fields(const char *text, int64_t fields[FIELD_COUNT])
{
    static const struct {
        int64_t least, most;
    } RANGES[FIELD_COUNT] = {
        [MODE] = {0, 2},         [LEFT] = {0, INT64_MAX},     [LEVELS] = {0, INT_MAX},
        [WAITERS] = {-1, INT_MAX}, [READERS] = {0, INT_MAX}, [FENCE] = {0, INT64_MAX},
    };
    static const char NEVER[] = "never ";

    for (int i = 0; i < FIELD_COUNT; i++) {
        size_t len = strcspn(text, " ");

        if (i == LEFT && strncmp(text, NEVER, strlen(NEVER)) == 0)
            fields[i] = INT64_MAX;
        else if (text[len] != ' ' || !dlock_number_read(text, len, RANGES[i].least,
                                                        RANGES[i].most, &fields[i]))
            return NULL;
        text += len + 1;
    }
    return text;
}

bool dlock_info_read(const char *text, dlock_info *out)
{
    int64_t fields[FIELD_COUNT] = {0};
    const char *owner = read_fields(text, fields);

    *out = dlock_info_nothing();
    if (owner == NULL)
        return false;
    out->waiter_count = (int)fields[WAITERS];
    if (fields[MODE] == 0)
        return true;
    out->locked = true;
    out->shared = fields[MODE] == 2;
    out->left_ms = fields[LEFT];
    out->hold_count = (int)fields[LEVELS];
    out->reader_count = (int)fields[READERS];
    out->fence = (uint64_t)fields[FENCE];
    snprintf(out->owner, sizeof(out->owner), "%.*s", (int)DLOCK_OWNER_MAX, owner);
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
