/* SPDX-License-Identifier: MIT */
/* postgres_statements.c -- the statements that read orders and vouchers, in the model of
 * PostgreSQL, and the list of all its statements.
 *
 * The model knows a statement by its whole text, so it executes no statement that was changed in
 * the service alone. */
#include "tests/simulation/postgres_statements.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/instant.h"

/* ---- values ---- */

int64_t postgres_call_number(const struct postgres_call *call, int at)
{
    const char *text = call->message->values[at];

    return text != NULL ? strtoll(text, NULL, 10) : 0;
}

const char *postgres_call_text(const struct postgres_call *call, int at)
{
    const char *text = call->message->values[at];

    return text != NULL ? text : "";
}

const char *postgres_number(struct postgres_digits *out, int64_t number)
{
    (void)snprintf(out->text, sizeof(out->text), "%" PRId64, number);
    return out->text;
}

bool postgres_array_next(const char **at, char out[POSTGRES_TEXT_SIZE])
{
    const char *c = *at;
    size_t len = 0;
    bool is_quoted;

    if (*c == '{' || *c == ',')
        c++;
    if (*c == '}' || *c == '\0')
        return false;
    is_quoted = *c == '"';
    c += is_quoted;
    while (*c != '\0' && (is_quoted ? *c != '"' : *c != ',' && *c != '}')) {
        c += *c == '\\';
        if (len + 1 == POSTGRES_TEXT_SIZE)
            abort();
        out[len++] = *c++;
    }
    out[len] = '\0';
    *at = c + is_quoted;
    return true;
}

bool postgres_array_has(const char *array, const char *wanted)
{
    char element[POSTGRES_TEXT_SIZE];

    while (postgres_array_next(&array, element))
        if (strcmp(element, wanted) == 0)
            return true;
    return false;
}

static bool array_has_number(const char *array, int64_t wanted)
{
    struct postgres_digits digits;

    return postgres_array_has(array, postgres_number(&digits, wanted));
}

/* ---- rows ---- */

struct postgres_voucher *postgres_voucher_of(const struct postgres_call *call, int64_t id)
{
    for (size_t i = 0; i < call->model->voucher_count; i++)
        if (call->model->vouchers[i].id == id)
            return &call->model->vouchers[i];
    return NULL;
}

const struct postgres_voucher_values *postgres_voucher_seen(const struct postgres_call *call,
                                                            const struct postgres_voucher *v)
{
    return v->locked_by != 0 && v->locked_by == call->session->xid ? &v->changed
                                                                   : &v->committed;
}

bool postgres_order_is_seen(const struct postgres_call *call,
                            const struct postgres_order *order)
{
    return !order->is_dead && (order->is_committed || order->xid == call->session->xid);
}

/* ---- about orders ---- */

/* SELECT count(*) ... WHERE voucher_id = $1 AND user_id = $2 */
static enum postgres_run count_earlier(struct postgres_call *call)
{
    int64_t voucher = postgres_call_number(call, 0), user = postgres_call_number(call, 1);
    int64_t count = 0;
    struct postgres_digits digits;

    for (size_t i = 0; i < call->model->order_count; i++) {
        const struct postgres_order *order = &call->model->orders[i];

        count += order->voucher == voucher && order->user == user &&
                 postgres_order_is_seen(call, order);
    }
    postgres_answer_add(call->answer, postgres_number(&digits, count), NULL, NULL);
    return POSTGRES_RAN;
}

static bool has_user_before(const struct postgres_call *call, int64_t user)
{
    for (int row = 0; row < call->answer->rows; row++)
        if (strtoll(call->answer->cells[row], NULL, 10) == user)
            return true;
    return false;
}

/* SELECT DISTINCT user_id ... WHERE voucher_id = $1 AND user_id = ANY($2) */
static enum postgres_run count_earlier_of_batch(struct postgres_call *call)
{
    int64_t voucher = postgres_call_number(call, 0);
    struct postgres_digits digits;

    for (size_t i = 0; i < call->model->order_count; i++) {
        const struct postgres_order *order = &call->model->orders[i];

        if (order->voucher == voucher && postgres_order_is_seen(call, order) &&
            array_has_number(postgres_call_text(call, 1), order->user) &&
            !has_user_before(call, order->user))
            postgres_answer_add(call->answer, postgres_number(&digits, order->user), NULL,
                                NULL);
    }
    return POSTGRES_RAN;
}

static enum postgres_run look_for_duplicates(struct postgres_call *call)
{
    int64_t voucher = postgres_call_number(call, 0);
    struct postgres_digits digits;

    for (size_t i = 0; i < call->model->order_count; i++) {
        const struct postgres_order *order = &call->model->orders[i];

        if (postgres_order_is_seen(call, order) &&
            array_has_number(postgres_call_text(call, 1), order->user) &&
            ((order->voucher == voucher && strcmp(order->duplicate_guard, "unique") == 0) ||
             postgres_array_has(postgres_call_text(call, 2), order->request)))
            postgres_answer_add(call->answer, postgres_number(&digits, order->user), NULL,
                                NULL);
    }
    return POSTGRES_RAN;
}

static void add_order(struct postgres_call *call, const struct postgres_order *order)
{
    struct postgres_digits id, user, voucher;

    postgres_answer_add(call->answer, postgres_number(&id, order->id),
                        postgres_number(&user, order->user),
                        postgres_number(&voucher, order->voucher));
}

static enum postgres_run find_request(struct postgres_call *call)
{
    for (size_t i = 0; i < call->model->order_count; i++) {
        const struct postgres_order *order = &call->model->orders[i];

        if (postgres_order_is_seen(call, order) &&
            order->user == postgres_call_number(call, 0) &&
            strcmp(order->request, postgres_call_text(call, 1)) == 0)
            add_order(call, order);
    }
    return POSTGRES_RAN;
}

