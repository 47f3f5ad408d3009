/* SPDX-License-Identifier: MIT */
/* order_replay.h -- looks for the order of an earlier request with the same id. */
#ifndef APP_ORDER_REPLAY_H
#define APP_ORDER_REPLAY_H

#include "app/order_request.h"
#include "app/service.h"

/* Was an earlier request with this id accepted?  The worker has a connection.
 *   ACCEPTED   *placed is its order
 *   CONFLICT   the request's id belongs to an order of another voucher
 *   UNKNOWN    the order exists here, and the synchronous standby may lack it
 *   otherwise  if *is_new, there is no order of this id; if not, the database failed,
 *              as worker_db_failed() */
enum outcome order_replay(struct worker *w, const struct order_request *request,
                          struct order_placed *placed, bool *is_new);

#endif /* APP_ORDER_REPLAY_H */
