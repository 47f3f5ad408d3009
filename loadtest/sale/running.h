/* SPDX-License-Identifier: MIT */
/* running.h -- for the files of sale/: the state of a run, and the files that it leaves. */
#ifndef LOADTEST_SALE_RUNNING_H
#define LOADTEST_SALE_RUNNING_H

#include "loadtest/audit/evidence.h"
#include "loadtest/sale/run_plan.h"
#include "loadtest/sale/service.h"
#include "loadtest/sale/wrk.h"

/* The state of a run. */
struct running {
    const struct run_plan *plan;
    struct run_result *result;
    struct service services[SERVICE_MAX];
    int service_count;
    bool services_ended_well;
    struct service front; /* runs if the plan has one                  */
    int64_t vouchers[EVIDENCE_VOUCHERS_MAX];
    int voucher_count_of_first; /* those of partition 0, which are the first */
    char voucher_list[512];
    struct wrk wrk;
    struct hazard_scene scene;
    struct fault_history *history; /* NULL: the run is not recorded */
    int64_t begin_ns; /* when all clients had begun to send                            */
    int64_t hazard_over_ns, sold_out_before;
    int64_t sold_out_ns, accepted_then; /* when "sold out" was first heard              */
    int64_t began_us;        /* as begin_ns, by the wall clock, since 1970              */
    int64_t fault_begin_ns;  /* when the hazard caught a thread; 0: it has not          */
};

/* The buffer for the reason of a failure, as why_say() takes it. */
char *running_why(struct running *r);

/* The wall clock in microseconds since 1970, by which PostgreSQL stamps the rows. */
int64_t running_wall_us(void);

/* Write run.json: what was run, with how the clients began and whether the run is settled,
 * that is, no process works for it any more.  False: it cannot be written, and why is said. */
bool running_write(struct running *r, bool is_settled);
/* Begin to show the run, and tell its counts from time to time while wrk runs. */
void running_show(struct running *r);
void running_tell(struct running *r);
/* Read what the clients counted from load.json into the result; zeros if there is none. */
void running_read_load(struct running *r);
/* Wait until no order waits in the stream of --order-path=stream, but a minute at most: a waiting
 * order may still get its row.  False: orders wait, or Redis did not say how many; stderr says
 * which, unless the plan is quiet. */
bool running_wait_drained(const struct running *r);
/* Wait until PostgreSQL does no work for the processes, which have ended, but some seconds at
 * most.  A transaction may go on after its process was killed.  False: PostgreSQL still works for
 * them, or does not answer. */
bool running_wait_settled(struct running *r);
/* Export the evidence from the database, audit it into the result, and write verdict.json.
 * `is_settled`: nothing that was sent can still become an order.
 * EXIT_VALID: done, whatever the verdict.  Else running_why() or stderr says why.
 * EXIT_UNAVAILABLE: the database, or a file that was written before, could not be read.
 * EXIT_CANNOT_WRITE: a file of the run could not be written. */
enum exit_code running_judge(struct running *r, bool is_settled);

#endif /* LOADTEST_SALE_RUNNING_H */
