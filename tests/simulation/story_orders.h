/* SPDX-License-Identifier: MIT */
/* story_orders.h -- stories (story.h) of orders. */
#ifndef SIMULATION_STORY_ORDERS_H
#define SIMULATION_STORY_ORDERS_H

/* The first request of an order is late, and a second request is refused because the stream is
 * full. Then the first request arrives and admits the order. The client must not have been told
 * that nothing was queued. */
void story_stream_late_question(const char *subject);

/* A request comes again while its order waits in the stream and the process remembers that the
 * voucher is sold out. The answer to the request must be that its order is queued, and not that the
 * voucher is sold out. */
void story_stream_hint(const char *subject);

#endif /* SIMULATION_STORY_ORDERS_H */
