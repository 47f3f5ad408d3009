/* SPDX-License-Identifier: MIT */
/* story_orders.h -- stories (story.h) of orders. */
#ifndef SIMULATION_STORY_ORDERS_H
#define SIMULATION_STORY_ORDERS_H

/* The first question of an order is late, and a second one is refused since the stream is full.
 * Then the first one arrives and lets the order in: its client must not have been told that
 * nothing was queued. */
void story_stream_late_question(const char *subject);

/* A request comes again while its order waits in the stream and the process remembers that the
 * voucher is sold out: that is no answer to an order that is queued. */
void story_stream_hint(const char *subject);

#endif /* SIMULATION_STORY_ORDERS_H */
