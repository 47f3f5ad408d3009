/* SPDX-License-Identifier: MIT */
/* link_inside.h -- the struct of a link, for the files that send over it and for the
 * driver (driver.h).
 *
 * Only for base/redis/. The fields are under the group's mutex. */
#ifndef DLOCK_REDIS_LINK_INSIDE_H
#define DLOCK_REDIS_LINK_INSIDE_H

#include "base/redis/connection.h"
#include "base/redis/link_group.h"
#include "base/redis/queue.h"
#include "base/redis/router.h"

enum { REDIS_TWINS = 2 };

struct redis_link {
    struct redis_link_group *group;
    struct redis_url url;
    int timeout_ms;
    bool slow_is_down;
    struct redis_conn *conn; /* NULL: none; the driver makes one when it is needed */
    uint64_t serial;         /* changes each time the connection is dropped */
    bool is_ready;           /* the connection can send and receive */
    bool is_sending;         /* a thread is sending */
    bool is_full;            /* the socket takes no more bytes now */
    int64_t hold_until_ns;   /* see redis_link_holds(); 0: it holds nothing */
    struct redis_queue queue;
    struct redis_conn *talkers; /* idle connections for conversations */
    int pause_ms;               /* the pause after failures; 0: the last connect
                                 * succeeded */
    int64_t alone_until_ns;
    char why[REDIS_WHY_SIZE];   /* why the server is left alone */
    enum redis_outcome alone_outcome; /* of requests meanwhile: NOT_DONE; PROTOCOL after
                                       * a refusal that lasts */
    struct redis_link *_Atomic twins[REDIS_TWINS]; /* the links for the fibers of the
                                      * program's loop and of the library's, made when
                                      * they are needed; NULL: not yet */
    bool is_twin;
    struct redis_watch *watch; /* watches the Sentinels; a twin shares that of its link;
                                * NULL: none */
    int replicas_needed;       /* see redis_link_need_replicas() */
    void (*late)(void *arg);   /* see redis_link_route(); NULL: the link belongs to no
                                * router */
    void *late_arg;
    int64_t late_again_ns;     /* `late` is not called before this instant */
    /* NULL: the link has one server.  Otherwise only `router`, `routes`, replicas_needed and
     * the label of the URL are used. */
    const struct redis_router *router;
    void *routes;
};

/* The host and port of the server; port 0: a Unix socket. */
void redis_link_address(const struct redis_link *link, struct redis_address *out);

/* Break the connections of threads and fibers, because the server must not be used any
 * more. */
void redis_link_drop(struct redis_link *link);

/* Has the link of threads requests without an answer?  Called without the mutex. */
bool redis_link_has_requests(struct redis_link *link);

/* If `answer` is a redirect that a router follows, make its outcome NOT_DONE. */
void redis_link_judge_redirect(const struct redis_link *link, struct redis_answer *answer);

/* The link for the caller: fibers have a twin of the link, so that threads never wait
 * until the loop's thread runs a turn.  NULL: no memory.  Called without the mutex. */
struct redis_link *redis_link_here(struct redis_link *link);

/* Begin to watch the Sentinels, if the URL of the link names some.  False: no memory or
 * thread. */
bool redis_link_follow_master(struct redis_link *link);

/* Drop the connection.  All its requests fail with `outcome`; if it is NOT_DONE,
 * requests that may have been sent fail with UNKNOWN.  The server is left alone for a
 * while if the connection never became ready, or if `was_slow` and the link has
 * slow_is_down. */
void redis_link_break(struct redis_link *link, enum redis_outcome outcome, const char *why,
                      bool was_slow);

/* The same with was_slow false; `what` does not name the server, so its label is put
 * before it. */
void redis_link_break_by(struct redis_link *link, enum redis_outcome outcome, const char *what);

/* Break the connection because an answer did not come in time. */
void redis_link_overdue(struct redis_link *link);

/* Leave the server alone for a while: the last connect ended with this outcome, for the
 * reason `why`. */
void redis_link_failed(struct redis_link *link, enum redis_outcome outcome, const char *why);

/* Read the replies that have arrived, and end their legs.  Only the driver. */
void redis_link_hear(struct redis_link *link);

/* The same, but sleeps for a while for them, as redis_wire_await() does.  The link is
 * ready. */
void redis_link_await(struct redis_link *link);

/* Does the link hold its queued requests back, because the server is about to answer
 * earlier ones?  If several servers are asked together, each request would otherwise
 * cost a system call and a wake-up for each server.  The driver sends the held requests
 * when those answers have come, at most half a millisecond after the last sending. */
bool redis_link_holds(const struct redis_link *link);

/* Send the queued requests, unless another thread is sending or the link holds them
 * back. */
void redis_link_send(struct redis_link *link);

/* The same, also if the link holds them back. */
void redis_link_send_now(struct redis_link *link);

/* Begin or go on to connect.  Only the driver. */
void redis_link_advance(struct redis_link *link);

/* Borrow the connection to use it without the mutex, and return it afterwards.  In
 * between no other thread frees it. */
struct redis_conn *redis_link_borrow(struct redis_link *link);
void redis_conn_return(struct redis_link *link, struct redis_conn *conn,
                       uint64_t serial);

/* As redis_link_is_left_alone(), but with the mutex held. */
bool redis_link_rests(struct redis_link *link);

#endif /* DLOCK_REDIS_LINK_INSIDE_H */
