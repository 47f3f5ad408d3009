/* SPDX-License-Identifier: MIT */
/* renews_by_adding.c -- a renewal that adds its time to the lease, as those of redis-py and of
 * redbeat #127. */
#include "tests/conformance/wrong.h"

static const char RENEW[] =
    "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end"
    " return redis.call('PEXPIRE', KEYS[1],"
    " redis.call('PTTL', KEYS[1]) + ARGV[2])";

static dlock_status renew(void *link, const dlock_claim *claim)
{
    return wrong_ask(link, RENEW, claim);
}

void wrong_renews_by_adding(dlock_variant *it)
{
    wrong_be_plain(it);
    it->renew = renew;
}
