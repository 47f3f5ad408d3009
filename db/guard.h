/* SPDX-License-Identifier: MIT */
/* guard.h -- the contract for guards, which protect the data in the database, apart
 * from the locks.
 *
 * A stock guard keeps the stock.  One file per stock guard in db/guards/, one line per
 * stock guard in guards.def.  A stock guard is two statements, so that the laboratory can
 * make time pass between them: one reads the stock, one takes units.  sale.c runs them
 * inside a transaction that it begins and ends.
 *
 * A duplicate guard refuses the second order of one user; sale.c has all of them.
 */
#ifndef DB_GUARD_H
#define DB_GUARD_H

#include "db/sale_types.h"

struct stock_guard {
    const char *name; /* MUST: the value of --stock-guard, and the file's name */
    const char *does; /* MUST: one line */
    /* MAY: the guard needs a lock with fences that covers the whole voucher.  The
     * fences of two different locks cannot be compared. */
    bool needs_fence;
    /* MAY be NULL: the guard does not read before it writes.  Otherwise the statement
     * answers one row of the voucher: stock, version, and perhaps the fence that the
     * row was written under.  A stock below one means sold out. */
    const struct sale_statement *read;
    /* MUST: take SALE_VALUE_UNITS units, all or none of them, and raise `version`, which
     * shows the write to processes under another guard.  It answers one row with the
     * transaction's number; no row: it took none. */
    const struct sale_statement *take;
    /* MAY: a take of none means that another sale was faster, so the guard reads and
     * takes again.  Without this, a take of none means that no unit is left.  Needs
     * `read`. */
    bool retries;
    /* MAY: after a take of none and a second read, is the sale refused because a later
     * holder of the lock has written? */
    bool (*is_stale)(const struct sale *sale);
};

/* Each guard by its name, such as guard_row_lock, for comparisons by address. */
#define GUARD(id) extern const struct stock_guard guard_##id;
#include "db/guards.def"
#undef GUARD

/* The guard at index `i`, from 0, in the order of guards.def; NULL past the last.  The
 * guard of that name; NULL: there is none. */
const struct stock_guard *guard_at(size_t i);
const struct stock_guard *guard_find(const char *name);
/* The name of the guard at index `i`; NULL past the last.  For a setting's choices. */
const char *guard_name_at(size_t i);

/* The same for duplicate guards.  False: there is none of that name. */
bool duplicate_guard_find(const char *name, enum duplicate_guard *out);
const char *duplicate_guard_name_at(size_t i);

#endif /* DB_GUARD_H */
