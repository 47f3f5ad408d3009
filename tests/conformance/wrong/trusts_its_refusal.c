/* SPDX-License-Identifier: MIT */
/* trusts_its_refusal.c -- a session lock that is granted at the moment in which its wait ends in an
 * error: the connection goes back to the pool with the lock. */
#include "lock/stores/postgres_session.h"
#include "tests/conformance/wrong.h"

static const struct postgres_question TRY = {
    {"wrong_try",
     "SELECT pg_try_advisory_lock(hashtextextended(encode($1, 'escape'), 0))",
     "b"},
    .shape = {.kind = POSTGRES_BOOL}};
static const struct postgres_question LOCK = {
    {"wrong_lock",
     "SELECT pg_advisory_lock(hashtextextended(encode($1, 'escape'), 0))",
     "b"},
    .shape = {.kind = POSTGRES_VOID}, .may_wait = true};

static dlock_status try_acquire(void *state, dlock_claim *claim)
{
    bool waits = claim->store_until_ns != 0;
    const char *values[] = {claim->name};
    struct postgres_conn *conn = NULL;
    struct postgres_answer answer;
    dlock_status st = postgres_take(postgres_sessions_pool(state), claim->give_up_ns, &conn);

    if (st == DLOCK_OK && waits)
        st = postgres_limit_wait(conn, claim->store_until_ns, claim->give_up_ns);
    if (st == DLOCK_OK)
        st = postgres_ask(conn, waits ? &LOCK : &TRY, values, claim->give_up_ns, &answer);
    if (st == DLOCK_OK && !waits && !answer.is_true)
        st = DLOCK_BUSY;
    if (st == DLOCK_OK)
        return postgres_session_keep(state, claim, conn);
    postgres_give(postgres_sessions_pool(state), conn);
    return st;
}

void wrong_trusts_its_refusal(dlock_variant *it)
{
    it->try_acquire = try_acquire;
}
