/* SPDX-License-Identifier: MIT */
/* postgres_model.c -- transactions of the model of PostgreSQL, and what a crash leaves.
 *
 * A voucher's row has two sets of values: the committed one, and that of the transaction which has
 * locked the row. An order's row belongs to the transaction that inserted it. So a rollback has
 * nothing to undo. */
#include "tests/simulation/postgres_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_XID = 700, FIRST_PID = 1000 };

void postgres_model_begin(struct postgres_model *model)
{
    model->next_xid = FIRST_XID;
    model->next_pid = FIRST_PID;
}

void postgres_model_issue(struct postgres_model *model, int64_t id, int64_t stock,
                          int64_t begin_us, int64_t end_us)
{
    struct postgres_voucher *voucher = &model->vouchers[model->voucher_count++];

    if (model->voucher_count > POSTGRES_VOUCHERS_MAX)
        abort();
    *voucher = (struct postgres_voucher){
        .id = id, .issued = stock, .begin_us = begin_us, .end_us = end_us,
        .committed = {.stock = stock}};
}

/* ---- transactions ---- */

static enum postgres_end *end_at(struct postgres_model *model, uint64_t xid)
{
    size_t at = (size_t)(xid - FIRST_XID);

    if (at >= model->end_room) {
        size_t room = at * 2 + 64;

        model->ends = realloc(model->ends, room * sizeof(*model->ends));
        if (model->ends == NULL)
            abort();
        memset(model->ends + model->end_room, 0,
               (room - model->end_room) * sizeof(*model->ends));
        model->end_room = room;
    }
    return &model->ends[at];
}

enum postgres_end postgres_model_end_of(const struct postgres_model *model, uint64_t xid)
{
    return model->ends[xid - FIRST_XID];
}

uint64_t postgres_call_xid(struct postgres_call *call)
{
    if (call->session->xid == 0) {
        call->session->xid = call->model->next_xid++;
        *end_at(call->model, call->session->xid) = POSTGRES_OPEN_STILL;
    }
    return call->session->xid;
}

static void end_rows(struct postgres_model *model, uint64_t xid, bool is_committed)
{
    for (size_t i = 0; i < model->voucher_count; i++) {
        struct postgres_voucher *voucher = &model->vouchers[i];

        if (voucher->locked_by != xid)
            continue;
        if (is_committed)
            voucher->committed = voucher->changed;
        voucher->locked_by = 0;
    }
    for (size_t i = 0; i < model->order_count; i++) {
        struct postgres_order *order = &model->orders[i];

        if (order->xid != xid || order->is_committed || order->is_dead)
            continue;
        order->is_committed = is_committed;
        order->is_dead = !is_committed;
    }
}

static void wake_waiting(struct postgres_model *model, uint64_t xid)
{
    for (struct model_session *at = model->sessions; at != NULL; at = at->next)
        if (at->waits_for == xid) {
            at->waits_for = 0;
            if (model->wake != NULL)
                model->wake(at);
        }
}

static void end_transaction(struct postgres_model *model, struct model_session *session,
                            bool is_committed)
{
    uint64_t xid = session->xid;

    session->xid = 0;
    session->is_in_block = session->has_failed = false;
    if (xid == 0)
        return;
    *end_at(model, xid) = is_committed ? POSTGRES_COMMITTED : POSTGRES_ABORTED;
    end_rows(model, xid, is_committed);
    wake_waiting(model, xid);
}

/* ---- sessions ---- */

struct model_session *model_session_begin(struct postgres_model *model, void *owner)
{
    struct model_session *session = calloc(1, sizeof(*session));

    if (session == NULL)
        abort();
    session->pid = model->next_pid++;
    session->owner = owner;
    session->next = model->sessions;
    model->sessions = session;
    return session;
}

void postgres_message_free(struct postgres_message *message)
{
    free(message->sql);
    for (int i = 0; i < message->count; i++)
        free(message->values[i]);
    free(message);
}

