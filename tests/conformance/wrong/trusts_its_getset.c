/* SPDX-License-Identifier: MIT */
/* trusts_its_getset.c -- every caller that saw the lock's end takes the lock over, whatever its
 * GETSET answers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lock/process.h"
#include "tests/conformance/wrong.h"

static dlock_status try_acquire(void *link, dlock_claim *claim)
{
    int64_t now_ms = dlock_process_wall_ms();
    char end[24];
    struct redis_command getset = {3, {"GETSET", claim->name, end}, REDIS_SHAPE_ANY};
    struct redis_answer seen;
    dlock_status st;

    claim->note = (uint64_t)(now_ms + claim->lease_ms);
    snprintf(end, sizeof(end), "%" PRIu64, claim->note);
    st = redis_set_first(link, claim->name, end);
    if (st == DLOCK_BUSY)
        st = redis_get(link, claim->name, REDIS_SHAPE_TEXT, &seen);
    else
        return st;
    if (st != DLOCK_OK)
        return st == DLOCK_LOST ? DLOCK_BUSY : st;
    if (strtoll(seen.text, NULL, 10) >= now_ms)
        return DLOCK_BUSY;
    return redis_call(link, &getset, INT64_MAX, &seen);
}

void wrong_trusts_its_getset(dlock_variant *it)
{
    it->try_acquire = try_acquire;
}
