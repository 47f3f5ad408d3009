/* SPDX-License-Identifier: MIT */
/* stays_in_its_process.c -- the lock of `local`, which promises to exclude other processes. */
#include "tests/conformance/wrong.h"

extern const dlock_variant dlock_variant_local;

static dlock_status renew(void *state, const dlock_claim *claim)
{
    (void)state;
    (void)claim;
    return DLOCK_OK;
}

void wrong_stays_in_its_process(dlock_variant *it)
{
    it->open = NULL;
    it->close = NULL;
    it->check = NULL;
    it->era = NULL;
    it->read_release = NULL;
    it->send_queued = NULL;
    it->inspect = dlock_variant_local.inspect;
    it->force = dlock_variant_local.force;
    it->try_acquire = dlock_variant_local.try_acquire;
    it->renew = renew;
    it->release = dlock_variant_local.release;
}
