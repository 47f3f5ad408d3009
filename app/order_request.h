/* SPDX-License-Identifier: MIT */
/* order_request.h -- a client's request for an order, and its result. */
#ifndef APP_ORDER_REQUEST_H
#define APP_ORDER_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

struct order_request {
    int64_t user_id;
    int64_t voucher_id;
    const char *request_id;
    bool is_named_by_client; /* the client chose the id, so the same request may come
                              * again                                              */
    const char *trace_id;    /* as in struct trace; NULL: the request has no trace */
};

/* The order of a request that was accepted or queued. */
struct order_placed {
    int64_t order_id;
    bool is_replay; /* an earlier request of the same id got the order, and this one
                     * sold nothing */
};

#endif /* APP_ORDER_REQUEST_H */
