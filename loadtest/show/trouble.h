/* SPDX-License-Identifier: MIT */
/* trouble.h -- the faults that somebody gives to the sale that is shown, and takes back.
 *
 * A fault that needs a holder is armed first: the next thread that has the lock and has read
 * the stock is held there, before it writes.  Freezing stops its whole process then, as
 * hazards/freeze.c does.
 *
 * Threads     One.
 */
#ifndef LOADTEST_SHOW_TROUBLE_H
#define LOADTEST_SHOW_TROUBLE_H

#include "loadtest/show/journal.h"
#include "loadtest/show/sale.h"

/* X(id, "name") */
#define SHOW_FAULTS(X)                                                                 \
    X(FREEZE, "freeze")                                                                \
    X(SLOW, "slow")                                                                    \
    X(KILL, "kill")

enum show_fault {
#define X(id, name) SHOW_FAULT_##id,
    SHOW_FAULTS(X)
#undef X
    SHOW_FAULT_COUNT
};

enum show_fault_state { SHOW_FAULT_OFF, SHOW_FAULT_ARMED, SHOW_FAULT_ON };

struct show_trouble {
    struct show_sale *sale;
    struct show_journal *journal;
    struct {
        enum show_fault_state state;
        int process;         /* who it happened to, from 0 on; ARMED: who may be caught;
                              * -1: anybody                                            */
        int64_t since_ns;
        struct service_lock hold; /* what the store said of the caught one's lock      */
        int tries;           /* how often a frozen process was let go for a moment      */
    } faults[SHOW_FAULT_COUNT];
    int64_t over_ns;         /* when the last one was taken back; 0: none yet           */
    bool is_lesson;          /* a lesson gives its own faults: nobody else gives any    */
    bool has_second;         /* a second thread is held in its work, by the lesson      */
    int second;              /* in this process                                         */
    struct service_lock second_hold; /* as faults[].hold                                */
};

/* The number of a fault; -1: there is none of that name.  The name; NULL past the last. */
int trouble_find(const char *name);
const char *trouble_name(int fault);

/* Why the fault cannot be given now, as a word that words.js has a sentence for; NULL: it
 * can, or it is there and can be taken back. */
const char *trouble_refuses(const struct show_trouble *trouble, enum show_fault fault);

/* Give it to a process (-1: to the next holder), or take it back if it is there. */
void trouble_toggle(struct show_trouble *trouble, enum show_fault fault, int process);

/* Wait for the next holder in that process (-1: in any), whether a load runs or not.  False:
 * no process took the fault, and the journal says so. */
bool trouble_arm(struct show_trouble *trouble, enum show_fault fault, int process);

/* Take the fault back, which is armed or there. */
void trouble_take_back(struct show_trouble *trouble, enum show_fault fault);

/* Go on with what is armed. */
void trouble_step(struct show_trouble *trouble);

/* Take everything back.  Processes that were killed are started again. */
void trouble_heal(struct show_trouble *trouble);

/* Is any fault armed or there? */
bool trouble_is_any(const struct show_trouble *trouble);

/* Which fault holds a thread of that process in the middle of its work: FREEZE, SLOW, or -1. */
int trouble_of_process(const struct show_trouble *trouble, int process);

/* What the store said of the lock of the thread that is held there, when it was caught.  The
 * process is one for which trouble_of_process() answers a fault. */
const struct service_lock *trouble_hold_of(const struct show_trouble *trouble, int process);

#endif /* LOADTEST_SHOW_TROUBLE_H */
