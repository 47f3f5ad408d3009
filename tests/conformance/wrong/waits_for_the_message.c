/* SPDX-License-Identifier: MIT */
/* waits_for_the_message.c -- a waiter that never asks again without a message: redisson #5761. */
#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

static bool sleep_on(void *waiter, int64_t until_ns)
{
    (void)until_ns;
    return redisson_sleep(waiter, INT64_MAX);
}

void wrong_waits_for_the_message(dlock_variant *it)
{
    it->sleep = sleep_on;
}
