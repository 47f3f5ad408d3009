/* SPDX-License-Identifier: MIT */
/* async_libev.c -- asynchronous locks in a loop of libev. */
#include <ev.h>

#include "orders.h"

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)events;
    if (!orders_go_on())
        ev_io_stop(loop, watcher); /* nothing else keeps this loop alive */
}

int main(void)
{
    struct ev_loop *loop = ev_default_loop(0);
    ev_io watcher;

    orders_begin();
    watcher = (ev_io){0};
    ev_set_cb(&watcher, on_readable);
    ev_io_set(&watcher, orders_fd(), EV_READ);
    ev_io_start(loop, &watcher);
    (void)ev_run(loop, 0);
    ev_loop_destroy(loop);
    return orders_end();
}
