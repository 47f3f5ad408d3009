/* SPDX-License-Identifier: MIT */
/* issued.c -- makes the vouchers of a run, in the partitions that the lab has. */
#include "loadtest/sale/issued.h"

#include <inttypes.h>
#include <stdio.h>

/* The partition of a voucher of the run, all vouchers of a partition one after another: so those
 * of partition 0 are first.  A hazard aims at vouchers of partition 0, and the experiment on one
 * order per user counts in it. */
static int partition_of(const struct run_plan *plan, int i)
{
    if (plan->hazard->needs_faults || plan->is_per_user || plan->record)
        return 0;
    return (int)((int64_t)i * plan->lab->partition_count / plan->voucher_count);
}

/* False: `error` says why. */
static bool issue_in(const struct run_plan *plan, int partition, int64_t *id, char error[512])
{
    struct lab_voucher voucher = {.title = "a run of the laboratory", .stock = plan->stock};
    char url[LAB_DATABASE_URL_MAX];
    lab_db *db = NULL;
    bool ok;

    lab_partition_url(plan->lab, partition, url, sizeof url);
    if (partition > 0 && !lab_db_open(&db, url, error, 512))
        return false;
    ok = lab_issue_voucher(db ? db : plan->db, &voucher, id);
    if (!ok)
        snprintf(error, 512, "%s", lab_db_error(db ? db : plan->db));
    lab_db_close(db);
    return ok;
}

bool run_issue_vouchers(struct running *r)
{
    const struct run_plan *plan = r->plan;
    size_t used = 0;

    for (int i = 0; i < plan->voucher_count; i++) {
        int partition = partition_of(plan, i);
        char error[512];

        if (!issue_in(plan, partition, &r->vouchers[i], error)) {
            why_say(running_why(r), "cannot make a voucher: %s", error);
            return false;
        }
        r->voucher_count_of_first += partition == 0;
        used += (size_t)snprintf(r->voucher_list + used, sizeof r->voucher_list - used,
                                 "%s%" PRId64, i ? "," : "", r->vouchers[i]);
    }
    return true;
}
