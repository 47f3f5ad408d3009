/* SPDX-License-Identifier: MIT */
/* redis_fault.c -- the fault points of requests to Redis. */
#include "lock/stores/redis_fault.h"

#include "lock/dlock_variant.h"

static dlock_status fail(dlock_status st, struct redis_link *link, const char *what)
{
    return dlock_fail(st, "%s: %s, by a fault that was armed", redis_link_label(link),
                      what);
}

dlock_status redis_fault_reach(struct redis_link *link, dlock_fault_point point,
                               const char *key)
{
    dlock_fault_action action = DLOCK_FAULT_ASK(point, key);

    if (action == DLOCK_FAULT_FAIL)
        return fail(DLOCK_IO, link, "not sent");
    if (action == DLOCK_FAULT_CUT)
        redis_link_cut(link);
    return DLOCK_OK;
}

dlock_status redis_fault_reach_talk(struct redis_talk *talk, dlock_fault_point point,
                                    const char *key)
{
    dlock_fault_action action = DLOCK_FAULT_ASK(point, key);

    if (action == DLOCK_FAULT_FAIL)
        return fail(DLOCK_IO, talk->link, "not sent");
    if (action == DLOCK_FAULT_CUT)
        redis_talk_cut(talk);
    return DLOCK_OK;
}

dlock_status redis_fault_reach_after(struct redis_link *link, const char *key)
{
    dlock_status st = redis_fault_reach(link, DLOCK_FAULT_AFTER_REPLY, key);

    return st == DLOCK_OK ? st : fail(DLOCK_UNKNOWN, link, "the answer is dropped");
}
