/* SPDX-License-Identifier: MIT */
/* cuts_the_lease_to_seconds.c -- EX in place of PX: the lease ends in the store before it ends for
 * its holder. */
#include "tests/conformance/wrong.h"

static dlock_status try_acquire(void *link, dlock_claim *claim)
{
    int lease_ms = claim->lease_ms / 1000 * 1000;

    return redis_set_if_absent(link, claim->name, claim->token,
                               lease_ms > 0 ? lease_ms : claim->lease_ms);
}

void wrong_cuts_the_lease_to_seconds(dlock_variant *it)
{
    wrong_be_plain(it);
    it->try_acquire = try_acquire;
}
