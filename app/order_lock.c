/* SPDX-License-Identifier: MIT */
/* order_lock.c -- take, give back and abandon the lock of an order. */
#include "app/order_lock.h"

#include "base/text/duration.h"
#include "lock/fault.h"

void order_lock_trace(const struct service *service, const dlock_lease *lease,
                      const char *trace_id)
{
    dlock_status st;

    if (trace_id == NULL)
        return;
    st = dlock_trace(service->locks, lease, trace_id);
    if (st != DLOCK_OK)
        LIMITED_WARN("lock %s: its record lacks the trace %s: %s", lease->name, trace_id,
                     dlock_error());
}

enum outcome order_lock_take(struct worker *w, const struct order_request *request,
                             struct order_lock *lock)
{
    return order_lock_take_within(w, request, lock, w->service->config->lock_wait_ms);
}

enum outcome order_lock_take_within(struct worker *w, const struct order_request *request,
                                    struct order_lock *lock, int64_t wait_ms)
{
    const struct config *c = w->service->config;
    int64_t asked_ns = monotonic_ns();
    dlock_status st;

    if (c->lock_scope_is_voucher)
        lock_name_of_voucher(request->voucher_id, lock->name);
    else
        lock_name_of_user(request->user_id, lock->name);
    st = dlock_acquire(w->service->locks, lock->name, wait_ms, &lock->lease);
    lock->held_ns = monotonic_ns();
    metrics_count(&w->cell->acquired[st]);
    metrics_record_duration(&w->cell->lock_wait, lock->held_ns - asked_ns);
    lock->is_held = st == DLOCK_OK;
    readiness_judge(w->service->readiness, READINESS_LOCKS, st);
    if (lock->is_held) {
        order_lock_trace(w->service, &lock->lease, request->trace_id);
        return OUTCOME_ACCEPTED;
    }
    if (st == DLOCK_BUSY || st == DLOCK_TIMEOUT) {
        metrics_count(&w->cell->stopped[LAYER_LOCK]);
        return OUTCOME_LOCK_BUSY;
    }
    LIMITED_WARN("lock %s: %s: %s", lock->name, dlock_status_text(st), dlock_error());
    return st == DLOCK_INVALID || st == DLOCK_NOMEM ? OUTCOME_INTERNAL
                                                    : OUTCOME_UNAVAILABLE;
}

/* Release the lock.  A release without waiting is sent before the client gets its
 * answer, so that the client's next order finds the lock free in other processes
 * too. */
static dlock_status give_back(const struct service *service, dlock_lease *lease)
{
    dlock_status st;

    if (service->config->unlock_waits)
        return dlock_release(service->locks, lease);
    st = dlock_release_later(service->locks, lease);
    dlock_send_debts(service->locks);
    return st;
}

void order_lock_give(struct worker *w, struct order_lock *lock)
{
    dlock_status st;

    if (!lock->is_held)
        return;
    DLOCK_FAULT(BEFORE_RELEASE, lock->name);
    lock->is_held = false;
    st = give_back(w->service, &lock->lease);
    metrics_count(&w->cell->released[st]);
    readiness_judge(w->service->readiness, READINESS_LOCKS, st);
    metrics_record_duration(&w->cell->lock_hold, monotonic_ns() - lock->held_ns);
    if (st != DLOCK_OK)
        LIMITED_WARN("release of lock %s: %s: %s", lock->name,
                     dlock_status_text(st), dlock_error());
}

void order_lock_abandon(struct worker *w, struct order_lock *lock)
{
    dlock_status st;

    if (!lock->is_held)
        return;
    lock->is_held = false;
    st = dlock_abandon(w->service->locks, &lock->lease);
    metrics_count(&w->cell->abandoned);
    metrics_record_duration(&w->cell->lock_hold, monotonic_ns() - lock->held_ns);
    if (st == DLOCK_OK)
        LIMITED_WARN("lock %s is left to its lease, because the outcome of an order under it is "
                     "not known",
                     lock->name);
    else
        LIMITED_WARN("lock %s cannot be left to its lease: %s: %s", lock->name,
                     dlock_status_text(st), dlock_error());
}
