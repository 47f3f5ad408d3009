/* SPDX-License-Identifier: MIT */
/* takes_an_error_for_busy.c -- an error reply read as "held by somebody else". */
#include "tests/conformance/wrong.h"

static dlock_status try_acquire(void *link, dlock_claim *claim)
{
    dlock_status st = wrong_plain_acquire(link, claim);

    return st == DLOCK_IO ? DLOCK_BUSY : st;
}

void wrong_takes_an_error_for_busy(dlock_variant *it)
{
    wrong_be_plain(it);
    it->try_acquire = try_acquire;
}
