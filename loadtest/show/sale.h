/* SPDX-License-Identifier: MIT */
/* sale.h -- the sale that is shown: the processes of the service, one voucher, the load.
 *
 * Threads     One.
 */
#ifndef LOADTEST_SHOW_SALE_H
#define LOADTEST_SHOW_SALE_H

#include "db/lab_db.h"
#include "loadtest/lab/urls.h"
#include "loadtest/proxy/proxy.h"
#include "loadtest/sale/service.h"
#include "loadtest/sale/wrk.h"
#include "loadtest/show/rated.h"
#include "loadtest/show/switches.h"

/* The users that wrk has.  The load ends before a user has to come again, since the second order
 * of a user would be the load's mistake and no lock's. */
enum { SHOW_USERS = 100000 };

/* A wire from each process of the sale to the Redis server that keeps the locks of one server: a
 * proxy, which can be cut.  On a cut wire no byte arrives, and neither end is closed. */
struct show_wires {
    struct proxy *proxies[SERVICE_MAX]; /* NULL: not opened yet                      */
    int holds[SERVICE_MAX][2];          /* the faults of a cut wire, by direction     */
    bool is_cut[SERVICE_MAX];
    char urls[SERVICE_MAX][LAB_URL_MAX + 32]; /* as the environment of a process has them */
};

struct show_sale {
    const struct lab *lab;
    lab_db *db;
    const char *dir; /* for logs and ledgers                                          */
    struct show_switches switches;
    struct service services[SERVICE_MAX];
    char systems[SERVICE_MAX][40]; /* the uuid that the owners of each begin with; ""  */
    int service_count;
    struct show_wires wires; /* to Redis, if the lock is in one Redis server           */
    bool has_wires;
    int64_t voucher;
    char key[64];    /* of the voucher's lock; "": each user has a lock                */
    struct wrk wrk;
    struct show_rated *rated; /* sends in place of wrk, if there is a rate              */
    struct control control;   /* the counts of wrk or of `rated`                        */
    bool is_loaded;  /* wrk or `rated` runs                                            */
    bool has_run;    /* the voucher had its load                                       */
    int64_t begin_ns, end_ns; /* of the load; 0: not yet                               */
    int64_t made_ms;          /* the time that it took to offer the sale               */
    char why[WHY_MAX];        /* the reason of the last failure                        */
};

/* Offer a fresh voucher under these settings.  A load that runs ends at once, without waiting
 * for its answers.  Processes that run under the same settings go on; else they, and one that
 * has died, are started anew.  Anything but EXIT_VALID: sale->why says why. */
enum exit_code show_sale_offer(struct show_sale *sale, const struct show_switches *switches);

/* Start the load.  Returns when all clients have sent something.  False: sale->why. */
bool show_sale_load(struct show_sale *sale);

/* Does the load go on?  False: it has ended by itself, or its users are used up. */
bool show_sale_load_runs(const struct show_sale *sale);

/* Ask that process for the state of the voucher's lock.  If the process does not answer, left_ms
 * is -1 and all other fields are 0. */
void show_sale_look_at_lock(const struct show_sale *sale, int process,
                            struct service_lock *lock);

/* End the load, waiting for answers for a few seconds; fine if there is none. */
void show_sale_unload(struct show_sale *sale);

/* Start a process that was killed, at the same port.  False: sale->why. */
bool show_sale_restart(struct show_sale *sale, int process);

/* End the load and the processes. */
void show_sale_close(struct show_sale *sale);

/* False: `why` (WHY_MAX bytes) says the reason.  Mending a whole wire does nothing. */
bool show_wires_cut(struct show_wires *wires, int process, char *why);
void show_wires_mend(struct show_wires *wires, int process);

#endif /* LOADTEST_SHOW_SALE_H */
