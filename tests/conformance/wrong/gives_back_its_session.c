/* SPDX-License-Identifier: MIT */
/* gives_back_its_session.c -- a session lock whose connection goes back to the pool: the next user
 * of the connection has the lock too. */
#include "lock/stores/postgres_session.h"
#include "tests/conformance/wrong.h"

static const struct postgres_question TRY = {
    {"wrong_try",
     "SELECT pg_try_advisory_lock(hashtextextended(encode($1, 'escape'), 0))",
     "b"},
    .shape = {.kind = POSTGRES_BOOL}};
static const struct postgres_question UNLOCK = {
    {"wrong_unlock",
     "SELECT pg_advisory_unlock(hashtextextended(encode($1, 'escape'), 0))",
     "b"},
    .shape = {.kind = POSTGRES_BOOL}};

static dlock_status try_acquire(void *sessions, dlock_claim *claim)
{
    const char *values[] = {claim->name};
    struct postgres_answer answer;
    dlock_status st = postgres_pool_ask(postgres_sessions_pool(sessions), &TRY, values,
                                        claim->give_up_ns, &answer);

    return st == DLOCK_OK && !answer.is_true ? DLOCK_BUSY : st;
}

static dlock_status probe(void *sessions, const dlock_claim *claim)
{
    (void)sessions;
    (void)claim;
    return DLOCK_OK;
}

static dlock_status release(void *sessions, const dlock_claim *claim)
{
    const char *values[] = {claim->name};
    struct postgres_answer answer;
    dlock_status st = postgres_pool_ask(postgres_sessions_pool(sessions), &UNLOCK,
                                        values, claim->give_up_ns, &answer);

    return st == DLOCK_OK && !answer.is_true ? DLOCK_LOST : st;
}

void wrong_gives_back_its_session(dlock_variant *it)
{
    it->try_acquire = try_acquire;
    it->probe = probe;
    it->release = release;
}
