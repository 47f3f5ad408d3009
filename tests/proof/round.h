/* SPDX-License-Identifier: MIT */
/* round.h -- a sale with a fault: two services sell two vouchers on an order path to the buyers of
 * buyers.h, and books.h compares their answers with the rows at the end.
 *
 * Each function fails the running test when it cannot do its work.
 *
 * Threads     The main thread of the test.
 */
#ifndef TESTS_PROOF_ROUND_H
#define TESTS_PROOF_ROUND_H

#include "tests/proof/buyers.h"

enum { ROUND_ORDERS = 100 }; /* the orders that are awaited before and after a fault */

/* May a fault lose orders that were queued and have no row yet? */
enum round_promises { ROUND_KEEPS, ROUND_BREAKS };

struct round {
    int number;
    const char *database_flag; /* a flag with another URL of PostgreSQL; NULL: the lab's URL */
    int64_t vouchers[2], issued[2];
    struct rig_service services[BUYERS_SERVICES];
};

/* The round that goes on now. */
extern struct round round_now;

/* The name of the order path number `i`; NULL behind the last one. */
const char *round_path_at(int i);

/* Use this order path from now on. */
void round_choose_path(int i);

/* Does the order path queue orders, and write their rows later? */
bool round_is_queued(void);

/* Begin the round of that number, from which its lock and guards are drawn, and wait for the first
 * orders. `forgets`: the round's Redis will lose its data, so no round with `forgets` uses the
 * fence. */
void round_begin(int number, bool forgets);

/* Start a killed service again, and tell the buyers its port. */
void round_restart_service(int i);

/* Hold the row of the first voucher until round_let_writers_go(), and wait until orders of it wait
 * in the stream that no writer has taken. */
void round_stop_writers(void);
void round_let_writers_go(void);

/* Wait until orders cannot be written any more: either their buyers are told to come again, or the
 * orders wait in the stream. */
void round_await_trouble(const char *when);

/* Wait for orders after the fault, stop the buyers, wait until no order is queued, stop the
 * services, and compare. With ROUND_BREAKS at least one queued order must have lost its row, and
 * with ROUND_KEEPS none. Everything else has to match in both cases. */
void round_end(const char *fault, enum round_promises promises);

#endif /* TESTS_PROOF_ROUND_H */
