/* SPDX-License-Identifier: MIT */
/* stream_writer.h -- the thread of a process that writes the rows of queued orders.
 *
 * The writer takes orders from the stream, sells those of one voucher in one transaction,
 * under the lock and the guards of the settings, and settles them in the stream after their
 * COMMIT.  If PostgreSQL or a lock prevents the writing of an order, the writer tries
 * again, until another writer claims the order.  Orders whose lock is busy, or whose
 * fence is too old, do not delay the orders of other locks.  If PostgreSQL refuses an order for
 * good, the promise is broken, and the log says so.  An entry that no service has made, or
 * whose statement PostgreSQL refuses three times, is moved aside, so that it stops no other
 * order.
 *
 * Threads     Any thread may nudge.  One thread starts and stops.
 */
#ifndef APP_STREAM_WRITER_H
#define APP_STREAM_WRITER_H

#include "app/service.h"

struct stream_writer; /* opaque */

/* Start the thread.  NULL: no memory, or no thread. */
struct stream_writer *stream_writer_start(struct service *service);

/* Make the writer take orders at once, because one was queued. */
void stream_writer_nudge(struct stream_writer *writer);

/* Write the orders that the stream still has, but begin no transaction after `until_ns`
 * (base/os/clock.h); then end the thread.  The log has the number of orders that are
 * left for the next writer.  This process must let no order in any more.  NULL is
 * fine. */
void stream_writer_stop(struct stream_writer *writer, int64_t until_ns);

#endif /* APP_STREAM_WRITER_H */
