/* SPDX-License-Identifier: MIT */
/* buyers.h -- threads that order at two services, and keep every request and its
 * answer.
 *
 * Two buyers at a time order for the same user, so that only one of them may get the order. Some
 * close the connection without waiting for the answer. Of the requests without a definite answer,
 * some are sent again with the same id, and the others are not.
 *
 * Threads     The main thread of the test; each buyer has a thread of its own.
 */
#ifndef TESTS_PROOF_BUYERS_H
#define TESTS_PROOF_BUYERS_H

#include "tests/service/rig.h"

enum { BUYERS_COUNT = 24, BUYERS_SERVICES = 2 };

/* The state of a request as its buyer knows it. */
enum buyers_told {
    TOLD_OPEN,     /* no answer, or one that says `unknown` */
    TOLD_ACCEPTED, /* an order, whose number was in the answer */
    TOLD_REFUSED,  /* the first and only answer was that nothing was sold */
    TOLD_QUEUED,   /* a promise of an order, whose number was in the answer */
};

struct buyers_request {
    int64_t voucher, user, order_id;
    char id[64];
    enum buyers_told told;
};

/* Begin to order the two vouchers at services on these ports. */
void buyers_start(const int64_t vouchers[2], const int ports[BUYERS_SERVICES]);

/* Send the later requests of a service to another port. */
void buyers_move(int service, int port);

/* Wait until `more` further orders are accepted or queued, or until `more` further requests are
 * told to come again; the test fails if that does not happen. */
void buyers_await_served(int more, const char *when);
void buyers_await_refused(int more, const char *when);

/* Let each buyer end its request, and wait for the threads. No buyer need run. */
void buyers_stop(void);

/* The request number `i` since the start; NULL behind the last one. Call after buyers_stop(). */
const struct buyers_request *buyers_request_at(size_t i);

/* The text of an answer that no buyer may get; "" if there was none. Call after buyers_stop(). */
const char *buyers_odd(void);

#endif /* TESTS_PROOF_BUYERS_H */
