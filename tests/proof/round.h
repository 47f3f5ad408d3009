/* SPDX-License-Identifier: MIT */
/* round.h -- a sale that something is broken in: two services sell two vouchers on an order
 * path to the buyers of buyers.h, and the books are compared at the end.
 *
 * Each function fails the running test when it cannot do its work.
 *
 * Threads     The test's main one.
 */
#ifndef TESTS_PROOF_ROUND_H
#define TESTS_PROOF_ROUND_H

#include "tests/proof/buyers.h"

enum { ROUND_ORDERS = 100 }; /* so many are awaited before and after a fault */

/* May a fault lose orders that were queued and have no row yet? */
enum round_promises { ROUND_KEEPS, ROUND_BREAKS };

struct round {
    int number;
    const char *database_flag; /* another way to PostgreSQL; NULL: the lab's */
    int64_t vouchers[2], issued[2];
    struct rig_service services[BUYERS_SERVICES];
};

/* The one that goes on. */
extern struct round round_now;

/* The order paths that are proved, by number; NULL past the last. */
const char *round_path_at(int i);

/* From now on orders take this path. */
void round_choose_path(int i);

/* Are orders of the path queued: promised first, and written later? */
bool round_is_queued(void);

/* Begin the round of that number, whose lock and guards are drawn by it, and wait for the
 * first orders; `forgets`: its Redis will lose its data, so nobody sells by the fence. */
void round_begin(int number, bool forgets);

/* Start one of the services anew, after it was killed, and let the buyers know. */
void round_restart_service(int i);

/* Wait until orders of the first voucher wait in the stream that no writer has in its hands.
 * The row of the voucher is held until round_let_writers_go(). */
void round_stop_writers(void);
void round_let_writers_go(void);

/* Wait until orders cannot be written any more: their buyers are told to come again, or they
 * wait in the stream. */
void round_await_trouble(const char *when);

/* Wait for orders after the fault, stop the buyers, wait until no order is queued, stop the
 * services, and compare.  With ROUND_BREAKS a queued order must have lost its row, and with
 * ROUND_KEEPS none; all else has to be exact. */
void round_end(const char *fault, enum round_promises promises);

#endif /* TESTS_PROOF_ROUND_H */
