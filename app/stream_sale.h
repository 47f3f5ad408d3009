/* SPDX-License-Identifier: MIT */
/* stream_sale.h -- sell the queued orders of one voucher in one transaction.
 *
 * Threads     A batch belongs to one thread, as its worker does.
 */
#ifndef APP_STREAM_SALE_H
#define APP_STREAM_SALE_H

#include "app/order_sale.h"
#include "app/stream.h"

enum stream_state {
    STREAM_OPEN,    /* not written, or nobody knows: to be tried again */
    STREAM_WRITTEN, /* its row is there */
    STREAM_REFUSED, /* it gets no row: `refusal` says why */
    STREAM_POISON,  /* it cannot be written: `reason` says why */
};

enum { STREAM_REASON_MAX = 160, STREAM_TRIES_MAX = 3 };

/* An order in a writer's hands.  The first part is the caller's; texts of the entry are read
 * as long as the order is sold. */
struct stream_writing {
    struct stream_entry entry;
    enum stream_state state;
    enum outcome refusal;
    char reason[STREAM_REASON_MAX]; /* one line */
    bool is_tried; /* in this round */
    int tries;     /* that PostgreSQL refused */

    struct order_request request;
    struct order_attempt attempt;
    struct order_lock lock; /* its user's */
    struct order_sale sale;
};

/* Try to write the orders, all of one voucher and OPEN, at most STREAM_BATCH_MAX: take their
 * locks, sell, and look for the orders of those that were refused.  Afterwards the state of
 * each is as it says, and no lock is held. */
void stream_sell(struct worker *w, struct stream_writing *const *writings, size_t count);

#endif /* APP_STREAM_SALE_H */
