/* SPDX-License-Identifier: MIT */
/* handlers.h -- what answers a request that a route was found for. */
#ifndef APP_HANDLERS_H
#define APP_HANDLERS_H

#include "app/request.h"

enum listener_kind { LISTENER_ORDERS, LISTENER_ADMIN };

/* A handler answers through `an`, which says 500 until it does. */
typedef void route_handler(const struct request *rq, struct answer *an);

/* The handlers, by file.  api_request_find says of a request `accepted` and its order;
 * `queued` and the number that its order will have; the outcome that a queued order came to
 * instead of a row; or `none`, which is none so far: one that is still under way, or whose
 * COMMIT is, may have one later.  Only asking for the order again under the same id settles
 * it. */
route_handler api_order_course, api_order, api_order_find, api_request_find;
route_handler api_voucher_course, api_voucher, api_voucher_list_course,
    api_voucher_list, api_voucher_find;
route_handler admin_live, admin_ready, admin_metrics, admin_config;
route_handler admin_lock_show, admin_lock_force;
route_handler admin_faults, admin_fault_arm, admin_fault_release;

#endif /* APP_HANDLERS_H */
