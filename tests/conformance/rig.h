/* SPDX-License-Identifier: MIT */
/* rig.h -- the common helpers of the laws: systems, names, other threads, waiting for states.
 *
 * After a law, systems and servers that the law opened are closed, also if the law failed. */
#ifndef CONFORMANCE_RIG_H
#define CONFORMANCE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lock/dlock.h"

/* The lease of laws that wait until it ends. */
#define SHORT_LEASE_MS STRETCHED(250)
/* The lease of laws whose watchdog has to renew in time, and the time after which a renewal must be
 * visible: the first renewal is due at a third of the lease. */
#define KEPT_LEASE_MS STRETCHED(950)
#define RENEWED_MS (KEPT_LEASE_MS / 2)

/* The limit for states that have to come. No law measures with it. */
#define PATIENCE_MS rig_patience_ms
extern int rig_patience_ms;

/* Do the laws of one Redis run on a Redis Cluster? */
static inline bool rig_is_on_cluster(void)
{
    const char *url = getenv("SECKILL_REDIS_URL");

    return url != NULL && strncmp(url, "redis-cluster://", strlen("redis-cluster://")) == 0;
}

/* The options of `variant` on the servers of the environment: no watchdog, and timeouts that are
 * long enough for slow servers. */
dlock_options rig_options(const char *variant);

/* Open a system, or fail the law. With short timeouts the function may try several times to
 * connect. */
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

/* Return a lock name that was not used before. The text is valid until 15 more names were drawn. */
const char *rig_name(void);

/* Facts of the variant's row in the catalogue. */
unsigned rig_caps(const char *variant);
bool rig_is(const char *variant, const char *name);

/* Does the variant lock on all servers of redlock_urls? */
bool rig_uses_nodes(const char *variant);

/* Does the library's watchdog renew the variant's leases? */
bool rig_is_watched(const char *variant);

/* Can the variant be handed over inside a process? */
bool rig_may_be_handed_over(const char *variant);

/* Acquire with a short lease of `lease_ms`, which the system or `request` (may be NULL) sets;
 * presume that the lock is granted before half of the lease is over. Returns the time, by
 * rig_now_ms(), until which the lease certainly lasts. */
int64_t rig_acquire_short(dlock_system *sys, const char *name,
                          const dlock_request *request, int lease_ms,
                          dlock_lease *lease);
#define lasts_until(until_ms) (rig_now_ms() < (until_ms))

/* Let another thread try the lock once, and release it if it was granted. */
dlock_status rig_try_elsewhere(dlock_system *sys, const char *name);

/* The same by the calling thread. */
dlock_status rig_try(dlock_system *sys, const char *name);

/* The number of waiters of the lock by the store's count; -1: the store does not count waiters. */
int rig_waiter_count(dlock_system *sys, const char *name);

/* Wait until the store, if it counts waiters, shows a waiter, and then for `ms`, in which a waiter
 * that has just come makes its first attempts. */
void rig_let_wait(dlock_system *sys, const char *name, int ms);

/* Make a cancel, which is freed with the systems. */
dlock_cancel *rig_cancel(void);

/* A helper is a thread that acquires, reports the answer, waits for an order to release, and
 * releases. */
struct rig_helper;
struct rig_helper *rig_helper_start(dlock_system *sys, const char *name,
                                    int64_t wait_ms);
struct rig_helper *rig_helper_ask(dlock_system *sys, const char *name,
                                  const dlock_request *request);
bool rig_helper_is_done(struct rig_helper *helper);       /* the acquire has answered */
int64_t rig_helper_asked_ms(struct rig_helper *helper);   /* when its acquire began */

/* The time from `told_ms` until the helper, a waiter, got the lock. A waiter that gets no message
 * asks by itself: at its beginning, and again after LOOK_LEAST_MS. A helper that waited for so
 * long, or whose machine was not steady (call premise_watch_pace() before the helper begins), may
 * have got the lock by asking; then the result is INT64_MAX. */
enum { LOOK_LEAST_MS = 200 };

/* Try five hand-overs, and up to fifty until a hand-over took less than `limit_ms`: a busy machine
 * may be steady only seldom. A waiter without a message is never as fast as that. */
enum { HAND_OVERS = 5, HAND_OVERS_MAX = 50 };
#define is_another_tried(tried, best_ms, limit_ms)                                     \
    ((tried) < HAND_OVERS || ((tried) < HAND_OVERS_MAX && (best_ms) >= (limit_ms)))