void model_session_give(struct model_session *session, struct postgres_message *message)
{
    message->next = NULL;
    if (session->first == NULL)
        session->first = message;
    else
        session->last->next = message;
    session->last = message;
}

static void drop_first(struct model_session *session)
{
    struct postgres_message *message = session->first;

    session->first = message->next;
    session->has_waited = false;
    session->row = session->inserted = 0;
    postgres_message_free(message);
}

void model_session_end(struct postgres_model *model, struct model_session *session)
{
    struct model_session **at = &model->sessions;

    if (session->is_over)
        return;
    session->is_over = true;
    session->waits_for = 0;
    end_transaction(model, session, false);
    while (session->first != NULL)
        drop_first(session);
    while (*at != session)
        at = &(*at)->next;
    *at = session->next;
}

void postgres_model_crash(struct postgres_model *model, bool loses_numbers)
{
    uint64_t first_lost = FIRST_XID;

    while (model->sessions != NULL)
        model_session_end(model, model->sessions);
    for (uint64_t xid = FIRST_XID; xid < model->next_xid; xid++)
        if (*end_at(model, xid) == POSTGRES_COMMITTED)
            first_lost = xid + 1;
    if (loses_numbers)
        model->next_xid = first_lost;
}

bool model_session_is_deadlocked(const struct postgres_model *model,
                                    const struct model_session *session)
{
    const struct model_session *at = session;

    for (int i = 0; i < 1000 && at != NULL && at->waits_for != 0; i++) {
        uint64_t xid = at->waits_for;

        if (xid == session->xid)
            return true;
        for (at = model->sessions; at != NULL && at->xid != xid;)
            at = at->next;
    }
    return false;
}

/* ---- messages ---- */

static void finish(struct model_session *session, struct postgres_answer *answer,
                   const char *tag)
{
    (void)session;
    answer->kind = POSTGRES_RESULT_DONE;
    (void)snprintf(answer->tag, sizeof(answer->tag), "%s", tag);
}

static void fail(struct model_session *session)
{
    session->has_failed = session->is_in_block;
    session->is_skipping = true;
    session->waits_for = 0;
}

static bool is_text(const char *sql, const char *word)
{
    return strcmp(sql, word) == 0;
}

/* BEGIN, COMMIT, ROLLBACK. */
static enum postgres_run control(struct postgres_call *call)
{
    struct model_session *session = call->session;

    (void)session;
    call->answer->kind = POSTGRES_RESULT_DONE;
    return POSTGRES_RAN;
}

static const struct postgres_known controls[] = {{"BEGIN", 0, false, control, "BEGIN"},
                                                 {"COMMIT", 0, false, control, "COMMIT"},
                                                 {"ROLLBACK", 0, false, control, "ROLLBACK"}};

static const struct postgres_known *find_known(const char *sql)
{
    for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++)
        if (is_text(sql, controls[i].sql))
            return &controls[i];
    return postgres_statement_find(sql);
}

static bool ends_block(const struct postgres_known *known)
{
    return known == &controls[1] || known == &controls[2];
}

static void prepare(struct postgres_call *call)
{
    struct model_session *session = call->session;
    const struct postgres_message *message = call->message;
    const struct postgres_known *known = find_known(message->sql);

    if (known == NULL) {
        call->model->not_known(message->sql);
        (void)postgres_answer_refuse(call->answer, "42601", NULL, "the model does not know it");
    } else if (session->has_failed && !ends_block(known)) {
        (void)postgres_answer_refuse(call->answer, "25P02", NULL,
                                     "current transaction is aborted, commands ignored until "
                                     "end of transaction block");
    } else {
        int at = session->prepared_count++;

        if (at == POSTGRES_STATEMENTS_MAX)
            abort();
        memcpy(session->prepared[at].name, message->name, POSTGRES_TEXT_SIZE);
        session->prepared[at].known = known;
        finish(session, call->answer, "");
    }
}

