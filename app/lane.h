/* SPDX-License-Identifier: MIT */
/* lane.h -- the waiting orders of each voucher in this process.  A bounded number of threads,
 * the leaders, sell the orders of a voucher, each as many at once as it takes.
 *
 *     answer = lane_join(lanes, voucher, &place);
 *     if (answer == LANE_WAITS)
 *         answer = lane_wait(lanes, &place, until_ns);
 *     switch (answer) {
 *     case LANE_LEADS:
 *         count = lane_take(lanes, &place, fits, batch, max);   // batch[0] is &place
 *         ...                                                   // sell the batch
 *         lane_finish(lanes, &place, batch, count);
 *         break;
 *     case LANE_DONE:                 // the leader of its batch has ended this one
 *     default:                        // nothing was sold
 *     }
 *
 * The first orders of a voucher lead.  An order that comes while the voucher has all its leaders
 * waits, and the first order that waits leads next.  So the longer a batch takes, the larger the
 * next batch is.  No order waits for a batch to grow.
 *
 * Threads     Any.  A place belongs to its thread until lane_join() is called, to the
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

enum { LANES_WAITING_MAX = 4096 }; /* the limit of `waiting_max`        */

/* An order in its lane.  The caller sets `order`; the rest is private. */
struct lane_place {
    void *order;
    struct lane *lane;
    struct lane_place *next;
    int state;
    struct dlock_bell bell; /* rung by the leader of its batch */
};

enum lane_answer {
    LANE_LEADS, /* lane_take() and lane_finish() must follow */
    LANE_WAITS, /* lane_wait() must follow */
    LANE_DONE,  /* the leader of its batch has called lane_finish() */
    LANE_LATE,  /* until_ns came before a leader took the order */
    LANE_FULL,  /* the limit of all waiting orders is reached, or there is no memory */
    LANE_VOUCHER_FULL, /* the limit of the waiting orders of a voucher is reached */
};

/* Make lanes.  At most `waiting_max` orders of all vouchers together, and `voucher_max` of one
 * voucher, may wait at once; orders that lead or are being sold do not count.  A voucher has at
 * most `leaders_max` (at least 1) leaders.  NULL: no memory. */
struct lanes *lanes_new(int64_t waiting_max, int64_t voucher_max, int64_t leaders_max);
/* Free the lanes.  No thread may be inside a call.  NULL is fine. */
void lanes_free(struct lanes *lanes);

/* Add an order to the lane of its voucher.  LEADS, WAITS, FULL or VOUCHER_FULL. */
enum lane_answer lane_join(struct lanes *lanes, int64_t voucher_id, struct lane_place *place);

/* Wait until the order leads or its batch has ended, until `until_ns` (base/os/clock.h).  An
 * order that a leader has taken waits for the end of its batch, also past until_ns.  LEADS, DONE
 * or LATE. */
enum lane_answer lane_wait(struct lanes *lanes, struct lane_place *place, int64_t until_ns);

/* Can `place` join the `count` orders of a batch? */
typedef bool lane_fits(const struct lane_place *place, struct lane_place *const *batch,
                       size_t count);

/* Take waiting orders into the batch, in the order of arrival, up to `max` orders with
 * the leader's own, which is the first.  An order that does not fit goes on waiting.
 * Returns the number of orders in the batch. */
size_t lane_take(struct lanes *lanes, struct lane_place *leader, lane_fits *fits,
                 struct lane_place **batch, size_t max);

/* End the batch: the next waiting order leads, and the threads of the batch go on.  The
 * leader must not touch their places any more. */
void lane_finish(struct lanes *lanes, struct lane_place *leader, struct lane_place **batch,
                 size_t count);

/* The number of orders that wait for a leader now. */
int64_t lanes_waiting(struct lanes *lanes);

#endif /* APP_LANE_H */
