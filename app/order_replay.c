/* SPDX-License-Identifier: MIT */
/* order_replay.c -- look for the order that an earlier request of the same id got. */
#include "app/order_replay.h"

#include "db/order.h"

enum outcome order_replay(struct worker *w, const struct order_request *request,
                          struct order_placed *placed, bool *is_new)
{
    struct order_found order;
    enum db_status st = order_find_request(w->db, request->user_id, request->request_id,
                                           &order);

    *is_new = false;
    if (st != DB_OK)
        return worker_db_failed(w, st);
    *is_new = !order.found;
    if (!order.found)
        return OUTCOME_INTERNAL;
    if (order.voucher_id != request->voucher_id)
        return OUTCOME_CONFLICT;
    st = order_confirm(w->db);
    if (st != DB_OK) {
        (void)worker_db_failed(w, st);
        return OUTCOME_UNKNOWN;
    }
    *placed = (struct order_placed){order.id, true};
    return OUTCOME_ACCEPTED;
}
