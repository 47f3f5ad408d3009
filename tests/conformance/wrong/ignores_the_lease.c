/* SPDX-License-Identifier: MIT */
/* ignores_the_lease.c -- a lock without a lease: it never ends by itself. */
#include "tests/conformance/wrong.h"

static dlock_status try_acquire(void *link, dlock_claim *claim)
{
    return redis_set_first(link, claim->name, claim->token);
}

void wrong_ignores_the_lease(dlock_variant *it)
{
    wrong_be_plain(it);
    it->try_acquire = try_acquire;
}
