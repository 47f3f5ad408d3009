/* SPDX-License-Identifier: MIT */
/* lesson_script.h -- gives the fault of a lesson at the right moment, and takes it back.
 *
 * Each step is driven by what can be seen: a thread is held, a process is dead, orders are in
 * the database, the store names an owner.  Time only says how long at least and how long at
 * most.  A fault that did not come about is said to have been missed.
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
    const char *missed;  /* why the fault did not come about, as a word that lesson.js has
                          * a sentence for; NULL: it did, or may still                  */
    int stage;
    int64_t stage_ns;    /* when the stage began                                        */
    int64_t asked_ns;    /* when the database or a process was last asked               */
    int64_t baseline;    /* orders at the beginning of the stage                        */
    int first, second;   /* the processes in which the first and the second holder are  */
    int64_t hold_ends_ns; /* the lease of the second one ends no earlier                */
    bool has_era;        /* those who ask for the lock are being counted                */

    /* Seen: */
    int64_t others;      /* orders that others made while the holder was held            */
    int64_t tried;       /* requests that were sent and answered meanwhile               */
    int64_t held_ms;     /* for so long the holder was held                              */
    bool stayed_out;     /* the lock kept everybody out meanwhile                        */
    bool is_deleted;     /* the first holder deleted the lock of the second              */
    uint64_t fence;      /* of the holder; 0: it had none                                */
};

/* Lay in wait for the first holder of the voucher that is offered; before the load begins.
 * False: no process took the fault, and the script is over. */
bool lesson_script_begin(struct lesson_script *script, const struct lesson *lesson);

/* Go on, again and again while the load runs. */
void lesson_script_step(struct lesson_script *script);

/* Let everybody go: the load is about to end.  If the script is not over, it was missed. */
void lesson_script_end(struct lesson_script *script);

#endif /* LOADTEST_SHOW_LESSON_SCRIPT_H */
