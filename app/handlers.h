/* SPDX-License-Identifier: MIT */
/* handlers.h -- the handlers: the functions that answer the requests of the routes. */
#ifndef APP_HANDLERS_H
#define APP_HANDLERS_H

#include "app/request.h"

enum listener_kind { LISTENER_ORDERS, LISTENER_ADMIN };

/* A handler writes its answer into `an`, which is a 500 before that. */
typedef void route_handler(const struct request *rq, struct answer *an);

/* The handlers, by file.  api_request_find answers the state of a request: `accepted`
 * and its order; `queued` and the number that its order will have; the refusal of a
 * queued order; or `none`.  `none` means that there is no order yet: a request or a
 * COMMIT that is under way may still create it.  Only a new order request with the same
 * id decides it. */
route_handler api_order_course, api_order, api_order_find, api_request_find;
route_handler api_voucher_course, api_voucher, api_voucher_list_course,
    api_voucher_list, api_voucher_find;
route_handler admin_live, admin_ready, admin_metrics, admin_config;
route_handler admin_lock_show, admin_lock_force;
route_handler admin_faults, admin_fault_arm, admin_fault_release;

#endif /* APP_HANDLERS_H */
