/* SPDX-License-Identifier: MIT */
/* deletes_by_its_stale_clock.c -- the DEL of `getset` without the check before it: a late release
 * frees the lock of the next holder. */
#include "tests/conformance/wrong.h"

static dlock_status release(void *link, const dlock_claim *claim)
{
    return redis_delete(link, claim->name);
}

void wrong_deletes_by_its_stale_clock(dlock_variant *it)
{
    it->release = release;
}
