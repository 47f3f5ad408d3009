/* SPDX-License-Identifier: MIT */
/* forgets_to_publish.c -- a release without its message: waiters learn of it only by their poll. */
#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

static dlock_status release(void *opaque, const dlock_claim *claim)
{
    struct redisson_lock quiet = *(struct redisson_lock *)opaque;

    quiet.subscription = NULL; /* as `spin`: nobody listens */
    return redisson_release(&quiet, claim);
}

void wrong_forgets_to_publish(dlock_variant *it)
{
    it->release = release;
}
