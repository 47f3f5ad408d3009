/* SPDX-License-Identifier: MIT */
/* buyers.h -- threads that order at two services, and keep every request and its
 * answer.
 *
 * Two buyers at a time ask for the same user, so that only one of them may get the order.
 * Some hang up without waiting for their answer.  Of the requests whose fate is open, some
 * are sent again under the same id, and the others are left.
 *
 * Threads     The test's main one; each buyer has a thread of its own.
 */
#ifndef TESTS_PROOF_BUYERS_H
#define TESTS_PROOF_BUYERS_H

#include "tests/service/rig.h"

enum { BUYERS_COUNT = 24, BUYERS_SERVICES = 2 };

/* The state of a request as its buyer knows it. */
enum buyers_told {
    TOLD_OPEN,     /* no answer, or one that says `unknown` */
    TOLD_ACCEPTED, /* an order, whose number came with the answer */
    TOLD_REFUSED,  /* the first and only answer says that nothing was sold */
    TOLD_QUEUED,   /* a promise of an order, whose number came with the answer */
};

struct buyers_request {
    int64_t voucher, user, order_id;
    char id[64];
    enum buyers_told told;
};

/* Begin to order the two vouchers at services on these ports. */
void buyers_start(const int64_t vouchers[2], const int ports[BUYERS_SERVICES]);

/* A service came back on another port. */
void buyers_move(int service, int port);

/* Wait until so many more orders than now were accepted or queued, or requests were told to
 * come again; the test fails if that does not happen. */
void buyers_await_served(int more, const char *when);
void buyers_await_refused(int more, const char *when);

/* Let each buyer end its request, and wait for that.  No buyer need run. */
void buyers_stop(void);

/* Every request since the start, by its number; NULL past the last.  After buyers_stop(). */
const struct buyers_request *buyers_request_at(size_t i);

/* An answer that none may get, as text; "" if there was none.  After buyers_stop(). */
const char *buyers_odd(void);

#endif /* TESTS_PROOF_BUYERS_H */
