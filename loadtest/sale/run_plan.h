/* SPDX-License-Identifier: MIT */
/* run_plan.h -- the plan of a run, and its result. */
#ifndef LOADTEST_SALE_RUN_PLAN_H
#define LOADTEST_SALE_RUN_PLAN_H

#include "loadtest/audit/audit.h"
#include "loadtest/live/live.h"
#include "loadtest/sale/hazard.h"
#include "loadtest/sale/remote_service.h"
#include "loadtest/sale/start_signal.h"

/* The services and vouchers that a load works on.  Clients send to the entries: the services
 * themselves, or the front before them. */
struct run_stage {
    const struct run_plan *plan;
    const char *dir;
    const struct service *services;
    int service_count;
    const struct service *entries;
    int entry_count;
    const char *urls;           /* of the entries, with commas                         */
    const int64_t *vouchers;
    int voucher_count;
    const char *voucher_list;   /* the same, with commas                               */
    char *why; /* for why_say()                                                        */
};

/* Send the orders of the run, and write the ledger and load.json into the run's
 * directory.  Answers as run_once() does. */
typedef enum exit_code run_load_fn(void *arg, const struct run_stage *stage);

struct run_plan {
    const struct lab *lab;
    lab_db *db;
    const char *dir;          /* exists                                              */
    const char *experiment;   /* for run.json; may be NULL, as may `lock`             */
    const char *lock;
    const char *const *flags; /* of seckilld                                         */
    const struct hazard *hazard;
    int processes, connections;
    bool has_front;           /* clients reach the processes through HAProxy         */
    int64_t stock;
    int voucher_count;
    int64_t duration_ms;      /* at most                                             */
    bool is_per_user;         /* one user orders over all connections: one_per_user.lua */
    int slot_ms, slot_users;  /* of that script                                      */
    int64_t lease_ms;
    bool has_gap, stays_out;  /* see hazard.h                                        */
    const char *face;         /* hmdp or v1                                          */
    bool transacts_at_once;   /* all requests may be in transactions at the same time */
    const struct remote_service *remote; /* is loaded, with its own vouchers, instead of
                               * processes that the run starts; then there is no lab  */
    run_load_fn *load;        /* instead of wrk and the hazard; NULL: those              */
    void *load_arg;
    bool record;              /* the locks: dir/locks, for `seckill check`           */
    struct live *live;        /* shows the run while it goes on; NULL: nothing does  */
    const char *title;        /* of the run in `live`; NULL: the lock                */
    bool quiet;               /* the reason of a failure is kept, and not printed    */
};

struct run_result {
    struct audit_verdict verdict;
    enum hazard_state hazard;
    char note[240];          /* the work of the hazard                               */
    char reason[WHY_MAX];    /* of a failure, if the plan is quiet; "" if nothing failed */
    char bug[WHY_MAX];       /* which process ended by a bug, and how; "" if none did  */
    int64_t sent, unanswered;
    int64_t told;            /* answers that named an order, accepted or queued       */
    int processes;           /* that were started                                     */
    int processes_at_work;   /* that have an order, or refused one by the lock or behind it */
    int64_t refused_late;    /* orders that the fence refused                         */
    struct start_times start;
    double orders_per_s;     /* accepted, from the first request to sold out          */
    double p99_ms;           /* of accepted orders; 0: none                           */
    int64_t elapsed_ms;
    bool users_ran_out;      /* which ended the load of wrk                          */
};

#endif /* LOADTEST_SALE_RUN_PLAN_H */
