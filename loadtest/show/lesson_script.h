/* SPDX-License-Identifier: MIT */
/* lesson_script.h -- injects the fault of a lesson at the right moment, and ends it.
 *
 * Each step begins when a state is observed: a thread is held, a process is dead, orders are in
 * the database, the store names an owner.  Times are only the least and the longest duration of a
 * step.  A fault that did not happen is reported as missed.
 *
 * Threads     One.
 */
#ifndef LOADTEST_SHOW_LESSON_SCRIPT_H
#define LOADTEST_SHOW_LESSON_SCRIPT_H

#include "loadtest/show/lesson.h"
#include "loadtest/show/sight.h"

struct lesson_script {
    struct show_sale *sale;
    struct show_faults *trouble;
    struct show_journal *journal;
    const struct sight *sight;

    enum lesson_fault fault;
    int64_t lease_ms;
    bool is_over;        /* nothing more will be done                                   */
    const char *missed;  /* the reason for which the fault did not happen, a code for which
                          * lesson.js has a sentence; NULL: it happened, or may still   */
    int stage;
    int64_t stage_ns;    /* when the stage began                                        */
    int64_t asked_ns;    /* when the database or a process was last asked               */
    int64_t baseline;    /* orders at the beginning of the stage                        */
    int first, second;   /* the processes of the first and of the second holder         */
    int64_t hold_ends_ns; /* the earliest end of the second holder's lease              */
    bool has_era;        /* requests for the lock are counted                           */

    /* Observations: */
    int64_t others;      /* orders that others made while the holder was held            */
    int64_t tried;       /* requests that were sent and answered meanwhile               */
    int64_t held_ms;     /* the time for which the holder was held                       */
    bool stayed_out;     /* the lock excluded all others meanwhile                       */
    bool is_deleted;     /* the first holder deleted the lock of the second              */
    uint64_t fence;      /* of the holder; 0: it had none                                */
};

/* Arm the fault for the first holder of the offered voucher's lock.  To be called before the load
 * begins.  False: no process armed the fault, and the script is over. */
bool lesson_script_begin(struct lesson_script *script, const struct lesson *lesson);

/* Go on, again and again while the load runs. */
void lesson_script_step(struct lesson_script *script);

/* Let all held threads continue, because the load is about to end.  If the script is not over,
 * its fault was missed. */
void lesson_script_end(struct lesson_script *script);

#endif /* LOADTEST_SHOW_LESSON_SCRIPT_H */
