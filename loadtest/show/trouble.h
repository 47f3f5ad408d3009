/* SPDX-License-Identifier: MIT */
/* trouble.h -- the faults that users inject into the sale that is shown, and end again.
 *
 * The faults of processes (SHOW_FAULTS) come first; the faults of servers follow, in the order
 * of fault/faults.def.  Different faults may be there at once.
 *
 * A fault that needs a holder is armed first: the next thread that has the lock and comes to
 * the fault's point is held there.  Freezing stops its whole process then, as
 * hazards/freeze.c does.
 *
 * Threads     One.
 */
#ifndef LOADTEST_SHOW_TROUBLE_H
#define LOADTEST_SHOW_TROUBLE_H

#include "loadtest/show/board.h"
#include "loadtest/show/faults.h"

/* The reasons for which a fault cannot be given or taken back.  X(id, "code", "in words");
 * words.js has a sentence for each code. */
#define SHOW_REFUSALS(X)                                                               \
    X(NOTHING_RUNS, "nothing-runs", "nothing runs: start the load first")              \
    X(GONE, "process-gone", "the process is gone: start it again first")               \
    X(NO_STORE, "no-store", "the process needs its lock's server to start: end the fault of the " \
                            "server, or of the wire, first")                           \
    X(STOPPED, "process-stopped", "the process is frozen: let it go on first")         \
    X(HELD, "process-held", "a thread of the process is held by another fault")        \
    X(WAITS, "another-waits", "another fault waits for the next holder of the lock")   \
    X(NO_GAP, "no-gap", "this lock checks its owner and deletes in one step")          \
    X(NO_WIRE, "no-wire", "the lock is not in one Redis server, so no wire can be cut") \
    X(NO_SERVER, "no-server", "no server that keeps the lock can suffer this")         \
    X(JUDGE, "judge", "the verdict comes from PostgreSQL, which has to answer")        \
    X(NO_KEY, "no-key", "each user has a lock of their own: no single lock can be lost") \
    X(SERVER_BUSY, "server-busy", "the server suffers another fault")                  \
    X(BUSY, "fault-busy", "the fault is being made or undone")                         \
    X(LESSON, "in-a-lesson", "the lesson gives its fault itself")                      \
    X(NO_TIME, "no-time", "the server's fault cannot be by that time")

/* The wish to inject a fault, or to end it. */
struct trouble_wish {
    int fault;
    int process;        /* -1: the next holder                                         */
    const char *server; /* "": the first server that keeps the lock                    */
    int64_t by_ms;      /* 0: by default                                               */
};

/* The number of a fault; -1: there is none of that name.  The name; NULL past the last. */
int trouble_find(const char *name);
const char *trouble_name(int fault);

/* The present condition of a fault: the state, the process from 0 on (-1: none), the server
 * ("": none), since when. */
struct trouble_look {
    enum show_fault_state state;
    int process;
    char server[16];
    int64_t since_ns;
    bool has_failed; /* the server's fault could not be made, or not be undone          */
    bool has_ended; /* the server ended without a fault: taking this back starts it     */
};
struct trouble_look trouble_look(const struct show_faults *trouble, int fault);

/* The reason for which the wish cannot be carried out now: the fault cannot be given, or the
 * fault that is there cannot be taken back. */
struct show_refusal trouble_refuses(const struct show_faults *trouble,
                                    const struct trouble_wish *wish);
/* The refusals of what needs a load while there is none, and of what a lesson does itself. */
struct show_refusal trouble_nothing_runs(void);
struct show_refusal trouble_in_a_lesson(void);

/* Give the fault, or take it back if it is there.  trouble_refuses() must have refused nothing. */
void trouble_toggle(struct show_faults *trouble, const struct trouble_wish *wish);

/* Wait for the next holder in that process (-1: in any), whether a load runs or not.  False:
 * no process took the fault, and the journal says so. */
bool trouble_arm(struct show_faults *trouble, enum show_fault fault, int process);

/* Take a process's fault back, which is armed or there. */
void trouble_take_back(struct show_faults *trouble, enum show_fault fault);

/* Do the next step of every armed fault. */
void trouble_step(struct show_faults *trouble);

/* Take everything back.  Processes that were killed are started again.  Servers may still be
 * starting when it returns. */
void trouble_heal(struct show_faults *trouble);

/* Take everything back before the processes are ended or started anew: the same, but processes
 * that were killed stay dead. */
void trouble_leave(struct show_faults *trouble);

/* Is any fault armed or there? */
bool trouble_is_any(const struct show_faults *trouble);

/* Which fault holds a thread of that process in the middle of its work: FREEZE, SLOW, GAP, or
 * -1. */
int trouble_of_process(const struct show_faults *trouble, int process);

/* The lock of the thread that is held there, as the store told it when the thread was caught.
 * The process is one for which trouble_of_process() answers a fault. */
const struct service_lock *trouble_hold_of(const struct show_faults *trouble, int process);

#endif /* LOADTEST_SHOW_TROUBLE_H */
