/* SPDX-License-Identifier: MIT */
/* postgres_writers.c -- the statements that lock, change and insert rows, in the model of
 * PostgreSQL.
 *
 * A statement first looks at the version of the row that it sees. If this version does not fit its
 * WHERE, the statement does not wait. If it fits and another transaction has locked the row, the
 * statement waits, and then checks the version that the other transaction has left, as READ
 * COMMITTED does. */
#include "tests/simulation/postgres_statements.h"

#include <stdlib.h>
#include <string.h>

#include "db/instant.h"

/* ---- the voucher's row ---- */

/* Does the row fit the WHERE? If so, write its changed values. NULL: the row is only locked. */
typedef bool change_fits(const struct postgres_call *call,
                         const struct postgres_voucher_values *seen);
typedef void change_make(const struct postgres_call *call,
                         struct postgres_voucher_values *changed);

/* Lock the row that fits, and store it in *out; NULL: no row fits. */
static enum postgres_run lock_row(struct postgres_call *call, change_fits *fits,
                                  struct postgres_voucher **out)
{
    struct postgres_voucher *v = postgres_voucher_of(call, postgres_call_number(call, 0));

    *out = NULL;
    if (v == NULL)
        return POSTGRES_RAN;
    if (!call->session->has_waited && fits != NULL &&
        !fits(call, postgres_voucher_seen(call, v)))
        return POSTGRES_RAN;
    (void)postgres_call_xid(call);
    if (v->locked_by != 0 && v->locked_by != call->session->xid) {
        call->session->waits_for = v->locked_by;
        return POSTGRES_MUST_WAIT;
    }
    if (fits != NULL && !fits(call, postgres_voucher_seen(call, v)))
        return POSTGRES_RAN;
    if (v->locked_by == 0)
        v->changed = v->committed;
    v->locked_by = call->session->xid;
    *out = v;
    return POSTGRES_RAN;
}

static enum postgres_run update(struct postgres_call *call, change_fits *fits,
                                change_make *make)
{
    struct postgres_voucher *v;
    struct postgres_digits xid;
    enum postgres_run run = lock_row(call, fits, &v);

    if (v == NULL)
        return run;
    make(call, &v->changed);
    postgres_answer_add(call->answer, postgres_number(&xid, (int64_t)call->session->xid), NULL,
                        NULL);
    return run;
}

static enum postgres_run read_for_update(struct postgres_call *call)
{
    struct postgres_voucher *v;
    struct postgres_digits stock, version;
    enum postgres_run run = lock_row(call, NULL, &v);

    if (v != NULL)
        postgres_answer_add(call->answer, postgres_number(&stock, v->changed.stock),
                            postgres_number(&version, v->changed.version), NULL);
    return run;
}

static void count_down(const struct postgres_call *call, struct postgres_voucher_values *to)
{
    to->stock -= postgres_call_number(call, 1);
}

static bool has_units(const struct postgres_call *call,
                      const struct postgres_voucher_values *seen)
{
    return seen->stock >= postgres_call_number(call, 1);
}

static enum postgres_run conditional(struct postgres_call *call)
{
    return update(call, has_units, count_down);
}

static enum postgres_run decrement(struct postgres_call *call)
{
    return update(call, NULL, count_down);
}

static void set_stock(const struct postgres_call *call, struct postgres_voucher_values *to)
{
    to->stock = postgres_call_number(call, 1);
}

static enum postgres_run write_stock(struct postgres_call *call)
{
    return update(call, NULL, set_stock);
}

static bool has_version(const struct postgres_call *call,
                        const struct postgres_voucher_values *seen)
{
    return seen->version == postgres_call_number(call, 1);
}

static void set_stock_and_version(const struct postgres_call *call,
                                  struct postgres_voucher_values *to)
{
    to->stock = postgres_call_number(call, 2);
    to->version++;
}

static enum postgres_run compare_and_set(struct postgres_call *call)
{
    return update(call, has_version, set_stock_and_version);
}

static bool has_fence_and_version(const struct postgres_call *call,
                                  const struct postgres_voucher_values *seen)
{
    return seen->fence <= postgres_call_number(call, 1) &&
           seen->version == postgres_call_number(call, 2);
}

static void set_all(const struct postgres_call *call, struct postgres_voucher_values *to)
{
    to->stock = postgres_call_number(call, 3);
    to->version++;
    to->fence = postgres_call_number(call, 1);
}

static enum postgres_run write_fenced(struct postgres_call *call)
{
    return update(call, has_fence_and_version, set_all);
}

/* ---- orders' rows ---- */

