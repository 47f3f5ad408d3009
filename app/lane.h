/* SPDX-License-Identifier: MIT */
/* lane.h -- orders of one voucher that wait in this process, of which one thread at a time
 * sells all that wait.
 *
 *     switch (lane_enter(lanes, voucher, &place, until_ns)) {
 *     case LANE_LEADS:
 *         count = lane_take(lanes, &place, fits, batch, max);   // batch[0] is &place
 *         ...                                                   // sell the batch
 *         lane_finish(lanes, &place, batch, count);
 *         break;
 *     case LANE_DONE:                 // another thread has sold this one
 *     case LANE_LATE: case LANE_FULL: // nothing was sold
 *     }
 *
 * The first to come leads.  Orders that come while a leader is at work wait, and the first
 * of them leads next, so that a batch is as large as the work on the one before took long.
 * No order waits for a batch to grow.
 *
 * Threads     Any.  A place belongs to its thread until lane_enter() is called, to the
 *             leader that took it from lane_take() to lane_finish(), and to its thread
 *             afterwards.
 */
#ifndef APP_LANE_H
#define APP_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/os/bell.h"

struct lanes; /* opaque: one lane for each voucher that has orders waiting */
struct lane;  /* opaque */

enum { LANES_WAITING_MAX = 4096 }; /* what `waiting_max` may be at most */

/* An order in its lane.  The caller sets `order`; the rest is private. */
struct lane_place {
    void *order;
    struct lane *lane;
    struct lane_place *next;
    int state;
    struct dlock_bell bell; /* rung by the leader that is done with it */
};

enum lane_answer {
    LANE_LEADS, /* lane_take() and lane_finish() must follow */
    LANE_DONE,  /* the leader of its batch has called lane_finish() */
    LANE_LATE,  /* until_ns came before any leader took it */
    LANE_FULL,  /* as many orders wait already as may, or there is no memory */
};

/* Lanes in which `waiting_max` orders may wait at once, those of all vouchers together; orders
 * that lead or are being sold do not count.  NULL: no memory. */
struct lanes *lanes_new(int64_t waiting_max);
/* No thread may be inside.  NULL is fine. */
void lanes_free(struct lanes *lanes);

/* Wait to lead, or to be sold, until `until_ns` (base/os/clock.h).  A place that a leader has
 * taken waits for the end of its batch, however long that takes. */
enum lane_answer lane_enter(struct lanes *lanes, int64_t voucher_id,
                            struct lane_place *place, int64_t until_ns);

/* May `place` share the batch with those `count` that are in it? */
typedef bool lane_fits(const struct lane_place *place, struct lane_place *const *batch,
                       size_t count);

/* Take what waits, in the order of arrival, up to `max` with the leader itself, which comes
 * first.  An order that does not fit waits on.  Answers how many there are. */
size_t lane_take(struct lanes *lanes, struct lane_place *leader, lane_fits *fits,
                 struct lane_place **batch, size_t max);

/* Let the next one lead, and let the batch go.  Its places are no longer the leader's. */
void lane_finish(struct lanes *lanes, struct lane_place *leader, struct lane_place **batch,
                 size_t count);

/* The number of orders that wait for a leader now. */
int64_t lanes_waiting(struct lanes *lanes);

#endif /* APP_LANE_H */
