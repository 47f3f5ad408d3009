/* SPDX-License-Identifier: MIT */
/* faults.h -- the faults of the processes of the sale that is shown, and the state of each fault.
 *
 * trouble.h decides which fault may be given, and gives it to a process.
 *
 * Threads     One.
 */
#ifndef LOADTEST_SHOW_FAULTS_H
#define LOADTEST_SHOW_FAULTS_H

#include "loadtest/show/journal.h"
#include "loadtest/show/sale.h"
#include "loadtest/show/servers.h"

/* X(id, "name", the point where a thread is held; NULL: none) */
#define SHOW_FAULTS(X)                                                                 \
    X(FREEZE, "freeze", "after-read")                                                  \
    X(SLOW, "slow", "after-read")                                                      \
    X(GAP, "check-gap", "between-check-and-delete")                                    \
    X(KILL, "kill", NULL)                                                              \
    X(CUT, "cut", NULL)

enum show_fault {
#define X(id, name, point) SHOW_FAULT_##id,
    SHOW_FAULTS(X)
#undef X
    SHOW_FAULT_COUNT
};

enum { SHOW_FAULTS_MAX = 48 }; /* those of servers too */

/* The holds that each process had lost, as it counts them. */
struct show_losses {
    pid_t pids[SERVICE_MAX];     /* 0: it does not run                                  */
    int64_t counts[SERVICE_MAX]; /* -1: not known                                       */
};

/* Whether a fault met a holder of the lock at work. */
struct show_met {
    const char *name;
    int64_t due_ns; /* when that is judged; 0: it need not be; -1: the fault is being made */
    int tries;
    struct show_losses before;
    bool is_end;    /* of the fault: if that met nobody, it is no news                  */
    bool is_told, is_unknown;
    int64_t count;  /* holders that lost the lock                                       */
};

enum show_fault_state { SHOW_FAULT_OFF, SHOW_FAULT_ARMED, SHOW_FAULT_ON, SHOW_FAULT_BUSY };

struct show_faults {
    struct show_sale *sale;
    struct show_journal *journal;
    struct show_servers *servers;
    struct trouble_fault {
        enum show_fault_state state;
        int process;         /* the process that has the fault, from 0 on; ARMED: the
                              * process that may be caught, -1: any process            */
        int64_t since_ns;
        struct service_lock hold; /* the caught thread's lock, as the store told it    */
        int tries;           /* how often the frozen process was continued for a moment */
        bool is_borrowed;    /* FREEZE: SLOW holds the thread, and releases it          */
    } faults[SHOW_FAULT_COUNT];
    struct show_met met[SHOW_FAULTS_MAX];
    struct show_losses losses; /* as they were last read                                */
    int64_t over_ns;         /* the end of the last fault; 0: none has ended yet        */
    bool are_servers_well;
    bool is_lesson;          /* a lesson injects its faults; requests for others are refused */
    bool has_second;         /* the lesson holds a second thread at its work            */
    int second;              /* the process of that thread                              */
    struct service_lock second_hold; /* as faults[].hold                                */
};

#endif /* LOADTEST_SHOW_FAULTS_H */
