/* SPDX-License-Identifier: MIT */
/* stream_writer.h -- the thread of a process that writes the rows of queued orders.
 *
 * The writer takes orders from the stream, sells those of one voucher in one transaction,
 * under the lock and the guards of the settings, and settles them in the stream after their
 * COMMIT.  An order that PostgreSQL or a lock keeps from being written is tried again, without
 * an end, until another writer claims it; an order that PostgreSQL refuses for good is a broken
 * promise, and told in the log; an entry that cannot be read, or whose statement PostgreSQL refuses
 * three times, goes aside, so that it stops nobody.
 *
 * Threads     Any may nudge.  Start and stop: one.
 */
#ifndef APP_STREAM_WRITER_H
#define APP_STREAM_WRITER_H

#include "app/service.h"

struct stream_writer; /* opaque */

/* Start the thread.  NULL: no memory, or no thread. */
struct stream_writer *stream_writer_start(struct service *service);

/* An order was queued: look at once. */
void stream_writer_nudge(struct stream_writer *writer);

/* Write what the stream has for this process, but begin no batch after `until_ns`
 * (base/os/clock.h); then end the thread.  The log says how many orders are left, which the
 * next writer takes.  No order may be let in any more.  NULL is fine. */
void stream_writer_stop(struct stream_writer *writer, int64_t until_ns);

#endif /* APP_STREAM_WRITER_H */
