/* SPDX-License-Identifier: MIT */
/* link_group.h -- the mutex, the waiting threads and the driver of links that are asked
 * together.  driver.h explains the driver.
 *
 * Only for base/redis/.  The group's mutex protects the group, its links and its waits.
 * It is not held during blocking calls, sending and reading. */
#ifndef DLOCK_REDIS_GROUP_H
#define DLOCK_REDIS_GROUP_H


#include "base/os/bell.h"
#include "base/os/mutex.h"
#include "base/redis/post.h"
#include "base/redis/wire.h"

enum {
    REDIS_GROUP_LINKS_MAX = REDIS_WIRE_LOOKS_MAX,
    REDIS_GROUP_BATCH_MAX = 8, /* exchanges: at most so many are answered at once, and
                                * so many are sent without waiting for more       */
};

struct redis_link_group {
    struct dlock_mutex mutex;
    int user_count; /* links that have not been closed */
    struct redis_link *links[REDIS_GROUP_LINKS_MAX];
    int link_count;
    int nudge_fd;
    bool is_driven;
    bool is_polling;   /* the driver sleeps, and a nudge wakes it */
    bool is_nudged;    /* a nudge came, so the driver does not go to sleep */
    int answered_count; /* exchanges that ended in the present delivery of answers */
    int expected_count; /* threads whose exchange ended, and that will probably begin
                         * another */
    int64_t expected_until_ns;
    int gathered_count; /* exchanges that began since the last sending */
    bool is_gathering;   /* a fiber will send, after the ready fibers have run */
    int doubts; /* the number of further deliveries after which no thread is expected */
    _Atomic int64_t yields_from_ns; /* threads do not yield before this instant; read
                                     * without the mutex */
    struct redis_wait *waiting;  /* all waits but the driver's and those that have
                                  * ended */
    struct redis_wait *to_ring; /* waits to wake after the mutex is unlocked */
    struct redis_post *ended;   /* posts whose end() is called then */
};

enum redis_role {
    REDIS_AWAKE, /* the caller is awake, and checks by itself   */
    REDIS_WAITING,  /* the caller sleeps                           */
    REDIS_CALLED,   /* its bell rings, or is about to              */
    REDIS_DRIVING,  /* its bell was rung so that it drives, or it drives */
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
/* Free the group when its last link lets go of it. */
void redis_link_group_let_go(struct redis_link_group *group);

void redis_link_group_lock(struct redis_link_group *group);
/* Unlock the mutex, wake the threads whose wait has ended and the new driver, and call
 * end() of the posts that ended. */
void redis_link_group_unlock(struct redis_link_group *group);

/* The caller of the functions below holds the mutex; they may unlock it meanwhile. */

/* Become the driver if there is none (true), or one of the waiting threads (false). */
bool redis_link_group_become_driver(struct redis_link_group *group,
                                    struct redis_wait *wait);

/* End the wait: its bell is rung by the next unlock. */
void redis_link_group_call(struct redis_link_group *group, struct redis_wait *wait,
                           enum redis_role role);

/* Stop waiting.  False: too late, its bell is about to ring. */
bool redis_link_group_stop_waiting(struct redis_link_group *group,
                                   struct redis_wait *wait);

/* Threads whose requests were answered together will probably ask again at the same
 * time.  Their new requests are held until the last of them has asked, so that one
 * write, one read and one pass of the server serve all.  The number of threads that are
 * waited for is limited to a batch: if the server had no work meanwhile, its processor
 * would run threads of this process, and waking a thread on another processor costs
 * twice as much.  Call redis_link_group_expect() after each answering, and
 * redis_link_group_asked() for each exchange that begins. */
void redis_link_group_expect(struct redis_link_group *group);
void redis_link_group_asked(struct redis_link_group *group);

/* Are threads expected to ask again, so that sending should wait for them?  Only the
 * driver sets this, and it then stays awake until it is false, so no request stays
 * unsent. */
bool redis_link_group_is_expecting(const struct redis_link_group *group);

/* Unlock the mutex and let other threads run.  If a yield takes long, another program
 * got the processor, so the threads of the group do not yield for a while.  False: the
 * group is in such a while, and this thread did not yield. */
bool redis_link_group_yield(struct redis_link_group *group);

/* Wake the driver if it sleeps, because there is work that only the driver does. */
void redis_link_group_nudge(struct redis_link_group *group);

/* End a leg whose answer is set. */
void redis_leg_end(struct redis_link_group *group, struct redis_request_leg *trip);

#endif /* DLOCK_REDIS_GROUP_H */
