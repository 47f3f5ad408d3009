/* SPDX-License-Identifier: MIT */
/* loop.h -- the inside of a proxy: its wires, and the thread that serves them. */
#ifndef LOADTEST_PROXY_LOOP_H
#define LOADTEST_PROXY_LOOP_H

#include <poll.h>

#include "base/os/condition.h"
#include "base/os/thread.h"
#include "loadtest/proxy/target.h"
#include "loadtest/proxy/wire.h"

struct proxy {
    struct dlock_mutex lock;
    struct dlock_condition struck;
    struct dlock_thread thread;
    struct proxy_options options;
    struct proxy_target target;
    struct proxy_arms arms;
    struct proxy_wire **wires;
    struct pollfd *polled;
    size_t wire_count, wire_room;
    struct proxy_stats ended; /* of the wires that are no more */
    int64_t rest_until_ns;    /* no accept(): there were no descriptors left */
    int port, listen_fd, wake_fd;
    bool stopping;
    bool again; /* a connection that was served already has something to do again */
};

/* Room for one wire more.  False: no memory. */
bool proxy_loop_make_room(struct proxy *p);

/* Add the counts of a connection. */
void proxy_loop_add_stats(struct proxy_stats *s, const struct proxy_wire *w);

/* The thread; its argument is the proxy.  The thread ends its wires when `stopping` is set and
 * the eventfd tells it to look. */
void *proxy_loop_run(void *arg);

#endif /* LOADTEST_PROXY_LOOP_H */
