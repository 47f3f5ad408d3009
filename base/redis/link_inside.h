/* SPDX-License-Identifier: MIT */
/* link_inside.h -- the connection to one server, for those who exchange and converse
 * over it, and for the driver (driver.h).
 *
 * Only for this room.  All of it under the group's mutex. */
#ifndef DLOCK_REDIS_LINK_INSIDE_H
#define DLOCK_REDIS_LINK_INSIDE_H

#include "base/redis/connection.h"
#include "base/redis/link_group.h"
#include "base/redis/queue.h"
#include "base/redis/router.h"

struct redis_link {
    struct redis_link_group *group;
    struct redis_url url;
    int timeout_ms;
    bool slow_is_down;
    struct redis_conn *conn; /* NULL: none; the driver makes one when it is needed */
    uint64_t serial;         /* of the connection: changes when it is dropped */
    bool is_ready;           /* to send and receive */
    bool is_sending;         /* somebody is at it */
    bool is_full;            /* the socket takes no more for now */
    int64_t hold_until_ns;   /* see redis_link_holds(); 0: it does not */
    struct redis_queue queue;
    struct redis_conn *talkers; /* idle ones, for conversations */
    int pause_ms;               /* 0: the server is up as far as we know */
    int64_t alone_until_ns;
    char why[REDIS_WHY_SIZE];   /* it is down */
    struct redis_link *_Atomic twin; /* for fibers, made when it is needed; or NULL */
    bool is_twin;
    struct redis_watch *watch; /* of the Sentinels; a twin's is that of its link; or NULL */
    int replicas_needed;       /* see redis_link_need_replicas() */
    void (*late)(void *arg);   /* see redis_link_route(); NULL: the link is no router's */
    void *late_arg;
    int64_t late_again_ns;     /* not to be called late before                              */
    const struct redis_router *router; /* NULL: the link has one server.  Otherwise the link has */
    void *routes;                      /* only these two, and the label of its URL        */
};

/* Where its server is; port 0: at a socket. */
void redis_link_place(const struct redis_link *link, struct redis_place *out);

/* Break the connections that threads and fibers share: the server is not to be asked any more. */
void redis_link_drop(struct redis_link *link);

/* What the server has answered counts as if it could not be reached, if the answer is a redirect that
 * a router follows. */
void redis_link_judge_redirect(const struct redis_link *link, struct redis_answer *answer);

/* The link to the same server that serves the caller: fibers have one of their own, so that
 * threads never wait for the thread of a loop to come to its turn.  NULL: no memory.  Without
 * the mutex. */
struct redis_link *redis_link_here(struct redis_link *link);

/* Begin to watch the Sentinels of a link whose URL names some.  False: no memory or thread. */
bool redis_link_follow_master(struct redis_link *link);

/* Drop the connection: all requests fail with `outcome`, those that may have been sent
 * with UNKNOWN instead of NOT_DONE.  The server is left alone for a while if the connection
 * never became ready, or if it `was_slow` and the link counts that. */
void redis_link_break(struct redis_link *link, enum redis_outcome outcome, const char *why,
                      bool was_slow);

/* The same, never for slowness, for a reason that does not name the server yet. */
void redis_link_break_by(struct redis_link *link, enum redis_outcome outcome, const char *what);

/* Break it because an answer did not come in time. */
void redis_link_overdue(struct redis_link *link);

/* The server is to be left alone for a while. */
void redis_link_failed(struct redis_link *link, const char *why);

/* Read what has arrived, and hand it out.  The driver only. */
void redis_link_hear(struct redis_link *link);

/* The same, and sleep for that a while, as redis_wire_await() does.  The link is ready. */
void redis_link_await(struct redis_link *link);

/* Does the link hold what there is to send, since its server is about to answer what was sent
 * before?  Where several servers are asked together, each request would otherwise cost a system
 * call and a wake-up for each of them.  The driver sends what is held when those answers have
 * come, and half a millisecond after the last sending at the latest: a server that does not
 * answer gets all that is for it. */
bool redis_link_holds(const struct redis_link *link);

/* Send what there is to send, if nobody is at it, and unless the link holds it. */
void redis_link_send(struct redis_link *link);

/* The same, and the link holds nothing. */
void redis_link_send_now(struct redis_link *link);

/* Connect, or go on with that.  The driver only. */
void redis_link_advance(struct redis_link *link);

/* Use the connection with the mutex free, and done with that. */
struct redis_conn *redis_link_borrow(struct redis_link *link);
void redis_conn_return(struct redis_link *link, struct redis_conn *conn,
                       uint64_t serial);

/* Is it left alone now, with the mutex held?  See redis_link_is_left_alone(). */
bool redis_link_rests(struct redis_link *link);

#endif /* DLOCK_REDIS_LINK_INSIDE_H */
