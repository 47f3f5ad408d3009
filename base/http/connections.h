/* SPDX-License-Identifier: MIT */
/* connections.h -- the table of the client connections of the process, with the state
 * of each.
 *
 * A connection has a thread from its first byte to its last, and there are as many threads
 * as connections may be open (--connections).  When one more client connects, the
 * connection that has been without a request in progress for longest is ended, whether
 * its client is silent or sends a head or a body byte by byte.  So a new client never
 * waits for an idle one.
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
    CONNECTION_ENDED /* this process has shut the connection down; its thread will
                      * notice */
};

/* The reasons for the end of a connection. */
#define CONNECTION_ENDS(X)                                                             \
    X(CLIENT, "client")       /* the client closed it, or sent nothing in time */      \
    X(ANSWERED, "answered")   /* its last answer said that it would be closed */       \
    X(GONE, "write-failed")   /* the client did not read the answer */                \
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

/* The limits of the listeners. */
struct connections_limits {
    int64_t open[CONNECTION_LISTENERS];
    int64_t per_address;     /* 0: no limit */
    const uint32_t *fronts;  /* addresses of proxies, network order, without the limit;
                              * borrowed */
    size_t front_count;
};

struct connection {
    int fd;
    int listener;
    uint32_t address;          /* of the client, network order */
    bool is_over;              /* its address has too many connections, and none is
                                * idle */
    _Atomic int state;         /* enum connection_state */
    _Atomic int64_t since_ns;  /* when that state began */
    enum connection_end end;   /* why it ends; written by its thread, or under the
                                * mutex */
};

struct connections; /* opaque */

/* Make a table for file descriptors below `descriptors`; the caller frees it with
 * connections_free().  NULL: no memory. */
struct connections *connections_new(size_t descriptors,
                                    const struct connections_limits *limits);
/* Free the table.  No thread uses it any more.  NULL is fine. */
void connections_free(struct connections *cs);

/* Add the connection of a client that was accepted, and end an idle connection if there
 * are too many.  False: `fd` is not below `descriptors`, and the caller closes it. */
bool connections_add(struct connections *cs, int listener, int fd, uint32_t address);

/* The connection of a descriptor that was added.  NULL: this descriptor has none. */
struct connection *connections_find(struct connections *cs, int fd);

/* Remove a connection whose descriptor its thread is about to close.  Other threads may
 * shut the descriptor down before this call, and never after it.  NULL is fine. */
void connections_remove(struct connections *cs, struct connection *c);

/* Change the state of a connection.  False: this process has ended the connection, and
 * the caller must not work on a request of it.  NULL is fine, and the answer is
 * true. */
bool connection_enter(struct connection *c, enum connection_state state);

/* Has the listener more open connections than threads?  If so, an answered request
 * should close its connection, because another client waits for the thread. */
bool connections_are_crowded(struct connections *cs, int listener);

/* End every connection without a request in progress, and every connection whose answer
 * is being sent since `answering_ms` or longer. */
void connections_end_idle(struct connections *cs, int64_t answering_ms);

/* For each listener: the number of connections in each state now, and the number that
 * have ended for each reason since the start. */
struct connections_stats {
    int64_t states[CONNECTION_LISTENERS][CONNECTION_ENDED + 1];
    uint64_t ends[CONNECTION_LISTENERS][CONNECTION_END_COUNT];
};

void connections_read_stats(struct connections *cs, struct connections_stats *out);

#endif /* BASE_HTTP_CONNECTIONS_H */