static const struct postgres_known *find_prepared(const struct postgres_call *call)
{
    for (int i = 0; i < call->session->prepared_count; i++)
        if (is_text(call->session->prepared[i].name, call->message->name))
            return call->session->prepared[i].known;
    return NULL;
}

static void run_control(struct postgres_call *call, const struct postgres_known *known)
{
    struct model_session *session = call->session;
    bool commits = known == &controls[1] && !session->has_failed;

    if (known == &controls[0]) {
        session->is_in_block = true;
        finish(session, call->answer, "BEGIN");
        return;
    }
    finish(session, call->answer, commits ? "COMMIT" : "ROLLBACK");
    end_transaction(call->model, session, commits);
}

static enum postgres_run execute(struct postgres_call *call)
{
    struct model_session *session = call->session;
    const struct postgres_known *known = find_prepared(call);
    enum postgres_run run;

    if (known == NULL)
        return postgres_answer_refuse(call->answer, "26000", NULL,
                                      "prepared statement does not exist");
    if (session->has_failed && !ends_block(known))
        return postgres_answer_refuse(call->answer, "25P02", NULL,
                                      "current transaction is aborted, commands ignored until "
                                      "end of transaction block");
    if (!session->is_in_block && session->xid == 0 && !session->has_waited)
        session->began_us = call->model->now_us(call->model->owner);
    if (known->run == control) {
        run_control(call, known);
        return POSTGRES_RAN;
    }
    if (known->writes && call->model->is_full)
        return postgres_answer_refuse(call->answer, "53100", NULL,
                                      "could not extend file: No space left on device");
    call->answer->kind = POSTGRES_RESULT_ROWS;
    call->answer->columns = known->columns;
    run = known->run(call);
    if (run == POSTGRES_RAN)
        postgres_answer_tag(call->answer, known->tag);
    return run;
}

/* The end of a batch ends its implicit transaction. */
static void sync_batch(struct postgres_call *call)
{
    struct model_session *session = call->session;

    if (!session->is_in_block)
        end_transaction(call->model, session, !session->is_skipping);
    session->is_skipping = false;
    call->answer->kind = POSTGRES_RESULT_SYNC;
    call->answer->transaction = session->has_failed    ? POSTGRES_IN_FAILED_TRANSACTION
                                : session->is_in_block ? POSTGRES_IN_TRANSACTION
                                                       : POSTGRES_NO_TRANSACTION;
}

enum postgres_step model_session_step(struct postgres_model *model,
                                         struct model_session *session,
                                         struct postgres_answer *answer)
{
    struct postgres_call call = {model, session, session->first, answer};
    enum postgres_run run = POSTGRES_RAN;

    *answer = (struct postgres_answer){.kind = POSTGRES_RESULT_OTHER};
    if (session->is_over || session->first == NULL)
        return POSTGRES_IDLE;
    if (session->waits_for != 0)
        return POSTGRES_WAITS;
    if (call.message->kind == POSTGRES_SYNC)
        sync_batch(&call);
    else if (session->is_skipping)
        answer->kind = POSTGRES_RESULT_OTHER;
    else if (call.message->kind == POSTGRES_PREPARE)
        prepare(&call);
    else
        run = execute(&call);
    if (run == POSTGRES_MUST_WAIT) {
        session->has_waited = true;
        postgres_answer_free(answer);
        return POSTGRES_WAITS;
    }
    if (answer->kind == POSTGRES_RESULT_ERROR)
        fail(session);
    drop_first(session);
    return POSTGRES_DONE;
}

void model_session_refuse(struct postgres_model *model, struct model_session *session,
                             const char *state, struct postgres_answer *answer)
{
    (void)model;
    *answer = (struct postgres_answer){.kind = POSTGRES_RESULT_ERROR};
    (void)postgres_answer_refuse(answer, state, NULL, "the wait for another transaction ended");
    fail(session);
    drop_first(session);
}
