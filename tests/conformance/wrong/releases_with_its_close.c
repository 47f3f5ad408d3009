/* SPDX-License-Identifier: MIT */
/* releases_with_its_close.c -- a close that frees the held locks at once, although their holders
 * were promised a lease. */
#include <stdio.h>

#include "tests/conformance/wrong.h"

static char last_name[DLOCK_NAME_MAX + 1];

static dlock_status try_acquire(void *link, dlock_claim *claim)
{
    dlock_status st = wrong_plain_acquire(link, claim);

    if (st == DLOCK_OK)
        snprintf(last_name, sizeof(last_name), "%s", claim->name);
    return st;
}

static void close_state(void *link)
{
    (void)redis_delete(link, last_name);
    redis_link_close(link);
}

void wrong_releases_with_its_close(dlock_variant *it)
{
    wrong_be_plain(it);
    it->try_acquire = try_acquire;
    it->close = close_state;
}
