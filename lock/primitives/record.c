/* SPDX-License-Identifier: MIT */
/* record.c -- records and counts the calls to semaphores, permits and latches.
 *
 * Permits have no owner, so the owner in a record is the calling thread. */
#include <string.h>

#include "base/os/clock.h"
#include "base/os/fork.h"
#include "base/os/random.h"
#include "base/os/thread.h"
#include "lock/primitives/primitives.h"
#include "lock/sized.h"
#include "lock/status.h"

dlock_status dlock_primitives_record(dlock_primitives *prims, const char *dir)
{
    DLOCK_PUT_OFF_CANCEL;
    char text[DLOCK_UUID_LEN + 1];
    dlock_recorder_about about = {.variant = "primitives", .uuid = text};

    dlock_error_clear();
    if (prims == NULL || dir == NULL || *dir == '\0')
        return dlock_fail(DLOCK_INVALID, "primitives and a directory are needed");
    if (prims->generation != dlock_fork_generation())
        return dlock_fail(DLOCK_INVALID, "the primitives belong to the parent process");
    if (prims->recorder != NULL)
        return dlock_fail(DLOCK_INVALID, "these primitives are recorded already");
    dlock_random_uuid(text);
    return dlock_recorder_open(&prims->recorder, dir, &about);
}

struct primitive_call primitive_begin(const dlock_primitives *prims, const dlock_event *event)
{
    struct primitive_call call = {
        .kind = event->kind, .begun_ns = dlock_clock_ns(), .before = dlock_spent_here()};
    dlock_event asked = *event;

    if (prims->recorder == NULL)
        return call;
    asked.owner = dlock_thread_id();
    call.recorded = dlock_recorder_begin(prims->recorder, &asked);
    return call;
}

static void primitive_count(struct dlock_tally *metrics, const struct primitive_call *call,
                            dlock_status st)
{
    bool is_acquire = call->kind == DLOCK_EVENT_SEM_TAKE || call->kind == DLOCK_EVENT_LATCH_WAIT ||
                      call->kind == DLOCK_EVENT_PERMIT_TAKE;

    dlock_metrics_spent(
        metrics, is_acquire ? DLOCK_METRIC_acquire_commands : DLOCK_METRIC_other_commands,
        &call->before);
    if (is_acquire)
        dlock_metrics_acquire(metrics, st);
    if (is_acquire && st == DLOCK_OK)
        dlock_metrics_wait(metrics, dlock_clock_ns() - call->begun_ns);
    if (call->kind == DLOCK_EVENT_PERMIT_RENEW)
        dlock_metrics_add(
            metrics, st == DLOCK_OK ? DLOCK_METRIC_renewals : DLOCK_METRIC_renewals_failed, 1);
}

dlock_status primitive_end(dlock_primitives *prims, const struct primitive_call *call,
                           dlock_status st, const dlock_event *answer)
{
    dlock_event told = {0};

    primitive_count(&prims->metrics, call, st);
    if (call->recorded == 0)
        return st;
    if (answer != NULL)
        told = *answer;
    told.status = st;
    dlock_recorder_end(prims->recorder, call->recorded, &told);
    return st;
}

void dlock_primitives_metrics_read_sized(dlock_primitives *prims, dlock_metrics *out, size_t size)
{
    DLOCK_PUT_OFF_CANCEL;
    dlock_metrics sums = {0};

    if (out == NULL)
        return;
    if (prims != NULL)
        dlock_metrics_sum(&prims->metrics, &sums);
    if (prims != NULL && redis_link_era(prims->link) > 1)
        sums.fail_overs = redis_link_era(prims->link) - 1;
    dlock_hand_out(out, size, &sums, sizeof(sums));
}
