/* SPDX-License-Identifier: MIT */
/* unlocks_another_session.c -- an unlock on any connection of the pool, whose answer is not
 * checked. */
#include "lock/stores/postgres_session.h"
#include "tests/conformance/wrong.h"

static const struct postgres_question UNLOCK = {
    {"wrong_unlock",
     "SELECT pg_advisory_unlock(hashtextextended(encode($1, 'escape'), 0))",
     "b"},
    .shape = {.kind = POSTGRES_BOOL}};

static dlock_status release(void *sessions, const dlock_claim *claim)
{
    const char *values[] = {claim->name};

    return postgres_pool_ask(postgres_sessions_pool(sessions), &UNLOCK, values,
                             claim->give_up_ns, NULL);
}

void wrong_unlocks_another_session(dlock_variant *it)
{
    it->release = release;
}
