/* SPDX-License-Identifier: MIT */
/* fence_epochs.c -- epochs for fence counters, from PostgreSQL. */
#include "lock/stores/fence_epochs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lock/stores/postgres_pool.h"

enum { SAID_SIZE = 256 };

struct fence_epochs {
    struct postgres_pool *pool;
};

static const struct postgres_question LOOK = {
    .statement.sql =
        "SELECT has_sequence_privilege(to_regclass('dlock_fence_epoch'), 'USAGE')",
    .shape = {.kind = POSTGRES_BOOL, .may_be_null = true}};
static const struct postgres_question DRAW = {
    .statement.sql =
        "SELECT nextval('dlock_fence_epoch')",
    .shape = {.kind = POSTGRES_INT8, .least = 1, .most = INT32_MAX}};

/* An unanswered request left nothing to clean up, because it changed no lock. */
static dlock_status explain(dlock_status st)
{
    char said[SAID_SIZE];

    if (st == DLOCK_OK)
        return st;
    snprintf(said, sizeof(said), "%s", dlock_error());
    return dlock_fail(st == DLOCK_UNKNOWN ? DLOCK_IO : st,
                      "PostgreSQL, where fences get their epochs: %s", said);
}

dlock_status fence_epochs_open(struct fence_epochs **out, const dlock_options *opts)
{
    struct fence_epochs *epochs;
    dlock_status st;

    *out = NULL;
    if (opts->database_url == NULL || opts->database_url[0] == '\0')
        return DLOCK_OK;
    epochs = calloc(1, sizeof(*epochs));
    if (epochs == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for the epochs");
    st = explain(postgres_pool_open(&epochs->pool, opts));
    if (st == DLOCK_OK)
        st = fence_epochs_check(epochs);
    if (st == DLOCK_OK)
        *out = epochs;
    else
        fence_epochs_close(epochs);
    return st;
}

void fence_epochs_close(struct fence_epochs *epochs)
{
    if (epochs == NULL)
        return;
    postgres_pool_close(epochs->pool);
    free(epochs);
}

dlock_status fence_epochs_draw(struct fence_epochs *epochs, int64_t give_up_ns,
                               char first[FENCE_TEXT_SIZE])
{
    struct postgres_answer answer;
    dlock_status st =
        postgres_pool_ask(epochs->pool, &DRAW, NULL, give_up_ns, &answer);

    if (st != DLOCK_OK)
        return explain(st);
    snprintf(first, FENCE_TEXT_SIZE, "%" PRIu64, (uint64_t)answer.number << 32);
    return DLOCK_OK;
}

dlock_status fence_epochs_check(struct fence_epochs *epochs)
{
    struct postgres_answer answer;
    dlock_status st;

    if (epochs == NULL)
        return DLOCK_OK;
    st = postgres_pool_ask(epochs->pool, &LOOK, NULL, INT64_MAX, &answer);
    if (st == DLOCK_OK && !answer.is_true)
        st = dlock_fail(DLOCK_PROTOCOL,
                        "there is no sequence dlock_fence_epoch, or the role may not use it: "
                        "run lock/stores/postgres.sql as the database's owner, and "
                        "grant USAGE on it");
    return explain(st);
}
