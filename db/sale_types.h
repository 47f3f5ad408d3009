/* SPDX-License-Identifier: MIT */
/* sale_types.h -- the types of a sale: its terms, its state, the parameters of its
 * statements. */
#ifndef DB_SALE_TYPES_H
#define DB_SALE_TYPES_H

#include "db/conn.h"

struct stock_guard;

enum { DB_XID_MAX = 24 }; /* a transaction's number in digits, and the NUL */

/* The guards against a second order of one user: id, the value of --duplicate-guard. */
#define DUPLICATE_GUARDS(X)                                                            \
    X(NONE, "none")                                                                    \
    X(COUNT, "count")                                                                  \
    X(UNIQUE, "unique")

enum duplicate_guard {
#define X(id, name) DUPLICATE_GUARD_##id,
    DUPLICATE_GUARDS(X)
#undef X
};

/* The answers of a sale: id, the name of the answer in the record of writes.
 *   SOLD        committed; sale->order_id is the order's number
 *   SOLD_OUT    no unit was left
 *   COUNTED     the count found an earlier order of the user
 *   DUPLICATE   the unique index found one
 *   REPEATED    the user has an order under the request's id
 *   STALE       a later holder of the lock has written
 *   BUSY        other sales were faster too many times
 *   GIVEN_UP    the watcher answered false
 *   UNSURE      COMMIT was sent, and no answer came: order_settle() finds out the
 *               outcome
 *   FAILED      sale->status and db_error() say why
 * After all but SOLD and UNSURE nothing was sold and nothing will be.  After FAILED the
 * transaction may be open: the caller calls sale_cancel(). */
#define SALE_ANSWERS(X)                                                                \
    X(SOLD, "accepted")                                                                \
    X(SOLD_OUT, "sold-out")                                                            \
    X(COUNTED, "duplicate")                                                            \
    X(DUPLICATE, "duplicate")                                                          \
    X(REPEATED, "conflict")                                                            \
    X(STALE, "stale")                                                                  \
    X(BUSY, "lock-busy")                                                               \
    X(GIVEN_UP, "unavailable")                                                         \
    X(UNSURE, "unknown")                                                               \
    X(FAILED, "unavailable")

enum sale_answer {
#define X(id, name) SALE_##id,
    SALE_ANSWERS(X)
#undef X
};

/* The name of an answer in the record of writes and in the outcome of a service. */
const char *sale_answer_name(enum sale_answer answer);

/* The terms that all sales of a process share. */
struct sale_terms {
    const struct stock_guard *stock_guard;
    enum duplicate_guard duplicate_guard;
    const char *lock_variant; /* as it is written into the order's row */
    const char *process;      /* the same */
};

/* The sale of a unit to a user.  The caller fills in the first part, and keeps its
 * texts until the sale has ended. */
struct sale {
    const struct sale_terms *terms;
    int64_t user_id;
    int64_t voucher_id;
    const char *request_id;
    int64_t admitted_us;   /* the instant at which the sale's window was checked, in
                            * microseconds since 1970 by the database's clock; 0: it was
                            * not checked */
    int64_t fence;         /* of the lease under which the unit is sold; 0: none */
    const char *lock_name; /* for the record of writes; NULL: none is kept */
    int64_t drawn_id;      /* the number that the order is to have, drawn before the sale; 0:
                            * the database draws one */

    int64_t units;         /* to take: 1, or as many as the orders of a batch */
    int64_t stock;         /* as read; untouched by a guard that does not read */
    int64_t version;       /* the same */
    int64_t row_fence;     /* the same: the fence under which the voucher's row was
                            * written */
    bool begins;           /* BEGIN is sent with the take */
    int backend_pid;       /* the server process that COMMIT was sent to */
    char xid[DB_XID_MAX];  /* the transaction's number, once a unit is taken */
    int64_t order_id;
    enum sale_answer answer;
    enum db_status status;
    enum db_status record_status; /* not OK: a refusal is missing in the record */
    const char *decided_by;       /* the guard that decided the answer, for the
                                   * record */
};

/* The parameters of the statements that sell: id, the name in pgbench's script, the
 * type, and the field of the sale. */
#define SALE_VALUES(X)                                                                 \
    X(USER, "user", INT, sale->user_id)                                                \
    X(VOUCHER, "voucher", INT, sale->voucher_id)                                       \
    X(REQUEST, "request", TEXT, sale->request_id)                                      \
    X(LOCK_VARIANT, "lock_variant", TEXT, sale->terms->lock_variant)                   \
    X(STOCK_GUARD, "stock_guard", TEXT, sale->terms->stock_guard->name)                \
    X(DUPLICATE_GUARD, "duplicate_guard", TEXT,                                        \
      duplicate_guard_name_at(sale->terms->duplicate_guard))                           \
    X(PROCESS, "process", TEXT, sale->terms->process)                                  \
    X(FENCE, "fence", INT, sale->fence)                                                \
    X(ADMITTED, "admitted_us", INT, sale->admitted_us)                                 \
    X(DRAWN, "drawn_id", INT, sale->drawn_id)                                          \
    X(VERSION, "version", INT, sale->version)                                          \
    X(UNITS, "units", INT, sale->units)                                                \
    X(STOCK_LEFT, "stock_left", INT, sale->stock - sale->units)                        \
    X(LOCK_NAME, "lock_name", TEXT, sale->lock_name)                                   \
    X(DECIDED_BY, "decided_by", TEXT, sale->decided_by)                                \
    X(OUTCOME, "outcome", TEXT, sale_answer_name(sale->answer))

enum sale_value {
#define X(id, name, type, where) SALE_VALUE_##id,
    SALE_VALUES(X)
#undef X
};

enum { SALE_STATEMENT_VALUES_MAX = 12 };

/* A statement, and the value of each of its parameters. */
struct sale_statement {
    struct postgres_statement sql;
    enum sale_value values[SALE_STATEMENT_VALUES_MAX];
};

#endif /* DB_SALE_TYPES_H */
