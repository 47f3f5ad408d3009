/* SPDX-License-Identifier: MIT */
/* ignores_case.c -- names as a case-insensitive collation compares them. */
#include <ctype.h>

#include "tests/conformance/wrong.h"

static void lower(const char *name, char out[DLOCK_NAME_MAX + 1])
{
    size_t i = 0;

    for (; name[i] != '\0'; i++)
        out[i] = (char)tolower((unsigned char)name[i]);
    out[i] = '\0';
}

static dlock_status try_acquire(void *link, dlock_claim *claim)
{
    char name[DLOCK_NAME_MAX + 1];
    dlock_claim lowered = *claim;

    lower(claim->name, name);
    lowered.name = name;
    return wrong_plain_acquire(link, &lowered);
}

static dlock_status release(void *link, const dlock_claim *claim)
{
    char name[DLOCK_NAME_MAX + 1];
    dlock_claim lowered = *claim;

    lower(claim->name, name);
    lowered.name = name;
    return wrong_plain_release(link, &lowered);
}

void wrong_ignores_case(dlock_variant *it)
{
    wrong_be_plain(it);
    it->try_acquire = try_acquire;
    it->release = release;
}
