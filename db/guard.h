/* SPDX-License-Identifier: MIT */
/* guard.h -- the contract for stock guards, which protect the stock apart from locks.
 *
 * One file per guard in db/guards/, one line per guard in guards.def.  A guard works
 * inside a transaction that somebody else begins and ends.  It has two steps, so that
 * the laboratory can make time pass between them: first the stock is read, then taken.
 */
#ifndef DB_GUARD_H
#define DB_GUARD_H

#include "db/conn.h"

enum { DB_XID_MAX = 24 }; /* a transaction's number in digits, and the NUL */

/* One unit of one voucher, on its way to be sold. */
struct guard_sale {
    int64_t voucher_id;
    int64_t stock;         /* as read; untouched by guards that do not read */
    int64_t version;       /* the same */
    int64_t fence;         /* of the lease that it is sold under; 0: there is none */
    bool begins;           /* the take sends BEGIN ahead of its first statement */
    char xid[DB_XID_MAX];  /* set by the take: the transaction's number */
    enum db_status status; /* set when the answer is GUARD_FAILED */
};

enum guard_answer {
    GUARD_TAKEN,    /* one unit is written off in this transaction */
    GUARD_SOLD_OUT, /* there was none; nothing is written */
    GUARD_BUSY,     /* others were faster too many times; nothing is written */
    GUARD_STALE,    /* a later holder of the lock has written; nothing is written */
    GUARD_FAILED,   /* the database failed: sale->status */
};

struct stock_guard {
    const char *name; /* MUST: the value of --stock-guard, and the file's name */
    const char *does; /* MUST: one line */
    /* MAY: it is of use only under a lock that hands out fences, and one for the whole
     * voucher: the fences of two locks say nothing about each other. */
    bool needs_fence;
    /* MAY be NULL: a guard that looks at nothing before it writes.  Else one row of
     * stock and version for the voucher $1; less than one in stock means sold out. */
    const struct db_statement *read;
    /* MUST: take one unit. */
    enum guard_answer (*take)(struct db_conn *db, struct guard_sale *sale);
};

/* BEGIN: the first statement of every sale. */
extern const struct db_statement guard_begin;

/* Run a take that answers the transaction's number in one row, or no row if it found
 * nothing to take.  If sale->begins, BEGIN goes ahead in the same round trip, and
 * sale->begins is false afterwards.  TAKEN, SOLD_OUT or FAILED. */
enum guard_answer guard_take_row(struct db_conn *db, const struct db_statement *take,
                                 const struct db_value *values,
                                 struct guard_sale *sale);

/* The guards in the order of guards.def; NULL past the last, or if there is none. */
const struct stock_guard *guard_at(size_t i);
const struct stock_guard *guard_find(const char *name);
/* The name of the `i`th, NULL past the last: what a setting may choose from. */
const char *guard_name_at(size_t i);

#endif /* DB_GUARD_H */
