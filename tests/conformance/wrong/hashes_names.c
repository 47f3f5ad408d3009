/* SPDX-License-Identifier: MIT */
/* hashes_names.c -- a table of 512 locks for any number of names. */
#include <stdio.h>

#include "tests/conformance/wrong.h"

static void hash(const char *name, char out[16])
{
    uint32_t sum = 2166136261;

    for (; *name != '\0'; name++)
        sum = (sum ^ (unsigned char)*name) * 16777619;
    snprintf(out, 16, "wrong:%03x", sum % 512);
}

static dlock_status try_acquire(void *link, dlock_claim *claim)
{
    char name[16];
    dlock_claim hashed = *claim;

    hash(claim->name, name);
    hashed.name = name;
    return wrong_plain_acquire(link, &hashed);
}

static dlock_status release(void *link, const dlock_claim *claim)
{
    char name[16];
    dlock_claim hashed = *claim;

    hash(claim->name, name);
    hashed.name = name;
    return wrong_plain_release(link, &hashed);
}

void wrong_hashes_names(dlock_variant *it)
{
    wrong_be_plain(it);
    it->try_acquire = try_acquire;
    it->release = release;
}
