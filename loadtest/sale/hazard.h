/* SPDX-License-Identifier: MIT */
/* hazard.h -- things that go wrong on purpose, at a named point in a real process.
 *
 * A hazard is one file in hazards/ and one line in hazards.def.  A hazard is driven by what
 * can be seen (a thread is held, a process is stopped, an order is in the database),
 * never by time alone: time only says how long at least and how long at most.  A hazard
 * that did not happen is an error of the run, never a silent pass.
 */
#ifndef LOADTEST_SALE_HAZARD_H
#define LOADTEST_SALE_HAZARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/audit.h"
#include "loadtest/fault/history.h"
#include "loadtest/sale/control.h"
#include "loadtest/sale/service.h"

enum hazard_state {
    HAZARD_GOING,
    HAZARD_OVER,
    HAZARD_MISSED, /* it did not come about: shows nothing, may be repeated          */
    HAZARD_FAILED, /* something is wrong; scene->note says what                      */
};

/* The processes that a hazard works on, and how far it has come. */
struct hazard_scene {
    const struct service *services;
    int service_count;
    lab_db *db;
    int64_t first_voucher, last_voucher;
    int64_t user;     /* whose lock is the target; 0: the lock is the voucher's      */
    char key[64];     /* the lock's name                                             */
    int64_t lease_ms;
    int64_t enough;   /* how many orders by others show that they got in             */
    bool has_gap;     /* the variant has the point between-check-and-delete          */
    bool stays_out;   /* the variant has to keep others out of a stopped process     */

    struct control *control; /* of the load; NULL until it is there                   */
    bool aims;        /* somebody is waited for, so the load has to ask for the lock  */

    int stage;
    int64_t stage_ns; /* when the stage began                                        */
    int64_t baseline; /* orders under this lock at that time                         */
    int tries;        /* how often the stage was begun again                         */
    struct fault_history *history; /* of the run, for faults that a hazard makes from
                                    * outside (the process that reaches a point records
                                    * that itself); NULL: it is not recorded         */
    const struct service *first;  /* the process in which the first holder was caught*/
    const struct service *second; /* and the second one                              */
    struct service_lock hold;     /* what the store said of the last one's lock then  */
    int64_t hold_ends_ns;         /* not before this, if nobody renews it             */
    bool contends;                /* those who ask for the lock are being counted     */
    char note[240];   /* what happened, for people                                   */
};

struct hazard {
    const char *name;
    const char *does;
    bool needs_faults;                            /* processes with --allow-faults   */
    const char *point; /* where it lies in wait before the load begins; NULL: nowhere */
    bool needs_gap;    /* it does nothing to a lock without the gap (has_gap)         */
    enum hazard_state (*step)(struct hazard_scene *); /* again and again meanwhile   */
    void (*undo)(struct hazard_scene *); /* MAY: let everything go that is not held at
                                          * `point`, at any stage                    */
};

/* Lie in wait at the hazard's point.  False: scene->note says why it cannot be armed. */
bool hazard_arm(const struct hazard *hazard, struct hazard_scene *scene);
/* Let everything go, at any stage. */
void hazard_undo(const struct hazard *hazard, struct hazard_scene *scene);

/* --- for the files in hazards/ --- */

enum {
    HAZARD_CATCH_MS = 15000, /* how long to wait for somebody to come to a point      */
    HAZARD_SELL_MS = 10000,  /* how long to wait for others to sell, once they can    */
    HAZARD_TRIES = 8,        /* so many who were refused show that nobody gets in     */
};

/* Lay in wait at `point`, in every process, for who works under the target's lock. */
bool hazard_lay_in_wait(struct hazard_scene *scene, const char *point);
/* Was somebody caught there?  OVER: yes, *where is the process, and nobody else will
 * be, and scene->hold is what the store said of the lock.  MISSED: nobody came for
 * HAZARD_CATCH_MS, or nobody can come any more. */
enum hazard_state hazard_caught(struct hazard_scene *scene, const char *point,
                                const struct service **where);
/* Let everybody go who is held at `point`, and disarm it. */
void hazard_let_go(const struct hazard_scene *scene, const char *point);

/* Begin to count those who ask for the target's lock; once in a stage. */
void hazard_contend(struct hazard_scene *scene);
/* The number of them that have sent a request and been answered since. */
int64_t hazard_tried(const struct hazard_scene *scene);
/* Does the lock keep others out?  So it does if HAZARD_TRIES have asked in vain since
 * hazard_contend(), nobody has sold since the baseline, and the store still names the owner
 * of scene->hold. */
bool hazard_stays_out(const struct hazard_scene *scene, const struct service *not_this);

/* Begin the next stage. */
void hazard_next(struct hazard_scene *scene);
/* Milliseconds in this stage. */
int64_t hazard_stage_ms(const struct hazard_scene *scene);
/* Did others sell under the target's lock since the baseline?  Under a voucher's lock
 * `count` more orders say so; under a user's, that every voucher was sold to the user,
 * so that the one who is held comes second. */
bool hazard_others_sold(const struct hazard_scene *scene, int64_t count);

#endif /* LOADTEST_SALE_HAZARD_H */
