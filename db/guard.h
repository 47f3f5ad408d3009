/* SPDX-License-Identifier: MIT */
/* guard.h -- the contract for guards: what protects the data apart from the locks.
 *
 * A stock guard keeps the stock.  One file per stock guard in db/guards/, one line per
 * stock guard in guards.def.  A stock guard is two statements, so that the laboratory can
 * make time pass between them: one reads the stock, one takes units.  sale.c runs them
 * inside a transaction that it begins and ends.
 *
 * A duplicate guard keeps the second order of one user away; sale.c knows all of them.
 */
#ifndef DB_GUARD_H
#define DB_GUARD_H

#include "db/sale_types.h"

struct stock_guard {
    const char *name; /* MUST: the value of --stock-guard, and the file's name */
    const char *does; /* MUST: one line */
    /* MAY: it is of use only under a lock that hands out fences, and one for the whole
     * voucher: the fences of two locks say nothing about each other. */
    bool needs_fence;
    /* MAY be NULL: a guard that looks at nothing before it writes.  Else one row of the
     * voucher: stock, version, and perhaps the fence that the row was written under.  Less
     * than one in stock means sold out. */
    const struct sale_statement *read;
    /* MUST: take SALE_VALUE_UNITS units, all or none of them.  One row with the
     * transaction's number; no row: it took none. */
    const struct sale_statement *take;
    /* MAY: what took none has lost a race, so the guard reads and takes again.  Without it
     * what took none found none.  Needs `read`. */
    bool retries;
    /* MAY: may the sale be refused for good, by what was read again? */
    bool (*is_stale)(const struct sale *sale);
};

/* Each by its name, as guard_row_lock: to compare with, instead of names. */
#define GUARD(id) extern const struct stock_guard guard_##id;
#include "db/guards.def"
#undef GUARD

/* The guards in the order of guards.def; NULL past the last, or if there is none. */
const struct stock_guard *guard_at(size_t i);
const struct stock_guard *guard_find(const char *name);
/* The name of the `i`th, NULL past the last: what a setting may choose from. */
const char *guard_name_at(size_t i);

/* The same of the duplicate guards.  False: there is none of that name. */
bool duplicate_guard_find(const char *name, enum duplicate_guard *out);
const char *duplicate_guard_name_at(size_t i);

#endif /* DB_GUARD_H */
