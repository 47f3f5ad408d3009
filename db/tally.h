/* SPDX-License-Identifier: MIT */
/* tally.h -- the counts of an audit, read while the sale goes on. */
#ifndef DB_TALLY_H
#define DB_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "db/lab_db.h"

/* All fields are of one instant. */
struct tally {
    int64_t issued, left;    /* as issued; as the voucher's row has it now */
    uint64_t fence;          /* the highest fence under which the row was written */
    int64_t orders, doubles; /* all orders; those whose user has an earlier order of the
                              * voucher                                                 */
};

/* The orders that were counted and need not be counted again.  Begins as {0}: none. */
struct tally_kept {
    int64_t below; /* the highest order number that the kept counts include             */
    int64_t orders, doubles; /* the kept counts                                         */
    int64_t last_doubles; /* of all orders, as last counted                             */
};

/* The orders that are counted.  Orders of the last two seconds are always counted
 * again, since a transaction may commit up to two seconds after it drew its number.  If
 * a transaction takes longer, its order is missing in the kept counts, and only
 * TALLY_ALL finds it. */
enum tally_scope {
    TALLY_NEW_ORDERS, /* those that are not kept; the doubles are the last ones           */
    TALLY_NEW,        /* the same, and the doubles among them: ten times the work         */
    TALLY_ALL,        /* all                                                              */
};

/* Count the orders of a voucher into *out, and update *kept, unless the scope is
 * TALLY_NEW_ORDERS. False: no answer, or no such voucher, and lab_db_error() says
 * which; *kept and *out are unchanged. */
bool tally_read(lab_db *db, int64_t voucher, enum tally_scope scope, struct tally_kept *kept,
                struct tally *out);

/* Count the orders of a voucher that were written under this fence.  False:
 * lab_db_error() has the reason. */
bool tally_under_fence(lab_db *db, int64_t voucher, uint64_t fence, int64_t *orders);

#endif /* DB_TALLY_H */
