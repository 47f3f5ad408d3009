/* SPDX-License-Identifier: MIT */
/* rig.h -- the common helpers of the laws: systems, names, other threads, waiting for
 * states.
 *
 * Systems and servers that a law opened are closed after it, also when it failed. */
#ifndef CONFORMANCE_RIG_H
#define CONFORMANCE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs these four first. */
#include <cmocka.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lock/dlock.h"
#include "tests/conformance/premise.h"

/* For laws that wait for its end. */
#define SHORT_LEASE_MS STRETCHED(250)
/* For laws whose watchdog has to be in time, and what is seen of its renewals: the first
 * is due at a third. */
#define KEPT_LEASE_MS STRETCHED(950)
#define RENEWED_MS (KEPT_LEASE_MS / 2)

/* For states that have to come; nothing is measured with it. */
#define PATIENCE_MS rig_patience_ms
extern int rig_patience_ms;

/* Are the laws of one Redis tried on a Redis Cluster? */
static inline bool rig_is_on_cluster(void)
{
    const char *url = getenv("SECKILL_REDIS_URL");

    return url != NULL && strncmp(url, "redis-cluster://", strlen("redis-cluster://")) == 0;
}

/* The options of `variant` on the servers of the environment: no watchdog, and patience
 * with servers that are slow. */
dlock_options rig_options(const char *variant);

/* Open it, or fail the law; one with short timeouts may try several times to connect. */
dlock_system *rig_open(const dlock_options *opts);

/* Two systems of `variant` that know nothing of each other. */
struct rig_pair {
    dlock_system *a;
    dlock_system *b;
};
struct rig_pair rig_open_pair(const dlock_options *opts);

/* Close the systems that were opened. */
void rig_close_systems(void);

/* Close everything that was opened; `rig_name()` begins anew. */
void rig_reset(void);

/* A lock name that nobody used before.  Valid until 15 more were drawn. */
const char *rig_name(void);

/* The row of the catalogue. */
unsigned rig_caps(const char *variant);
bool rig_is(const char *variant, const char *name);

/* Does it lock on all servers of redlock_urls? */
bool rig_uses_nodes(const char *variant);

/* Does the core's watchdog renew its leases? */
bool rig_is_watched(const char *variant);

/* Can it be handed over inside a process? */
bool rig_may_be_handed_over(const char *variant);

/* Acquire, with a lease of `lease_ms` by the system or by `request` (may be NULL), which
 * ends soon; presumes that it is granted before a half of it is over.  Answers until
 * when, by rig_now_ms(), the lease certainly lasts. */
int64_t rig_acquire_short(dlock_system *sys, const char *name,
                          const dlock_request *request, int lease_ms,
                          dlock_lease *lease);
#define lasts_until(until_ms) (rig_now_ms() < (until_ms))

/* Another thread tries the lock once, and releases it if it was granted. */
dlock_status rig_try_elsewhere(dlock_system *sys, const char *name);

/* The same by `sys`' calling thread. */
dlock_status rig_try(dlock_system *sys, const char *name);

/* The number of waiters of the lock by the store's count; -1: the store does not count. */
int rig_waiter_count(dlock_system *sys, const char *name);

/* Let somebody come to wait who nobody did before, and have looked: for `ms`, and since
 * the store, if it can, tells of it. */
void rig_let_wait(dlock_system *sys, const char *name, int ms);

/* Freed with the systems. */
dlock_cancel *rig_cancel(void);

/* A thread that acquires, says so, waits to be told, and releases. */
struct rig_helper;
struct rig_helper *rig_helper_start(dlock_system *sys, const char *name,
                                    int64_t wait_ms);
struct rig_helper *rig_helper_ask(dlock_system *sys, const char *name,
                                  const dlock_request *request);
bool rig_helper_is_done(struct rig_helper *helper);       /* the acquire has answered */
int64_t rig_helper_asked_ms(struct rig_helper *helper);   /* when it began to ask */

/* The time since `told_ms` that the helper, a waiter, took to get the lock.  A waiter
 * that is told of nothing looks by itself: as it begins, and again after LOOK_LEAST_MS.  A
 * helper that waited for so long, or was late to begin (premise_watch_pace() comes before it
 * does), may just have looked, which is INT64_MAX here. */
enum { LOOK_LEAST_MS = 200 };

/* Five hand-overs are tried, and many more until one took less than `limit_ms`: on a busy
 * machine it may be long until it is steady for one.  A waiter that is told of nothing is
 * so fast in none of them. */
enum { HAND_OVERS = 5, HAND_OVERS_MAX = 50 };
#define is_another_tried(tried, best_ms, limit_ms)                                     \
    ((tried) < HAND_OVERS || ((tried) < HAND_OVERS_MAX && (best_ms) >= (limit_ms)))
int64_t rig_helper_told_within_ms(struct rig_helper *helper, int64_t told_ms);
dlock_status rig_helper_acquired(struct rig_helper *helper); /* waits for that */
const dlock_lease *rig_helper_lease(const struct rig_helper *helper); /* the same */
uint64_t rig_helper_fence(const struct rig_helper *helper); /* of what it acquired */
void rig_helper_begin_release(struct rig_helper *helper);
bool rig_helper_has_released(struct rig_helper *helper); /* the release has answered */
dlock_status rig_helper_finish(struct rig_helper *helper); /* of the release */

int64_t rig_now_ms(void);
void rig_pause_ms(int ms);

void rig_check_status(dlock_status want, dlock_status got, const char *what,
                      const char *file, int line);

#define assert_status(want, call)                                                      \
    rig_check_status(DLOCK_##want, (call), #call, __FILE__, __LINE__)

/* Wait for a state to come, or fail. */
#define assert_comes(state)                                                            \
    do {                                                                               \
        int64_t give_up_ms_ = rig_now_ms() + PATIENCE_MS;                              \
        while (!(state)) {                                                             \
            if (rig_now_ms() > give_up_ms_) {                                          \
                print_error("did not come: %s\n", #state);                             \
                _fail(__FILE__, __LINE__);                                             \
            }                                                                          \
            rig_pause_ms(1);                                                           \
        }                                                                              \
    } while (0)

/* A state that must last. */
#define assert_stays(state, for_ms)                                                    \
    do {                                                                               \
        int64_t until_ms_ = rig_now_ms() + (for_ms);                                   \
        do {                                                                           \
            if (!(state)) {                                                            \
                print_error("did not last: %s\n", #state);                             \
                _fail(__FILE__, __LINE__);                                             \
            }                                                                          \
            rig_pause_ms(2);                                                           \
        } while (rig_now_ms() < until_ms_);                                            \
    } while (0)

#endif /* CONFORMANCE_RIG_H */