static bool have_one_key(const struct postgres_order *a, const struct postgres_order *b,
                         int index)
{
    switch (index) {
    case 0:
        return a->id == b->id;
    case 1:
        return a->user == b->user && strcmp(a->request, b->request) == 0;
    default:
        return a->voucher == b->voucher && a->user == b->user &&
               strcmp(a->duplicate_guard, "unique") == 0 &&
               strcmp(b->duplicate_guard, "unique") == 0;
    }
}

static enum postgres_run refuse_key(struct postgres_call *call, int index)
{
    static const char *const names[POSTGRES_INDEXES] = {
        "tb_voucher_order_pkey", "orders_one_per_request", "orders_one_per_user"};

    return postgres_answer_refuse(call->answer, "23505", names[index],
                                  "duplicate key value violates unique constraint");
}

/* Put the row into one unique index after the other. If another transaction has a row with the same
 * key and is still open, wait for its end. */
static enum postgres_run index_row(struct postgres_call *call, size_t at)
{
    struct postgres_order *rows = call->model->orders;

    for (; rows[at].indexed < POSTGRES_INDEXES; rows[at].indexed++)
        for (size_t i = 0; i < call->model->order_count; i++) {
            int index = rows[at].indexed;

            if (i == at || rows[i].is_dead || rows[i].indexed <= index ||
                !have_one_key(&rows[i], &rows[at], index))
                continue;
            if (rows[i].is_committed || rows[i].xid == call->session->xid)
                return refuse_key(call, index);
            call->session->waits_for = rows[i].xid;
            return POSTGRES_MUST_WAIT;
        }
    return POSTGRES_RAN;
}

/* Compute the number of an order as db/schema.sql does. */
static int64_t next_order_id(struct postgres_call *call)
{
    int64_t now_s = (call->model->now_us(call->model->owner) + 500000) / 1000000;

    return (int64_t)((uint64_t)(now_s - 1640995200) << 32 |
                     ((uint64_t)++call->model->order_number & 4294967295));
}

static void keep(char *out, size_t size, const char *text)
{
    if (strlen(text) >= size)
        abort();
    memcpy(out, text, strlen(text) + 1);
}

/* Add the row, without an entry in an index. */
static void add_row(struct postgres_call *call, struct postgres_order order)
{
    struct postgres_model *model = call->model;

    if (model->order_count == model->order_room) {
        model->order_room = model->order_room * 2 + 64;
        model->orders = realloc(model->orders, model->order_room * sizeof(*model->orders));
        if (model->orders == NULL)
            abort();
    }
    if (order.id == 0)
        order.id = next_order_id(call);
    order.xid = postgres_call_xid(call);
    order.created_us = call->session->began_us;
    model->orders[model->order_count++] = order;
    call->session->inserted = model->order_count;
}

/* Index the row that was added last, or wait for another transaction; then go on with the next
 * row. */
static enum postgres_run end_row(struct postgres_call *call)
{
    enum postgres_run run = index_row(call, call->session->inserted - 1);

    if (run == POSTGRES_RAN) {
        call->session->inserted = 0;
        call->session->row++;
    }
    return run;
}

static enum postgres_run insert(struct postgres_call *call)
{
    struct postgres_order order = {.user = postgres_call_number(call, 0),
                                   .voucher = postgres_call_number(call, 1),
                                   .fence = postgres_call_number(call, 7),
                                   .admitted_us = postgres_call_number(call, 8),
                                   .id = postgres_call_number(call, 9)};
    struct postgres_digits id;
    size_t at;
    enum postgres_run run;

    keep(order.request, sizeof(order.request), postgres_call_text(call, 2));
    keep(order.lock_variant, sizeof(order.lock_variant), postgres_call_text(call, 3));
    keep(order.stock_guard, sizeof(order.stock_guard), postgres_call_text(call, 4));
    keep(order.duplicate_guard, sizeof(order.duplicate_guard), postgres_call_text(call, 5));
    keep(order.process, sizeof(order.process), postgres_call_text(call, 6));
    if (call->session->inserted == 0)
        add_row(call, order);
    at = call->session->inserted - 1;
    run = end_row(call);
    if (run == POSTGRES_RAN)
        postgres_answer_add(call->answer,
                            postgres_number(&id, call->model->orders[at].id), NULL, NULL);
    return run;
}

/* Read the row at the session's index from the arrays. Returns false if the arrays have no such
 * row. */
