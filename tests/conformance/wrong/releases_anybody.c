/* SPDX-License-Identifier: MIT */
/* releases_anybody.c -- a release that does not check the owner. */
#include "tests/conformance/wrong.h"

static dlock_status release(void *link, const dlock_claim *claim)
{
    return redis_delete(link, claim->name);
}

void wrong_releases_anybody(dlock_variant *it)
{
    wrong_be_plain(it);
    it->release = release;
}
