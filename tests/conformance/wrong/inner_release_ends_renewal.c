/* SPDX-License-Identifier: MIT */
/* inner_release_ends_renewal.c -- the release of any level ends the renewals of the
 * name. */
#include <stdio.h>
#include <string.h>

#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

static char ended[DLOCK_NAME_MAX + 1];

static dlock_status release(void *lock, const dlock_claim *claim)
{
    if (claim->level > 1)
        snprintf(ended, sizeof(ended), "%s", claim->name);
    return redisson_release(lock, claim);
}

static dlock_status renew(void *lock, const dlock_claim *claim)
{
    return strcmp(ended, claim->name) == 0 ? DLOCK_OK : redisson_renew(lock, claim);
}

void wrong_inner_release_ends_renewal(dlock_variant *it)
{
    it->release = release;
    it->renew = renew;
}