static bool read_row(const struct postgres_call *call, struct postgres_order *order)
{
    const char *columns[5];
    char cells[5][POSTGRES_TEXT_SIZE];

    for (int i = 0; i < 5; i++) {
        columns[i] = postgres_call_text(call, 5 + i);
        for (size_t row = 0; row <= call->session->row; row++)
            if (!postgres_array_next(&columns[i], cells[i]))
                return false;
    }
    *order = (struct postgres_order){.user = strtoll(cells[0], NULL, 10),
                                     .voucher = postgres_call_number(call, 0),
                                     .fence = strtoll(cells[2], NULL, 10),
                                     .admitted_us = strtoll(cells[3], NULL, 10),
                                     .id = strtoll(cells[4], NULL, 10)};
    keep(order->request, sizeof(order->request), cells[1]);
    keep(order->lock_variant, sizeof(order->lock_variant), postgres_call_text(call, 1));
    keep(order->stock_guard, sizeof(order->stock_guard), postgres_call_text(call, 2));
    keep(order->duplicate_guard, sizeof(order->duplicate_guard), postgres_call_text(call, 3));
    keep(order->process, sizeof(order->process), postgres_call_text(call, 4));
    return true;
}

/* Answer with the rows of this statement, which are the last rows of its transaction. */
static void answer_rows(struct postgres_call *call, size_t count)
{
    const struct postgres_model *model = call->model;
    size_t at = model->order_count, left = count;
    struct postgres_digits id, user;

    while (left > 0)
        left -= model->orders[--at].xid == call->session->xid;
    for (; at < model->order_count; at++)
        if (model->orders[at].xid == call->session->xid)
            postgres_answer_add(call->answer, postgres_number(&id, model->orders[at].id),
                                postgres_number(&user, model->orders[at].user),
                                model->orders[at].request);
}

static enum postgres_run insert_batch(struct postgres_call *call)
{
    struct postgres_order order;

    while (call->session->inserted != 0 || read_row(call, &order)) {
        enum postgres_run run;

        if (call->session->inserted == 0)
            add_row(call, order);
        run = end_row(call);
        if (run != POSTGRES_RAN)
            return run;
    }
    answer_rows(call, call->session->row);
    return POSTGRES_RAN;
}

/* ---- the list ---- */

#define VOUCHER_WRITE(set, where) \
    "UPDATE tb_seckill_voucher SET " set " WHERE voucher_id = $1" where \
    " RETURNING pg_current_xact_id()"

static const struct postgres_known writers[] = {
    {"SELECT stock, version FROM tb_seckill_voucher WHERE voucher_id = $1 FOR UPDATE", 2, true,
     read_for_update, "SELECT"},
    {VOUCHER_WRITE("stock = stock - $2", " AND stock >= $2"), 1, true, conditional, "UPDATE"},
    {VOUCHER_WRITE("stock = stock - $2", ""), 1, true, decrement, "UPDATE"},
    {VOUCHER_WRITE("stock = $2", ""), 1, true, write_stock, "UPDATE"},
    {VOUCHER_WRITE("stock = $3, version = version + 1", " AND version = $2"), 1, true,
     compare_and_set, "UPDATE"},
    {VOUCHER_WRITE("stock = $4, version = version + 1, fence = $2",
                   " AND fence <= $2 AND version = $3"),
     1, true, write_fenced, "UPDATE"},
    {"INSERT INTO tb_voucher_order (user_id, voucher_id, request_id, lock_variant,"
     " stock_guard, duplicate_guard, process, fence, admitted_at, id)"
     " VALUES ($1, $2, $3, $4, $5, $6, $7, nullif($8::bigint, 0),"
     " " INSTANT_OF_US("nullif($9::bigint, 0)") ","
     " coalesce(nullif($10::bigint, 0), next_order_id())) RETURNING id",
     1, true, insert, "INSERT"},
    {"INSERT INTO tb_voucher_order (user_id, voucher_id, request_id, lock_variant,"
     " stock_guard, duplicate_guard, process, fence, admitted_at, id)"
     " SELECT o.user_id, $1, o.request_id, $2, $3, $4, $5, nullif(o.fence, 0),"
     " " INSTANT_OF_US("nullif(o.admitted_us, 0)")
     ", coalesce(nullif(o.drawn_id, 0), next_order_id())"
     " FROM unnest($6::bigint[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[])"
     " AS o (user_id, request_id, fence, admitted_us, drawn_id)"
     " RETURNING id, user_id, request_id",
     3, true, insert_batch, "INSERT"},
};

const struct postgres_known *postgres_writer_find(const char *sql)
{
    for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++)
        if (strcmp(writers[i].sql, sql) == 0)
            return &writers[i];
    return NULL;
}
