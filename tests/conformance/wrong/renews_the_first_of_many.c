/* SPDX-License-Identifier: MIT */
/* renews_the_first_of_many.c -- a table of renewals that has room for 32 locks. */
#include <string.h>

#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

enum { KNOWN_MAX = 32 };

static dlock_status renew(void *lock, const dlock_claim *claim)
{
    /* Without a mutex, since only the thread of the watchdog uses it. */
    static char known[KNOWN_MAX][DLOCK_NAME_MAX + 1];
    static int known_count;
    int i = 0;

    while (i < known_count && strcmp(known[i], claim->name) != 0)
        i++;
    if (i == KNOWN_MAX)
        return DLOCK_OK;
    if (i == known_count)
        strcpy(known[known_count++], claim->name);
    return redisson_renew(lock, claim);
}

void wrong_renews_the_first_of_many(dlock_variant *it)
{
    it->renew = renew;
}
