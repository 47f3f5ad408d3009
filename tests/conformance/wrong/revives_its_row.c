/* SPDX-License-Identifier: MIT */
/* revives_its_row.c -- a renewal of a row that has ended and is still there, although its holder
 * was told that the lock is lost. */
#include <stdio.h>

#include "lock/stores/postgres_pool.h"
#include "tests/conformance/wrong.h"

static const struct postgres_question RENEW = {
    {"wrong_renew",
     "UPDATE dlock_lock SET expires_at = clock_timestamp() + $3::int * interval '1 ms'"
     " WHERE name = $1 AND owner = $2 RETURNING 1",
     "buu"},
    .shape = POSTGRES_ONE_IF_ANY};

static dlock_status renew(void *pool, const dlock_claim *claim)
{
    struct postgres_answer answer;
    char lease[12];
    const char *values[] = {claim->name, claim->owner, lease};
    dlock_status st;

    snprintf(lease, sizeof(lease), "%d", claim->lease_ms);
    st = postgres_pool_ask(pool, &RENEW, values, claim->give_up_ns, &answer);
    return st == DLOCK_OK && !answer.has_row ? DLOCK_LOST : st;
}

void wrong_revives_its_row(dlock_variant *it)
{
    it->renew = renew;
}
