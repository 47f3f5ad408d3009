/* SPDX-License-Identifier: MIT */
/* never_takes_over.c -- a row whose expiry an acquire does not read. Its expiry is a minute away,
 * because other processes would delete an ended row. */
#include "lock/stores/postgres_pool.h"
#include "tests/conformance/wrong.h"

static const struct postgres_question INSERT = {
    {"wrong_insert",
     "INSERT INTO dlock_lock (name, owner, hold_count, expires_at)"
     " VALUES ($1, $2, 1, clock_timestamp() + interval '1 minute')"
     " ON CONFLICT (name) DO NOTHING RETURNING 1",
     "bu"},
    .shape = POSTGRES_ONE_IF_ANY};

static dlock_status try_acquire(void *pool, dlock_claim *claim)
{
    const char *values[] = {claim->name, claim->owner};
    struct postgres_answer answer;
    dlock_status st =
        postgres_pool_ask(pool, &INSERT, values, claim->give_up_ns, &answer);

    return st == DLOCK_OK && !answer.has_row ? DLOCK_BUSY : st;
}

void wrong_never_takes_over(dlock_variant *it)
{
    it->try_acquire = try_acquire;
}
