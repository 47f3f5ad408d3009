/* SPDX-License-Identifier: MIT */
/* fault.h -- named points in the code at which the laboratory can make things go wrong.
 *
 * A point that nobody armed costs one load and one predicted branch.  Arming is refused
 * by default: a program that wants faults calls dlock_fault_allow() once at its start.
 * In a bare build (bare.h) the points are nothing, and nothing can be armed.
 *
 * Threads     Any thread may reach a point while another arms or releases it.
 */
#ifndef DLOCK_FAULT_H
#define DLOCK_FAULT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lock/bare.h"

/* The one list of points: name, which actions there are besides hold, stop and kill, and
 * where it is.  Those of the order path, which come first and end with before-release, are
 * reached by the service, and what they cut is its connection to the database; the others
 * are reached by the library. */
#define DLOCK_FAULT_POINTS(X)                                                          \
    X(AFTER_ACQUIRE, "after-acquire", DLOCK_FAULT_CAN_FAIL | DLOCK_FAULT_CAN_CUT,      \
      "the lock is held, nothing was done yet")                                        \
    X(AFTER_READ, "after-read", DLOCK_FAULT_CAN_FAIL | DLOCK_FAULT_CAN_CUT,            \
      "stock or earlier orders were read, nothing written")                            \
    X(BEFORE_COMMIT, "before-commit", DLOCK_FAULT_CAN_FAIL | DLOCK_FAULT_CAN_CUT,      \
      "a unit is taken, neither the order's row nor COMMIT is sent")                   \
    X(AFTER_COMMIT, "after-commit", DLOCK_FAULT_CAN_FAIL | DLOCK_FAULT_CAN_CUT,        \
      "committed, the lock is still held")                                             \
    X(BEFORE_RELEASE, "before-release", 0, "about to give the lock back")              \
    X(BEFORE_REQUEST, "before-request", DLOCK_FAULT_CAN_FAIL | DLOCK_FAULT_CAN_CUT,    \
      "a lock in one Redis is about to send a command or a script")                    \
    X(AFTER_REPLY, "after-reply", DLOCK_FAULT_CAN_FAIL | DLOCK_FAULT_CAN_CUT,          \
      "its answer has come, and nobody has looked at it")                              \
    X(BEFORE_WATCH, "before-watch", 0,                                                 \
      "the lock is granted, and the watchdog does not know of it yet")                 \
    X(BETWEEN_SETNX_AND_EXPIRE, "between-setnx-and-expire",                            \
      DLOCK_FAULT_CAN_FAIL | DLOCK_FAULT_CAN_CUT,                                      \
      "`setnx` or `watch` has the lock, which does not end by itself yet")             \
    X(BETWEEN_CHECK_AND_DELETE, "between-check-and-delete",                            \
      DLOCK_FAULT_CAN_FAIL | DLOCK_FAULT_CAN_CUT,                                      \
      "`owner`, `watch` or `getset` is about to delete what it takes for its own")     \
    X(WATCHDOG_TICK, "watchdog-tick", DLOCK_FAULT_CAN_FAIL,                            \
      "the watchdog woke and is about to renew")

typedef enum {
#define X(id, name, more, where) DLOCK_FAULT_##id,
    DLOCK_FAULT_POINTS(X)
#undef X
    DLOCK_FAULT_POINT_COUNT
} dlock_fault_point;

/* What happens to who reaches an armed point.  The last two are done by the code there:
 * fail, as if the store had failed, with a status that is true of what has been sent so
 * far: IO if nothing was, UNKNOWN if something was. */
#define DLOCK_FAULT_ACTIONS(X)                                                         \
    X(HOLD, "hold", "this thread waits until it is released")                          \
    X(STOP, "stop", "the whole process stops itself (SIGSTOP)")                        \
    X(KILL, "kill", "the whole process kills itself (SIGKILL)")                        \
    X(FAIL, "fail", "the call answers as if the store had failed")                     \
    X(CUT, "cut", "the connection that this thread uses is dropped")

typedef enum {
#define X(id, name, what) DLOCK_FAULT_##id,
    DLOCK_FAULT_ACTIONS(X)
#undef X
    DLOCK_FAULT_ACTION_COUNT,
    DLOCK_FAULT_NOTHING = DLOCK_FAULT_ACTION_COUNT /* is left to be done              */
} dlock_fault_action;

enum {
    DLOCK_FAULT_CAN_FAIL = 1 << DLOCK_FAULT_FAIL,
    DLOCK_FAULT_CAN_CUT = 1 << DLOCK_FAULT_CUT,
};

enum { DLOCK_FAULT_KEY_MAX = 200 };

/* What a point is doing. */
typedef struct dlock_fault_state {
    bool armed;                            /* the next fitting thread will be caught  */
    bool holding;                          /* a thread waits here now                 */
    uint64_t caught;                       /* how many were caught since the start    */
    char key[DLOCK_FAULT_KEY_MAX + 1];     /* the lock name of the last one caught    */
} dlock_fault_state;

extern atomic_bool dlock_fault_any_armed;

/* Is any point armed?  What is asked at each of them first. */
static inline bool dlock_fault_is_any_armed(void)
{
    return !DLOCK_IS_BARE &&
           __builtin_expect(
               atomic_load_explicit(&dlock_fault_any_armed, memory_order_relaxed), 0);
}

/* Reach a point, working under the lock `key`: FAIL or CUT if the caller has to do that,
 * otherwise NOTHING.  Never call it yourself: use the macros. */
dlock_fault_action dlock_fault_reach(dlock_fault_point point, const char *key);

#define DLOCK_FAULT_ASK(point, key)                                                    \
    (dlock_fault_is_any_armed() ? dlock_fault_reach((point), (key))                    \
                                : DLOCK_FAULT_NOTHING)

/* For a point that can do no more than hold, stop and kill. */
#define DLOCK_FAULT(point, key) ((void)DLOCK_FAULT_ASK(DLOCK_FAULT_##point, (key)))

/* Let this process be given faults from now on.  False, and dlock_error() says so: this
 * is a bare build. */
bool dlock_fault_allow(void);
bool dlock_fault_is_allowed(void);

/* From now on nothing happens to the calling thread at any point: its locks are not those
 * that somebody wants to see fail. */
void dlock_fault_spare_thread(void);

/* Is the action one of those that the point can do? */
bool dlock_fault_can(dlock_fault_point point, dlock_fault_action action);

/* Catch the next thread that reaches `point` under the lock `key` ("" or NULL: any).
 * One thread is caught per arming.  False, and nothing changes: faults are not allowed
 * (of a bare build, dlock_error() says that it is one), the point cannot do that, it is
 * armed already, or a thread is held there. */
bool dlock_fault_arm(dlock_fault_point point, dlock_fault_action action,
                     const char *key);

/* Let the held thread go on and disarm the point.  False if it was neither. */
bool dlock_fault_release(dlock_fault_point point);

void dlock_fault_look(dlock_fault_point point, dlock_fault_state *out);

/* Names for points and actions, and back; -1 if there is none of that name. */
const char *dlock_fault_point_name(dlock_fault_point point);
const char *dlock_fault_point_where(dlock_fault_point point);
int dlock_fault_point_find(const char *name);
const char *dlock_fault_action_name(dlock_fault_action action);
int dlock_fault_action_find(const char *name);

#endif /* DLOCK_FAULT_H */
