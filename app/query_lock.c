/* SPDX-License-Identifier: MIT */
/* query_lock.c -- a reader's lock for a query of a voucher's stock. */
#include "app/query_lock.h"

#include "app/lock_name.h"
#include "app/lock_trace.h"
#include "lock/fault.h"

enum outcome query_lock_take(struct worker *w, int64_t voucher_id, const char *trace_id,
                             struct query_lock *r)
{
    const struct config *c = w->service->config;
    dlock_request request = {.shared = true, .wait_ms = c->lock_wait_ms};
    char name[LOCK_NAME_SIZE];
    dlock_status st;

    r->is_locked = false;
    if (!c->lock_knows_readers || !c->lock_scope_is_voucher)
        return OUTCOME_ACCEPTED;
    lock_name_of_voucher(voucher_id, name);
    st = dlock_acquire_with(w->service->locks, name, &request, &r->lease);
    metrics_count(&w->cell->acquired[st]);
    readiness_judge(w->service->readiness, READINESS_LOCKS, st);
    r->is_locked = st == DLOCK_OK;
    if (r->is_locked) {
        lock_trace_note(w->service, &r->lease, trace_id);
        DLOCK_FAULT(AFTER_ACQUIRE, name);
        return OUTCOME_ACCEPTED;
    }
    if (st == DLOCK_BUSY || st == DLOCK_TIMEOUT)
        return OUTCOME_LOCK_BUSY;
    LIMITED_WARN("reading under lock %s: %s: %s", name, dlock_status_text(st),
                 dlock_error());
    return st == DLOCK_INVALID || st == DLOCK_NOMEM ? OUTCOME_INTERNAL
                                                    : OUTCOME_UNAVAILABLE;
}

void query_lock_give(struct worker *w, struct query_lock *r)
{
    dlock_status st;

    if (!r->is_locked)
        return;
    r->is_locked = false;
    st = dlock_release(w->service->locks, &r->lease);
    metrics_count(&w->cell->released[st]);
    readiness_judge(w->service->readiness, READINESS_LOCKS, st);
    if (st != DLOCK_OK)
        LIMITED_WARN("lock %s was given back by a reader: %s: %s", r->lease.name,
                     dlock_status_text(st), dlock_error());
}
