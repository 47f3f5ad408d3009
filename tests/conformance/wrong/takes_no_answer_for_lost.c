/* SPDX-License-Identifier: MIT */
/* takes_no_answer_for_lost.c -- a release without an answer counts as LOST. */
#include "tests/conformance/wrong.h"

static dlock_status release(void *link, const dlock_claim *claim)
{
    dlock_status st = wrong_plain_release(link, claim);

    return st == DLOCK_UNKNOWN ? DLOCK_LOST : st;
}

void wrong_takes_no_answer_for_lost(dlock_variant *it)
{
    wrong_be_plain(it);
    it->release = release;
}
