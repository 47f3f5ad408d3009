/* SPDX-License-Identifier: MIT */
/* relay.h -- a TCP relay before PostgreSQL that counts round trips.
 *
 * In the pipelines of libpq a round trip ends with one Sync message of the client.
 *
 * Threads     relay_trips() may be called on any thread, the others on the test's main one.
 */
#ifndef TESTS_SERVICE_RELAY_H
#define TESTS_SERVICE_RELAY_H

struct relay; /* opaque */

/* Listen on a free port of 127.0.0.1 and pass each connection on to `target_port`. */
struct relay *relay_start(int target_port);

int relay_port(const struct relay *r);

/* The Sync messages on those connections on which an order was inserted. */
int relay_trips(struct relay *r);

/* Cut every connection, and free.  Whoever uses them must have hung up before. */
void relay_stop(struct relay *r);

#endif /* TESTS_SERVICE_RELAY_H */
