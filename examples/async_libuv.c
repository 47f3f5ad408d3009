/* SPDX-License-Identifier: MIT */
/* async_libuv.c -- asynchronous locks in a loop of libuv. */
#include <uv.h>

#include "orders.h"

static void on_readable(uv_poll_t *watcher, int status, int events)
{
    (void)status;
    (void)events;
    if (!orders_go_on())
        uv_close((uv_handle_t *)watcher, NULL); /* nothing else keeps this loop alive */
}

int main(void)
{
    uv_poll_t watcher;

    orders_begin();
    if (uv_poll_init(uv_default_loop(), &watcher, orders_fd()) != 0 ||
        uv_poll_start(&watcher, UV_READABLE, on_readable) != 0)
        return 1;
    (void)uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    (void)uv_loop_close(uv_default_loop());
    return orders_end();
}
