/* SPDX-License-Identifier: MIT */
/* errs_now_and_then.c -- a race that grants a held lock to one caller in 20; the others are kept
 * out. */
#include "tests/conformance/wrong.h"

enum { ONE_IN = 20 };

static dlock_status try_acquire(void *link, dlock_claim *claim)
{
    static _Atomic unsigned refused;
    dlock_status st = wrong_plain_acquire(link, claim);

    if (st == DLOCK_BUSY && ++refused % ONE_IN == 0)
        return DLOCK_OK;
    return st;
}

void wrong_errs_now_and_then(dlock_variant *it)
{
    wrong_be_plain(it);
    it->try_acquire = try_acquire;
}
