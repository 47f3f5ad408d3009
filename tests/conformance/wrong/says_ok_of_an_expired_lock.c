/* SPDX-License-Identifier: MIT */
/* says_ok_of_an_expired_lock.c -- a release that answers OK although the lock was lost, as redsync
 * #38 did. */
#include "tests/conformance/wrong.h"

static dlock_status release(void *link, const dlock_claim *claim)
{
    dlock_status st = wrong_plain_release(link, claim);

    return st == DLOCK_LOST ? DLOCK_OK : st;
}

void wrong_says_ok_of_an_expired_lock(dlock_variant *it)
{
    wrong_be_plain(it);
    it->release = release;
}
