/* SPDX-License-Identifier: MIT */
/* relay.h -- a TCP relay in front of PostgreSQL that counts round trips.
 *
 * In a pipeline of libpq each round trip ends with one Sync message of the client.
 *
 * Threads     relay_trips() may be called on any thread, the others on the main thread of the test.
 */
#ifndef TESTS_SERVICE_RELAY_H
#define TESTS_SERVICE_RELAY_H

struct relay; /* opaque */

/* Listen on a free port of 127.0.0.1 and forward each connection to `target_port`. */
struct relay *relay_start(int target_port);

int relay_port(const struct relay *r);

/* The number of Sync messages on connections on which an order was inserted. */
int relay_trips(struct relay *r);

/* Close every connection, and free the relay. Its users must have closed their connections
 * before. */
void relay_stop(struct relay *r);

#endif /* TESTS_SERVICE_RELAY_H */