int64_t rig_helper_told_within_ms(struct rig_helper *helper, int64_t told_ms);
dlock_status rig_helper_acquired(struct rig_helper *helper); /* waits for the answer */
const dlock_lease *rig_helper_lease(const struct rig_helper *helper); /* of what it acquired */
uint64_t rig_helper_fence(const struct rig_helper *helper); /* of what it acquired */
void rig_helper_begin_release(struct rig_helper *helper);
bool rig_helper_has_released(struct rig_helper *helper); /* the release has answered */
dlock_status rig_helper_finish(struct rig_helper *helper); /* the status of the release */

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

/* The state has to hold for `for_ms`. */
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

/* ---- premises: was the machine as fast as a law presumes? ----
 *
 * A law that measures a quarter of a second proves nothing on a machine that stood still for as
 * long. So a law states what it presumes, by a clock and never by the answers of the lock. When a
 * premise did not hold, the law is not judged: everything that it opened is closed, and it begins
 * again with its times twice as long. After PREMISE_TRIES the law fails, because the machine was
 * never steady enough. Each new beginning is printed.
 *
 * A check that fails while its premise holds fails the law at once. */
enum { PREMISE_TRIES = 5 };

/* The factor by which the times of the law are longer than usual: 1, then 2, 4, 8, 16. */
extern int premise_stretch;
#define STRETCHED(ms) ((ms) * premise_stretch)

/* Run `law` until its premises hold to its end. `name` is printed with each new beginning;
 * `begin_anew` closes what the law opened. */
void premise_run(const char *name, void (*law)(const char *variant),
                 const char *variant, void (*begin_anew)(void));

/* If the premise did not hold, begin the law again; this call then does not return. Only the thread
 * of the law may call it. */
void premise_check(bool held, const char *what, const char *file, int line);
#define presume(premise) premise_check((premise), #premise, __FILE__, __LINE__)

/* Start a thread that sleeps for a moment again and again, and records the longest delay of a
 * wake-up since the last call of this function: other threads are delayed as much as this one. */
void premise_watch_pace(void);

/* Note the time of a request, whose wake-ups were delayed by an eighth of that each. */
void premise_note_request(int64_t took_ms);

/* The longest delay so far, including the sleep that goes on now. */
int64_t premise_latest_ms(void);

/* Was no thread kept from the processor for longer than a twentieth of `ms`? A request takes about
 * eight wake-ups: the thread that asks, the thread that writes, the server and the parts of the
 * server that it waits for, the thread that reads, and the way back. Other programs on the
 * processor delay each of these steps. */
#define is_steady(ms) (premise_latest_ms() <= (ms) / 20)

/* Join the thread. */
void premise_end_pace(void);

/* The check has to hold while the premise does. The premise is evaluated after the check: a premise
 * that holds after the check held during the check. */
#define assert_provided(premise, check)                                                \
    do {                                                                               \
        if (!(check)) {                                                                \
            premise_check((premise), #premise "; so this was not judged: " #check,     \
                          __FILE__, __LINE__);                                         \
            print_error("does not hold: %s\n", #check);                                \
            _fail(__FILE__, __LINE__);                                                 \
        }                                                                              \
    } while (0)

/* The same for as long as the lease is valid by its own clock. */
#define assert_while_valid(sys, lease, check)                                          \
    assert_provided(dlock_lease_valid((sys), (lease)), (check))

/* The answer of `call` has to be `want` while the premise holds. */
#define assert_status_provided(premise, want, call)                                    \
    do {                                                                               \
        dlock_status provided_ = (call);                                               \
        if (provided_ != DLOCK_##want)                                                 \
            premise_check((premise), #premise "; so this was not judged: " #call,      \
                          __FILE__, __LINE__);                                         \
        rig_check_status(DLOCK_##want, provided_, #call, __FILE__, __LINE__);          \
    } while (0)

/* A state that must last, provided that the premise holds. Its check is at most one request. */
#define assert_stays_provided(premise, state, for_ms)                                  \
    do {                                                                               \
        int64_t lasts_until_ms_ = rig_now_ms() + (for_ms);                             \
        do {                                                                           \
            int64_t asked_ms_ = rig_now_ms();                                          \
            bool holds_ = (state);                                                     \
            premise_note_request(rig_now_ms() - asked_ms_);                            \
            if (!holds_) {                                                             \
                premise_check((premise), #premise "; so this was not judged: " #state, \
                              __FILE__, __LINE__);                                     \
                print_error("does not hold: %s\n", #state);                            \
                _fail(__FILE__, __LINE__);                                             \
            }                                                                          \
            rig_pause_ms(10);                                                          \
        } while (rig_now_ms() < lasts_until_ms_);                                      \
    } while (0)

#endif /* CONFORMANCE_RIG_H */
