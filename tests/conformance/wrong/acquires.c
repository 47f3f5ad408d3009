/* SPDX-License-Identifier: MIT */
/* acquires.c -- acquires that grant too much, or answer what is not so. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lock/process.h"
#include "tests/conformance/wrong.h"

static dlock_status takes_no_answer_for_busy_acquire(void *link, dlock_claim *claim)
{
    dlock_status st = wrong_plain_acquire(link, claim);

    return st == DLOCK_UNKNOWN ? DLOCK_BUSY : st;
}

/* An acquire without an answer counts as BUSY, so nothing releases what the store may have granted.
 * */
void wrong_takes_no_answer_for_busy(dlock_variant *it)
{
    wrong_be_plain(it);
    it->try_acquire = takes_no_answer_for_busy_acquire;
}

static dlock_status takes_an_error_for_busy_acquire(void *link, dlock_claim *claim)
{
    dlock_status st = wrong_plain_acquire(link, claim);

    return st == DLOCK_IO ? DLOCK_BUSY : st;
}

/* An error reply read as "held by somebody else". */
void wrong_takes_an_error_for_busy(dlock_variant *it)
{
    wrong_be_plain(it);
    it->try_acquire = takes_an_error_for_busy_acquire;
}

enum { ERRS_NOW_AND_THEN_ONE_IN = 20 };

static dlock_status errs_now_and_then_acquire(void *link, dlock_claim *claim)
{
    static _Atomic unsigned refused;
    dlock_status st = wrong_plain_acquire(link, claim);

    if (st == DLOCK_BUSY && ++refused % ERRS_NOW_AND_THEN_ONE_IN == 0)
        return DLOCK_OK;
    return st;
}

/* A race that grants a held lock to one caller in 20; the others are kept out. */
void wrong_errs_now_and_then(dlock_variant *it)
{
    wrong_be_plain(it);
    it->try_acquire = errs_now_and_then_acquire;
}

static dlock_status trusts_its_getset_acquire(void *link, dlock_claim *claim)
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

/* Every caller that saw the lock's end takes the lock over, whatever its GETSET answers. */
void wrong_trusts_its_getset(dlock_variant *it)
{
    it->try_acquire = trusts_its_getset_acquire;
}

extern const dlock_variant dlock_variant_local;

static dlock_status stays_in_its_process_renew(void *state, const dlock_claim *claim)
{
    (void)state;
    (void)claim;
    return DLOCK_OK;
}

/* The lock of `local`, which promises to exclude other processes. */
void wrong_stays_in_its_process(dlock_variant *it)
{
    it->open = NULL;
    it->close = NULL;
    it->check = NULL;
    it->era = NULL;
    it->read_release = NULL;
    it->send_queued = NULL;
    it->inspect = dlock_variant_local.inspect;
    it->force = dlock_variant_local.force;
    it->try_acquire = dlock_variant_local.try_acquire;
    it->renew = stays_in_its_process_renew;
    it->release = dlock_variant_local.release;
}
