/* SPDX-License-Identifier: MIT */
/* redis_hub.h -- the links that are asked together, and the thread that drives them.
 *
 * All threads share one connection per link.  There is no thread for that: of those
 * that wait for answers one is the driver.  It connects, reads all replies and hands
 * them to whom they belong; when its own have come it makes another of the waiting ones
 * the driver.  Requests are sent in one go by the last of those who are expected to ask,
 * or by whoever completes a batch, or by whoever comes if nobody is expected.
 *
 * Only for stores/.  Under the hub's mutex is all of the hub, its links and its
 * errands; it is never held while anything blocks, and while requests are sent or
 * replies are read. */
#ifndef DLOCK_REDIS_HUB_H
#define DLOCK_REDIS_HUB_H

#include <pthread.h>

#include "base/os/bell.h"
#include "lock/stores/redis_conn.h"
#include "lock/stores/redis_link.h"
#include "lock/stores/redis_queue.h"

enum {
    REDIS_HUB_LINKS_MAX = 16,
    REDIS_HUB_BATCH_MAX = 8, /* exchanges: not more are answered at once, and for more
                              * none that is to be sent has to wait             */
};

struct redis_hub {
    pthread_mutex_t mutex;
    int user_count; /* links, open or to be closed */
    struct redis_link *links[REDIS_HUB_LINKS_MAX];
    int link_count;
    int nudge_fd;
    bool is_driven;
    bool is_polling;   /* the driver sleeps, and a nudge wakes it */
    bool is_nudged;    /* and keeps it from going to sleep         */
    int answered_count; /* exchanges that ended in the answering that goes on */
    int expected_count; /* of those that ended: so many are about to begin another */
    int64_t expected_until_ns;
    int gathered_count; /* exchanges that began since all was sent */
    int doubts; /* so many times more they are not expected */
    struct redis_errand *waiting;  /* all that are not the driver's nor answered */
    struct redis_errand *to_ring; /* as soon as the mutex is free */
};

struct redis_link {
    struct redis_hub *hub;
    struct redis_url url;
    int timeout_ms;
    bool slow_is_down;
    struct redis_conn *conn; /* NULL: none; the driver makes one when it is needed */
    uint64_t serial;         /* of the connection: changes when it is dropped */
    bool is_ready;           /* to send and receive */
    bool is_sending;         /* somebody is at it */
    bool is_full;            /* the socket takes no more for now */
    struct redis_queue queue;
    struct redis_conn *talkers; /* idle ones, for conversations */
    int pause_ms;               /* 0: the server is up as far as we know */
    int64_t alone_until_ns;
    char why[REDIS_WHY_SIZE];   /* it is down */
};

enum redis_role {
    REDIS_BOARDING, /* the caller is awake and looks by itself     */
    REDIS_WAITING,  /* it sleeps                                   */
    REDIS_CALLED,   /* its bell rings, or is about to              */
    REDIS_DRIVING,  /* the same for the wheel; or it has it        */
};

/* One exchange under way. */
struct redis_errand {
    struct dlock_bell bell;
    int open_count; /* answers that have to come */
    enum redis_role role;
    struct redis_errand *prev, *next; /* in `waiting` */
    struct redis_errand *next_to_ring;
};

/* One leg of it. */
struct redis_trip {
    struct redis_leg *leg;
    struct redis_errand *errand;
    bool is_over;
};

struct redis_hub *redis_hub_open(void);
void redis_hub_let_go(struct redis_hub *hub); /* by the last link it is closed */

void redis_hub_lock(struct redis_hub *hub);
/* Unlock, and wake all whose errand is done or who is to drive. */
void redis_hub_unlock(struct redis_hub *hub);

/* The rest with the mutex held; they may let go of it in between. */

/* Become the driver, if there is none; or one of those that wait. */
bool redis_hub_take_wheel(struct redis_hub *hub, struct redis_errand *errand);

/* Drive until the errand is done, or until `end_ns`. */
void redis_hub_drive(struct redis_hub *hub, struct redis_errand *errand,
                     int64_t end_ns);

/* Stop waiting.  False: too late, its bell is about to ring. */
bool redis_hub_stop_waiting(struct redis_hub *hub, struct redis_errand *errand);

/* Stop driving: somebody else does, if anybody waits. */
void redis_hub_leave_wheel(struct redis_hub *hub, struct redis_errand *errand);

/* Those who were answered together are about to ask again, all of them.  What they ask
 * is sent when the last of them has: one write, one read and one round of the server
 * then serve them all.  A batch is enough, though: a server that runs out of work while
 * more are waited for leaves its processor to the threads here, which are then spread
 * over both and wake each other at twice the cost.  redis_hub_expect() after each
 * answering, redis_hub_asked() for each exchange that begins. */
void redis_hub_expect(struct redis_hub *hub);
void redis_hub_asked(struct redis_hub *hub);

/* Send what all links have to send; or another thread is about to.  An errand that waits
 * for nothing is sent now. */
void redis_hub_send(struct redis_hub *hub, const struct redis_errand *errand);

/* The driver has to look: something is to be done that only it does. */
void redis_hub_nudge(struct redis_hub *hub);

/* The trip has come to its end; its leg has the answer. */
void redis_trip_end(struct redis_hub *hub, struct redis_trip *trip);

/* ---- of a link, see redis_link.c ---- */

/* Drop the connection: all requests fail with `status`, those that may have been sent
 * with UNKNOWN instead of IO.  The server is left alone for a while if the connection
 * never became ready, or if it `was_slow` and the link counts that. */
void redis_link_break(struct redis_link *link, dlock_status status, const char *why,
                      bool was_slow);

/* The same because an answer did not come in time. */
void redis_link_overdue(struct redis_link *link);

/* The server is to be left alone for a while. */
void redis_link_failed(struct redis_link *link, const char *why);

/* Read what has arrived, and hand it out.  The driver only. */
void redis_link_hear(struct redis_link *link);

/* Send what there is to send, if nobody is at it. */
void redis_link_send(struct redis_link *link);

/* Connect, or go on with that.  The driver only. */
void redis_link_advance(struct redis_link *link);

/* Use the connection with the mutex free, and done with that. */
struct redis_conn *redis_link_borrow(struct redis_link *link);
void redis_conn_return(struct redis_link *link, struct redis_conn *conn,
                       uint64_t serial);

/* Is it left alone now, with the mutex held?  See redis_link_is_left_alone(). */
bool redis_link_rests(struct redis_link *link);

#endif /* DLOCK_REDIS_HUB_H */
