/* SPDX-License-Identifier: MIT */
/* leaves_its_row.c -- a row stays for each name that was ever locked. */
#include "lock/stores/postgres_session.h"
#include "tests/conformance/wrong.h"

static const struct postgres_question COMMIT = {.statement.sql = "COMMIT"};

static dlock_status release(void *sessions, const dlock_claim *claim)
{
    struct postgres_conn *conn = postgres_session_end(sessions, claim);
    dlock_status st;

    if (conn == NULL)
        return DLOCK_LOST;
    st = postgres_ask(conn, &COMMIT, NULL, claim->give_up_ns, NULL);
    postgres_give(postgres_sessions_pool(sessions), conn);
    return st;
}

void wrong_leaves_its_row(dlock_variant *it)
{
    it->release = release;
}
