/* SPDX-License-Identifier: MIT */
/* fault_points.h -- the named points at which the laboratory can make things go wrong,
 * and the actions that each point has. fault.h has the functions that arm and reach
 * points. */
#ifndef DLOCK_FAULT_POINTS_H
#define DLOCK_FAULT_POINTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/os/condition.h"

/* The one list of points: name, the actions it has besides hold, stop and kill, and its
 * place in the code.  The service reaches the points of the order path, which come
 * first and end with before-release; CUT there drops the connection to the database.
 * The library reaches the others. */
#define DLOCK_FAULT_POINTS(X)                                                          \
    X(AFTER_ACQUIRE, "after-acquire", DLOCK_FAULT_CAN_FAIL | DLOCK_FAULT_CAN_CUT,      \
      "the lock is held, nothing was done yet")                                        \
    X(AFTER_READ, "after-read", DLOCK_FAULT_CAN_FAIL | DLOCK_FAULT_CAN_CUT,            \
      "stock or earlier orders were read, nothing written")                            \
    X(BEFORE_COMMIT, "before-commit", DLOCK_FAULT_CAN_FAIL | DLOCK_FAULT_CAN_CUT,      \
      "a unit is taken, neither the order's row nor COMMIT is sent")                   \
    X(AFTER_COMMIT, "after-commit", DLOCK_FAULT_CAN_FAIL | DLOCK_FAULT_CAN_CUT,        \
      "the order is committed, the lock is still held")                                \
    X(BEFORE_RELEASE, "before-release", 0, "a thread is about to give the lock back")  \
    X(BEFORE_REQUEST, "before-request", DLOCK_FAULT_CAN_FAIL | DLOCK_FAULT_CAN_CUT,    \
      "a lock in one Redis is about to send a command or a script")                    \
    X(AFTER_REPLY, "after-reply", DLOCK_FAULT_CAN_FAIL | DLOCK_FAULT_CAN_CUT,          \
      "the answer of that Redis has arrived, and is not read yet")                     \
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

/* The actions of an armed point on the thread that reaches it.  The code at the point
 * carries out the last two.  After FAIL the call answers as if the store had failed,
 * with the status that is true at that moment: IO if nothing was sent yet, UNKNOWN if a
 * request was sent. */
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
    DLOCK_FAULT_NOTHING = DLOCK_FAULT_ACTION_COUNT /* no action for the caller        */
} dlock_fault_action;

enum {
    DLOCK_FAULT_CAN_FAIL = 1 << DLOCK_FAULT_FAIL,
    DLOCK_FAULT_CAN_CUT = 1 << DLOCK_FAULT_CUT,
};

enum { DLOCK_FAULT_KEY_MAX = 200 };

/* The state of a point. */
typedef struct dlock_fault_state {
    bool armed;                            /* the next matching thread will be caught */
    bool holding;                          /* a thread waits here now                 */
    uint64_t caught;                       /* how many were caught since the start    */
    char key[DLOCK_FAULT_KEY_MAX + 1];     /* the lock name of the last one caught    */
} dlock_fault_state;

/* One point of a process, under the mutex of the process's points. */
struct dlock_fault_at {
    bool armed;
    bool holding;
    dlock_fault_action action;
    char wanted[DLOCK_FAULT_KEY_MAX + 1]; /* "" = any */
    uint64_t caught;
    uint64_t releases; /* a held thread waits for this to change */
    char key[DLOCK_FAULT_KEY_MAX + 1];
};

/* The points of a process. */
struct dlock_fault_points {
    atomic_bool allowed;
    struct dlock_mutex mutex; /* protects what follows */
    struct dlock_condition let_go;
    struct dlock_fault_at at[DLOCK_FAULT_POINT_COUNT];
};

#endif /* DLOCK_FAULT_POINTS_H */
