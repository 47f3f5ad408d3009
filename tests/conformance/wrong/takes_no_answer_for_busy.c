/* SPDX-License-Identifier: MIT */
/* takes_no_answer_for_busy.c -- an acquire without an answer counts as BUSY, so nothing releases
 * what the store may have granted. */
#include "tests/conformance/wrong.h"

static dlock_status try_acquire(void *link, dlock_claim *claim)
{
    dlock_status st = wrong_plain_acquire(link, claim);

    return st == DLOCK_UNKNOWN ? DLOCK_BUSY : st;
}

void wrong_takes_no_answer_for_busy(dlock_variant *it)
{
    wrong_be_plain(it);
    it->try_acquire = try_acquire;
}
