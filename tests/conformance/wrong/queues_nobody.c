/* SPDX-License-Identifier: MIT */
/* queues_nobody.c -- waiters that ask again and again, and take no place in the queue. */
#include "tests/conformance/wrong.h"

extern const dlock_variant dlock_variant_pg_fair;

static dlock_status try_acquire(void *pool, dlock_claim *claim)
{
    dlock_claim passing = *claim;

    passing.wait_until_ns = 0;
    return dlock_variant_pg_fair.try_acquire(pool, &passing);
}

void wrong_queues_nobody(dlock_variant *it)
{
    it->try_acquire = try_acquire;
}
