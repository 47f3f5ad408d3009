/* SPDX-License-Identifier: MIT */
/* books.h -- compares the answers to the buyers with the rows of the database, by its
 * own SQL.
 *
 * Threads     The test's main one.
 */
#ifndef TESTS_PROOF_BOOKS_H
#define TESTS_PROOF_BOOKS_H

#include <stdint.h>

struct books {
    int64_t accepted, queued, refused, open; /* requests, by what their buyers know */
    int64_t rows;                            /* orders of both vouchers */
    int64_t broken; /* queued requests without a row of the number that the buyer was told */
    char broken_example[64]; /* the request of one of them */
};

/* After buyers_stop(), when no service runs: wait until no transaction of a service is open, and
 * compare.  Promises that are broken are counted; the test fails with an example unless
 *   - every accepted request has exactly one row, with the number that its buyer was told;
 *   - no refused request has a row;
 *   - every row is of a request that a buyer has sent, for that user and voucher;
 *   - nobody has two rows of a voucher;
 *   - stock left and rows add up to what was issued, and the stock is not negative;
 *   - the record of writes has one accepted line for each row, and no other. */
struct books books_audit(const int64_t vouchers[2], const int64_t issued[2]);

#endif /* TESTS_PROOF_BOOKS_H */
