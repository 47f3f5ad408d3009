/* SPDX-License-Identifier: MIT */
/* renews_anybody.c -- a renewal that prolongs the next holder's lease. */
#include "tests/conformance/wrong.h"

static dlock_status renew(void *link, const dlock_claim *claim)
{
    return redis_expire(link, claim->name, claim->lease_ms);
}

void wrong_renews_anybody(dlock_variant *it)
{
    wrong_be_plain(it);
    it->renew = renew;
}
