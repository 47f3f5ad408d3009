/* SPDX-License-Identifier: MIT */
/* stays_in_the_queue.c -- a waiter that gives up and leaves its place in the queue behind. */
#include "tests/conformance/wrong.h"

static void leave(void *lock, const dlock_claim *claim)
{
    (void)lock;
    (void)claim;
}

void wrong_stays_in_the_queue(dlock_variant *it)
{
    it->leave = leave;
}
