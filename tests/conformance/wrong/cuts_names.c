/* SPDX-License-Identifier: MIT */
/* cuts_names.c -- a name cut to the size of a buffer: two long names become one lock. */
#include <stdio.h>

#include "tests/conformance/wrong.h"

enum { KEPT = 32 };

static dlock_status try_acquire(void *link, dlock_claim *claim)
{
    char name[KEPT + 1];
    dlock_claim cut = *claim;

    snprintf(name, sizeof(name), "%.*s", KEPT, claim->name);
    cut.name = name;
    return wrong_plain_acquire(link, &cut);
}

static dlock_status release(void *link, const dlock_claim *claim)
{
    char name[KEPT + 1];
    dlock_claim cut = *claim;

    snprintf(name, sizeof(name), "%.*s", KEPT, claim->name);
    cut.name = name;
    return wrong_plain_release(link, &cut);
}

void wrong_cuts_names(dlock_variant *it)
{
    wrong_be_plain(it);
    it->try_acquire = try_acquire;
    it->release = release;
}
