/* SPDX-License-Identifier: MIT */
/* order_replay.h -- look for the order that an earlier request of the same id got. */
#ifndef APP_ORDER_REPLAY_H
#define APP_ORDER_REPLAY_H

#include "app/order_request.h"
#include "app/service.h"

/* Was this very request accepted before?  The worker has a connection.
 *   ACCEPTED   *placed is its order
 *   CONFLICT   the request's id belongs to an order of another voucher
 *   otherwise  *is_new: there is no order of this id; else as worker_db_failed() */
enum outcome order_replay(struct worker *w, const struct order_request *request,
                          struct order_placed *placed, bool *is_new);

#endif /* APP_ORDER_REPLAY_H */
