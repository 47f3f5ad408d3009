/* SPDX-License-Identifier: MIT */
/* renewal_does_nothing.c -- a renewal that says OK and does nothing. */
#include "tests/conformance/wrong.h"

static dlock_status renew(void *lock, const dlock_claim *claim)
{
    (void)lock;
    (void)claim;
    return DLOCK_OK;
}

void wrong_renewal_does_nothing(dlock_variant *it)
{
    it->renew = renew;
}
