/* SPDX-License-Identifier: MIT */
/* connections.h -- every client connection of the process, and what it is doing.
 *
 * A connection has a thread from its first byte to its last, and there are as many threads
 * as connections may be open (--connections).  When one more client connects, the
 * connection that has been without a request in progress for longest is ended, whether
 * its client is silent or sends a head or a body byte by byte.  So a client that
 * connects never waits for one that is idle.
 *
 * Threads     connection_enter() is called by the connection's own thread; all else by any.
 */
#ifndef BASE_HTTP_CONNECTIONS_H
#define BASE_HTTP_CONNECTIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The states of a connection. */
#define CONNECTION_STATES(X)                                                           \
    X(NEW, "no-request-yet", true)                                                     \
    X(HEAD, "head-arriving", true)                                                     \
    X(BODY, "body-arriving", true)                                                     \
    X(WORKING, "working", false)                                                       \
    X(ANSWERING, "answering", true)                                                    \
    X(BETWEEN, "between-requests", true)

enum connection_state {
    CONNECTION_FREE, /* there is none */
#define X(id, name, may_end) CONNECTION_##id,
    CONNECTION_STATES(X)
#undef X
    CONNECTION_ENDED /* this process has shut it down; its thread is about to notice */
};

/* The reasons for which a connection came to its end. */
#define CONNECTION_ENDS(X)                                                             \
    X(CLIENT, "client")       /* the client closed it, or sent nothing in time */      \
    X(ANSWERED, "answered")   /* its last answer said that it would be closed */       \
    X(GONE, "write-failed")   /* the client took no answer */                          \
    X(CROWDED, "crowded")     /* to make room for another one */                       \
    X(ADDRESS, "address")     /* its address had --connections-per-address already */  \
    X(STOPPING, "stopping")   /* the service ends */

enum connection_end {
#define X(id, name) CONNECTION_END_##id,
    CONNECTION_ENDS(X)
#undef X
    CONNECTION_END_COUNT
};

enum { CONNECTION_LISTENERS = 2 };

/* Bounds, one of each for each listener. */
struct connections_limits {
    int64_t open[CONNECTION_LISTENERS];
    int64_t per_address;     /* 0: no bound */
    const uint32_t *fronts;  /* addresses, network order, that are not bounded; lent */
    size_t front_count;
};

struct connection {
    int fd;
    int listener;
    uint32_t address;          /* of the client, network order */
    bool is_over;              /* its address has too many and none that is idle */
    _Atomic int state;         /* enum connection_state */
    _Atomic int64_t since_ns;  /* when that began */
    enum connection_end end;   /* why it comes to its end; its thread's, or under the mutex */
};

struct connections; /* opaque */

/* For file descriptors below `descriptors`.  NULL: no memory. */
struct connections *connections_new(size_t descriptors,
                                    const struct connections_limits *limits);
/* NULL is fine.  No thread may be left that uses it. */
void connections_free(struct connections *cs);

/* A client was accepted: make room for it if need be.  False: the descriptor is beyond
 * what there is room for; the caller closes it. */
bool connections_add(struct connections *cs, int listener, int fd, uint32_t address);

/* The connection of a descriptor that was added.  NULL: there is none. */
struct connection *connections_find(struct connections *cs, int fd);

/* Its descriptor is about to be closed.  Until then it may be shut down by others, never
 * afterwards.  NULL is fine. */
void connections_remove(struct connections *cs, struct connection *c);

/* Change the state.  False: the connection was ended; no request of it may be worked on.
 * NULL is fine, and true. */
bool connection_enter(struct connection *c, enum connection_state state);

/* Are more open than there are threads?  A request that is done should close its
 * connection then, since another client waits for the thread. */
bool connections_are_crowded(struct connections *cs, int listener);

/* End all that have no request in progress; those that are being answered only if that
 * began `answering_ms` ago. */
void connections_end_idle(struct connections *cs, int64_t answering_ms);

/* Of each listener: how many connections are in each state now, and how many have ended for
 * each reason since the start. */
struct connections_stats {
    int64_t states[CONNECTION_LISTENERS][CONNECTION_ENDED + 1];
    uint64_t ends[CONNECTION_LISTENERS][CONNECTION_END_COUNT];
};

void connections_read_stats(struct connections *cs, struct connections_stats *out);

#endif /* BASE_HTTP_CONNECTIONS_H */
