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
    int64_t over_ns;         /* the end of the last fault; 0: none has ended yet        */
    bool are_servers_well;
    bool is_lesson;          /* a lesson injects its faults; requests for others are refused */
    bool has_second;         /* the lesson holds a second thread at its work            */
    int second;              /* the process of that thread                              */
    struct service_lock second_hold; /* as faults[].hold                                */
};

#endif /* LOADTEST_SHOW_FAULTS_H */
