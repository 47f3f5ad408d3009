/* SPDX-License-Identifier: MIT */
/* tally.h -- how a sale stands, asked while it goes on: the counts of an audit, and no more. */
#ifndef DB_TALLY_H
#define DB_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "db/lab_db.h"

/* All of it of one instant. */
struct tally {
    int64_t issued, left; /* as issued; as the voucher's row says now                   */
    uint64_t fence;       /* the highest that the row was written under                 */
    int64_t orders, doubles; /* orders above `after`; those of them whose user has an
                              * earlier order of the voucher                            */
    int64_t older, older_doubles; /* the part of both up to `horizon`                   */
    int64_t horizon;      /* the numbers of orders that are made from two seconds ago on
                           * are above it                                               */
};

/* Count the orders of a voucher whose numbers are above `after`; 0: all.  A transaction that
 * drew its number long before it commits can leave an order below a horizon that was read
 * earlier: only a count after 0 is complete.  False: no answer, or no such voucher, and
 * lab_db_error() says so. */
bool tally_read(lab_db *db, int64_t voucher, int64_t after, struct tally *out);

/* Count the orders of a voucher that were written under this fence. */
bool tally_under_fence(lab_db *db, int64_t voucher, uint64_t fence, int64_t *orders);

#endif /* DB_TALLY_H */