static enum postgres_run find_order(struct postgres_call *call)
{
    for (size_t i = 0; i < call->model->order_count; i++)
        if (postgres_order_is_seen(call, &call->model->orders[i]) &&
            call->model->orders[i].id == postgres_call_number(call, 0))
            add_order(call, &call->model->orders[i]);
    return POSTGRES_RAN;
}

/* ---- about vouchers ---- */

/* Every voucher of the model is on offer. */
static enum postgres_run find_window(struct postgres_call *call)
{
    const struct postgres_voucher *v = postgres_voucher_of(call, postgres_call_number(call, 0));
    struct postgres_digits begin, end, now;

    if (v != NULL)
        postgres_answer_add_row(
            call->answer, (const char *[]){postgres_number(&begin, v->begin_us),
                                           postgres_number(&end, v->end_us),
                                           postgres_number(&now, call->model->now_us(
                                                                     call->model->owner)),
                                           "1"});
    return POSTGRES_RAN;
}

/* The answer has only the columns that the statement asks for. */
static enum postgres_run read_voucher(struct postgres_call *call)
{
    const struct postgres_voucher *v = postgres_voucher_of(call, postgres_call_number(call, 0));
    const struct postgres_voucher_values *seen;
    struct postgres_digits stock, version, fence;

    if (v == NULL)
        return POSTGRES_RAN;
    seen = postgres_voucher_seen(call, v);
    postgres_answer_add(call->answer, postgres_number(&stock, seen->stock),
                        postgres_number(&version, seen->version),
                        postgres_number(&fence, seen->fence));
    return POSTGRES_RAN;
}

/* ---- about transactions ---- */

static enum postgres_run ask_status(struct postgres_call *call)
{
    static const char *const names[] = {"in progress", "committed", "aborted"};
    uint64_t xid = strtoull(postgres_call_text(call, 0), NULL, 10);

    if (xid >= call->model->next_xid)
        return postgres_answer_refuse(call->answer, "22023", NULL,
                                      "transaction ID is in the future");
    postgres_answer_add(call->answer, names[postgres_model_end_of(call->model, xid)], NULL,
                        NULL);
    return POSTGRES_RAN;
}

static enum postgres_run give_up(struct postgres_call *call)
{
    uint64_t xid = strtoull(postgres_call_text(call, 1), NULL, 10);
    struct model_session *at = call->model->sessions;

    while (at != NULL && (at->pid != postgres_call_number(call, 0) || at->xid != xid))
        at = at->next;
    if (at == NULL)
        return POSTGRES_RAN;
    postgres_answer_add(call->answer, "t", NULL, NULL);
    model_session_end(call->model, at);
    if (call->model->wake != NULL)
        call->model->wake(at);
    return POSTGRES_RAN;
}

/* The model has no standby. */
static enum postgres_run confirm(struct postgres_call *call)
{
    postgres_answer_add(call->answer, "alone", NULL, NULL);
    return POSTGRES_RAN;
}

/* ---- the list ---- */

#define VOUCHER_READ(columns) \
    "SELECT " columns " FROM tb_seckill_voucher WHERE voucher_id = $1"

static const struct postgres_known readers[] = {
    {"SELECT count(*) FROM tb_voucher_order WHERE voucher_id = $1 AND user_id = $2", 1, false,
     count_earlier, "SELECT"},
    {"SELECT DISTINCT user_id FROM tb_voucher_order"
     " WHERE voucher_id = $1 AND user_id = ANY($2::bigint[])",
     1, false, count_earlier_of_batch, "SELECT"},
    {"SELECT user_id FROM tb_voucher_order WHERE user_id = ANY($2::bigint[])"
     " AND ((voucher_id = $1 AND duplicate_guard = 'unique') OR request_id = ANY($3::text[]))",
     1, false, look_for_duplicates, "SELECT"},
    {"SELECT id, user_id, voucher_id FROM tb_voucher_order"
     " WHERE user_id = $1 AND request_id = $2",
     3, false, find_request, "SELECT"},
    {"SELECT id, user_id, voucher_id FROM tb_voucher_order WHERE id = $1", 3, false,
     find_order, "SELECT"},
    {"SELECT " INSTANT_US("s.begin_time") ", " INSTANT_US("s.end_time")
     ", " INSTANT_US("clock_timestamp()") ", (v.status = 1)::int FROM tb_seckill_voucher s"
     " JOIN tb_voucher v ON v.id = s.voucher_id WHERE s.voucher_id = $1",
     4, false, find_window, "SELECT"},
    {VOUCHER_READ("stock"), 1, false, read_voucher, "SELECT"},
    {VOUCHER_READ("stock, version"), 2, false, read_voucher, "SELECT"},
    {VOUCHER_READ("stock, version, fence"), 3, false, read_voucher, "SELECT"},
    {"SELECT pg_xact_status($1::xid8)", 1, false, ask_status, "SELECT"},
    {"SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
     " WHERE pid = $1 AND backend_xid = $2::xid8::xid"
     " AND wait_event IS DISTINCT FROM 'SyncRep'",
     1, false, give_up, "SELECT"},
    {"SELECT CASE WHEN current_setting('synchronous_standby_names') = ''"
     " OR current_setting('synchronous_commit') IN ('off', 'local') THEN 'alone'"
     " WHEN EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep')"
     " THEN 'waits' ELSE pg_logical_emit_message(true, 'seckill', 'confirm')::text END",
     1, false, confirm, "SELECT"},
};

const struct postgres_known *postgres_statement_find(const char *sql)
{
    for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++)
        if (strcmp(readers[i].sql, sql) == 0)
            return &readers[i];
    return postgres_writer_find(sql);
}
