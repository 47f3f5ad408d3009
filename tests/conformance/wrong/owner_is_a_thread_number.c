/* SPDX-License-Identifier: MIT */
/* owner_is_a_thread_number.c -- an owner text that is unique within one process only. */
#include "tests/conformance/wrong.h"

static dlock_status try_acquire(void *link, dlock_claim *claim)
{
    claim->token = claim->number;
    return wrong_plain_acquire(link, claim);
}

static dlock_status release(void *link, const dlock_claim *claim)
{
    dlock_claim numbered = *claim;

    numbered.token = claim->number;
    return wrong_plain_release(link, &numbered);
}

void wrong_owner_is_a_thread_number(dlock_variant *it)
{
    wrong_be_plain(it);
    it->try_acquire = try_acquire;
    it->release = release;
}
