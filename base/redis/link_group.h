/* SPDX-License-Identifier: MIT */
/* link_group.h -- what the links that are asked together share: the mutex, who waits for
 * answers, and who is to wake.  driver.h says how they are asked.
 *
 * Only for this room.  Under the group's mutex is all of the group, its links and its
 * waits; it is never held while anything blocks, and while requests are sent or
 * replies are read. */
#ifndef DLOCK_REDIS_GROUP_H
#define DLOCK_REDIS_GROUP_H


#include "base/os/bell.h"
#include "base/os/mutex.h"
#include "base/redis/post.h"
#include "base/redis/wire.h"

enum {
    REDIS_GROUP_LINKS_MAX = REDIS_WIRE_LOOKS_MAX,
    REDIS_GROUP_BATCH_MAX = 8, /* exchanges: not more are answered at once, and for more
                              * none that is to be sent has to wait             */
};

struct redis_link_group {
    struct dlock_mutex mutex;
    int user_count; /* links, open or to be closed */
    struct redis_link *links[REDIS_GROUP_LINKS_MAX];
    int link_count;
    int nudge_fd;
    bool is_driven;
    bool is_polling;   /* the driver sleeps, and a nudge wakes it */
    bool is_nudged;    /* and keeps it from going to sleep         */
    int answered_count; /* exchanges that ended in the answering that goes on */
    int expected_count; /* of those that ended: so many are about to begin another */
    int64_t expected_until_ns;
    int gathered_count; /* exchanges that began since all was sent */
    bool is_gathering;   /* a fiber sends after those that are ready */
    int doubts; /* so many times more they are not expected */
    _Atomic int64_t yields_from_ns; /* threads do not yield before; without the mutex */
    struct redis_wait *waiting;  /* all that are not the driver's nor answered */
    struct redis_wait *to_ring; /* as soon as the mutex is free */
    struct redis_post *ended;   /* and these are told then      */
};

enum redis_role {
    REDIS_BOARDING, /* the caller is awake and looks by itself     */
    REDIS_WAITING,  /* it sleeps                                   */
    REDIS_CALLED,   /* its bell rings, or is about to              */
    REDIS_DRIVING,  /* the same, to drive; or it drives    */
};

/* An exchange under way. */
struct redis_wait {
    struct dlock_bell bell;
    int open_count; /* answers that have to come */
    enum redis_role role;
    struct redis_wait *prev, *next; /* in `waiting` */
    struct redis_wait *next_to_ring;
};

struct redis_link_group *redis_link_group_open(void);
/* By the last link it is closed. */
void redis_link_group_let_go(struct redis_link_group *group);

void redis_link_group_lock(struct redis_link_group *group);
/* Unlock, wake all whose wait is done or who is to drive, and tell the posts that ended. */
void redis_link_group_unlock(struct redis_link_group *group);

/* The rest with the mutex held; they may let go of it in between. */

/* Become the driver, if there is none; or one of those that wait. */
bool redis_link_group_become_driver(struct redis_link_group *group,
                                    struct redis_wait *wait);

/* The wait waits no more: its bell is rung with the next unlock. */
void redis_link_group_call(struct redis_link_group *group, struct redis_wait *wait,
                           enum redis_role role);

/* Stop waiting.  False: too late, its bell is about to ring. */
bool redis_link_group_stop_waiting(struct redis_link_group *group,
                                   struct redis_wait *wait);

/* Threads whose requests were answered together are about to ask again.  Their requests
 * are sent when the last of them has asked: one write, one read and one round of the server
 * then serve them all.  A batch is enough, though: a server that runs out of work while
 * more are waited for leaves its processor to the threads here, which are then spread
 * over both and wake each other at twice the cost.  redis_link_group_expect() after each
 * answering, redis_link_group_asked() for each exchange that begins. */
void redis_link_group_expect(struct redis_link_group *group);
void redis_link_group_asked(struct redis_link_group *group);

/* Are some about to ask again, so that what there is to send had better wait for them?
 * Only the driver makes it so, and then it stays awake until it is so no more: nothing
 * is left unsent. */
bool redis_link_group_is_expecting(const struct redis_link_group *group);

/* Let other threads run, without the mutex.  A yield that lasts long shows that another
 * program got the processor: the threads of the group then do not yield for a while.  False:
 * that is so, and this thread did not yield. */
bool redis_link_group_yield(struct redis_link_group *group);

/* The driver has to look: something is to be done that only it does. */
void redis_link_group_nudge(struct redis_link_group *group);

/* The trip has come to its end; its leg has the answer. */
void redis_leg_end(struct redis_link_group *group, struct redis_request_leg *trip);

#endif /* DLOCK_REDIS_GROUP_H */
