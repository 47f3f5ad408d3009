/* SPDX-License-Identifier: MIT */
/* hazard.h -- the contract for hazards: faults at a named point of a process under load.
 *
 * A hazard is one file in hazards/ and one line in hazards.def.  A hazard goes on to its
 * next stage when it observes a state: a thread is held, a process is stopped, an order
 * is in the database.  Times are only limits of such a wait.  If a hazard does not
 * happen, the run has an error, and never passes silently.  A hazard that needs the gap is
 * over at once for a lock without the gap.
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
    HAZARD_MISSED, /* the hazard did not happen: the run shows nothing; repeat it    */
    HAZARD_FAILED, /* a server or a process failed; scene->note has the reason       */
    HAZARD_LATE, /* the hazard did not happen, and it may have held a thread for longer than
                  * its lease, so a violation shows nothing either; no step answers it */
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
    int64_t enough;   /* this many orders of other owners show that they got the lock */
    bool has_gap;     /* the variant has the point between-check-and-delete          */
    bool stays_out;   /* while the process of the holder is stopped, the variant must
                       * grant the lock to no other owner                            */

    struct control *control; /* of the load; NULL until it is there                   */
    bool aims;        /* the hazard waits for a thread, so the load must use the lock */

    int stage;
    int64_t stage_ns; /* when the stage began                                        */
    int64_t baseline; /* orders under this lock at that time; -1: not known          */
    int tries;        /* the number of times that the stage was begun again          */
    struct fault_history *history; /* of the run, for faults that a hazard makes from
                                    * outside (the process that reaches a point records
                                    * that itself); NULL: it is not recorded         */
    const struct service *first;  /* the process whose thread was held first          */
    const struct service *second; /* the process whose thread was held second         */
    struct service_lock hold;     /* the lock of the thread that was held last, as the
                                   * store described it at that moment               */
    int64_t hold_ends_ns;         /* if the lease is not renewed, it ends after this  */
    bool holds_within_lease;      /* a thread is held that must write before its lease ends */
    bool contends;                /* hazard_tried() counts requests for the lock now  */
    char note[240];   /* what happened, for people                                   */
};

struct hazard {
    const char *name;
    const char *does;
    bool needs_faults;                            /* processes with --allow-faults   */
    const char *point; /* the point that is armed before the load begins; NULL: none  */
    bool needs_gap;    /* has no effect on a lock without the gap (has_gap)           */
    enum hazard_state (*step)(struct hazard_scene *); /* called repeatedly under load */
    void (*undo)(struct hazard_scene *); /* MAY: end, in any stage, the faults that are not
                                          * threads held at `point`                  */
};

/* Arm the point of the hazard.  False: scene->note has the reason. */
bool hazard_arm(const struct hazard *hazard, struct hazard_scene *scene);
/* Let the held threads continue, and end all faults, in any stage. */
void hazard_undo(const struct hazard *hazard, struct hazard_scene *scene);

/* --- for the files in hazards/ --- */

enum {
    HAZARD_CATCH_MS = 15000, /* the longest wait for a thread to reach a point        */
    HAZARD_SELL_MS = 10000,  /* the longest wait for other owners to sell             */
    HAZARD_TRIES = 8,        /* so many answered requests show that the lock holds    */
};

/* Arm `point` in every process: the next thread of each that comes there with the target's
 * lock is held. */
bool hazard_lay_in_wait(struct hazard_scene *scene, const char *point);
/* Ask if a thread is held at `point`.
 *   OVER    a thread is held: *where is its process, scene->hold is the lock as the store
 *           described it, and the point is disarmed in all other processes
 *   GOING   no thread has reached the point yet
 *   MISSED  no thread reached the point within HAZARD_CATCH_MS, or none can any more */
enum hazard_state hazard_caught(struct hazard_scene *scene, const char *point,
                                const struct service **where);
/* Let every thread continue that is held at `point`, and disarm the point. */
void hazard_let_go(const struct hazard_scene *scene, const char *point);

/* Begin to count the requests for the target's lock; at most once in a stage. */
void hazard_contend(struct hazard_scene *scene);
/* The number of these requests that were sent, and to which the sale or the lock answered, since
 * hazard_contend(). */
int64_t hazard_tried(const struct hazard_scene *scene);
/* Does the lock exclude all other owners?  True if the sale or the lock answered to HAZARD_TRIES
 * requests since hazard_contend(), no order was sold since the baseline, and the store still names
 * the owner of scene->hold.  False if the database does not count the orders. */
bool hazard_stays_out(const struct hazard_scene *scene, const struct service *not_this);

/* Begin the next stage. */
void hazard_next(struct hazard_scene *scene);
/* Milliseconds in this stage. */
int64_t hazard_stage_ms(const struct hazard_scene *scene);
/* Did other owners sell under the target's lock since the baseline?  With the lock of a
 * voucher, `count` more orders show it.  With the lock of a user, it is shown when the user
 * has an order for every voucher, so that the order of the held thread is a second one.  False if
 * the database does not count the orders. */
bool hazard_others_sold(const struct hazard_scene *scene, int64_t count);

#endif /* LOADTEST_SALE_HAZARD_H */
