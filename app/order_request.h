/* SPDX-License-Identifier: MIT */
/* order_request.h -- what a client asks for when it orders, and what it gets. */
#ifndef APP_ORDER_REQUEST_H
#define APP_ORDER_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

struct order_request {
    int64_t user_id;
    int64_t voucher_id;
    const char *request_id;
    bool is_named_by_client; /* the id came with the request, so it may come again */
    const char *trace_id;    /* as in struct trace; NULL: it brought none */
};

/* The order that an accepted request got. */
struct order_placed {
    int64_t order_id;
    bool is_replay; /* an earlier request of the same id did, and this one sold nothing */
};

#endif /* APP_ORDER_REQUEST_H */
