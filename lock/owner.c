/* SPDX-License-Identifier: MIT */
/* owner.c -- numbers for threads, from one counter. */
#include "lock/owner.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

static _Atomic uint64_t last_number;
static _Thread_local struct dlock_owner here;

static uint64_t draw(char text[DLOCK_NUMBER_SIZE])
{
    uint64_t number = atomic_fetch_add(&last_number, 1) + 1;

    snprintf(text, DLOCK_NUMBER_SIZE, "%" PRIu64, number);
    return number;
}

const struct dlock_owner *dlock_owner_here(void)
{
    if (here.thread == 0)
        here.thread = draw(here.number);
    return &here;
}

void dlock_owner_retire(void)
{
    if (here.thread != 0)
        draw(here.number);
}
