/* SPDX-License-Identifier: MIT */
/* stream_sale.h -- sells queued orders of one voucher in one transaction.
 *
 * Threads     A batch belongs to one thread, as its worker does.
 */
#ifndef APP_STREAM_SALE_H
#define APP_STREAM_SALE_H

#include "app/order_sale.h"
#include "app/stream.h"

enum stream_state {
    STREAM_OPEN,    /* not written, or not known: try again */
    STREAM_WRITTEN, /* its row exists, and has its number */
    STREAM_REFUSED, /* refused for good: `refusal` says why */
    STREAM_POISON,  /* cannot be written: `reason` says why */
};

enum { STREAM_REASON_MAX = 160, STREAM_TRIES_MAX = 3 };

/* An order that a writer has taken.  The caller sets `entry` and zeroes the rest.  It
 * must not move the struct during stream_sell(), because other fields point into it. */
struct stream_writing {
    struct stream_entry entry;
    enum stream_state state;
    enum outcome refusal; /* of REFUSED */
    char reason[STREAM_REASON_MAX]; /* one line */
    bool is_tried;   /* tried in this round */
    bool is_blocked; /* this try failed at a lock, at its fence, or at a stock guard that
                      * others kept busy: orders of other locks can be written meanwhile */
    int tries;       /* tries that PostgreSQL refused */

    struct order_request request;
    struct order_attempt attempt;
    struct order_lock lock; /* the lock of its user */
    struct order_sale sale;
};

/* Try to write the orders, which are all of one voucher and OPEN, and at most
 * STREAM_BATCH_MAX: judge the times of the sale again, take the locks, sell the
 * orders, and look for existing orders of those that were refused.  Orders that are not
 * sold together are sold one by one, until the voucher's row is found to be locked, or the
 * database not to answer.  Afterwards the state of each is set, and no lock is held. */
void stream_sell(struct worker *w, struct stream_writing *const *writings, size_t count);

#endif /* APP_STREAM_SALE_H */
