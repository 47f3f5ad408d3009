/* SPDX-License-Identifier: MIT */
/* books.h -- compares the answers to the buyers with the rows of the database, by its
 * own SQL.
 *
 * Threads     The main thread of the test.
 */
#ifndef TESTS_PROOF_BOOKS_H
#define TESTS_PROOF_BOOKS_H

#include <stdint.h>

struct books {
    int64_t accepted, queued, refused, open; /* requests, by the knowledge of their buyers */
    int64_t rows;                            /* orders of both vouchers */
    int64_t broken; /* queued requests without a row of the number in their answer */
    char broken_example[64]; /* the request of a broken promise */
};

/* Call after buyers_stop(), when no service runs. Waits until no transaction of a service is open,
 * and compares. Broken promises are counted; the test fails with an example unless
 *   - every accepted request has exactly one row, with the number in its answer;
 *   - no refused request has a row;
 *   - every row is of a request that a buyer has sent, for that user and voucher;
 *   - no user has two rows of a voucher;
 *   - stock left and rows add up to what was issued, and the stock is not negative;
 *   - the record of writes has one accepted line for each row, and no other. */
struct books books_audit(const int64_t vouchers[2], const int64_t issued[2]);

#endif /* TESTS_PROOF_BOOKS_H */
