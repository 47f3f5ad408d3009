/* SPDX-License-Identifier: MIT */
/* fault_points.h -- the named points at which the laboratory can make things go wrong, and
 * what can happen there.  fault.h has what is done with them. */
#ifndef DLOCK_FAULT_POINTS_H
#define DLOCK_FAULT_POINTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/os/condition.h"

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
      "the order is committed, the lock is still held")                                \
    X(BEFORE_RELEASE, "before-release", 0, "a thread is about to give the lock back")  \
    X(BEFORE_REQUEST, "before-request", DLOCK_FAULT_CAN_FAIL | DLOCK_FAULT_CAN_CUT,    \
      "a lock in one Redis is about to send a command or a script")                    \
    X(AFTER_REPLY, "after-reply", DLOCK_FAULT_CAN_FAIL | DLOCK_FAULT_CAN_CUT,          \
      "the answer to that request has arrived, and is not read yet")                   \
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

/* The fate of a thread that reaches an armed point.  The last two are done by the code
 * there: fail, as if the store had failed, with a status that is true of what has been
 * sent so far: IO if nothing was, UNKNOWN if something was. */
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

/* The state of a point. */
typedef struct dlock_fault_state {
    bool armed;                            /* the next fitting thread will be caught  */
    bool holding;                          /* a thread waits here now                 */
    uint64_t caught;                       /* how many were caught since the start    */
    char key[DLOCK_FAULT_KEY_MAX + 1];     /* the lock name of the last one caught    */
} dlock_fault_state;

/* A point of a process, under the mutex of all. */
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
    struct dlock_mutex mutex; /* of what follows */
    struct dlock_condition let_go;
    struct dlock_fault_at at[DLOCK_FAULT_POINT_COUNT];
};

#endif /* DLOCK_FAULT_POINTS_H */
