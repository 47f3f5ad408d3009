/* SPDX-License-Identifier: MIT */
/* admission.c -- limits the orders that are in progress at once, in all processes
 * together. */
#include "app/admission.h"

#include <stdatomic.h>
#include <stdlib.h>


struct admission {
    dlock_primitives *prims;
    const struct config *config;
    struct limited repair;
    atomic_int owed;    /* places of the semaphore whose release was not sent */
    atomic_uint making; /* how often this process has made the places anew     */
};

/* Make the semaphore or the permits.  BUSY: they exist already. */
static dlock_status make_places(struct admission *a)
{
    const struct config *c = a->config;

    return c->admission_kind == ADMISSION_PERMITS
               ? dlock_permits_set(a->prims, c->admission_name, c->admission_limit)
               : dlock_semaphore_set(a->prims, c->admission_name, c->admission_limit);
}

/* The places that orders have are gone with the data of Redis, and those that are owed. */
static void note_made_anew(struct admission *a)
{
    atomic_fetch_add(&a->making, 1);
    atomic_store(&a->owed, 0);
    log_warn("%s was gone from Redis and is made anew", a->config->admission_name);
}

/* Log the number of free permits, if they exist already: the process that made them may
 * have had another limit, or may have died with permits. */
static dlock_status tell_what_is_left(struct admission *a)
{
    const struct config *c = a->config;
    int64_t available = 0;
    int64_t acquired = 0;
    dlock_status st;

    if (c->admission_kind == ADMISSION_SEMAPHORE) {
        st = dlock_semaphore_available(a->prims, c->admission_name, &available);
        if (st == DLOCK_OK && available != c->admission_limit)
            log_warn("--admission=%s: %s exists already and has %lld free places; "
                     "orders in progress hold the others, or processes that died",
                     c->admission, c->admission_name, (long long)available);
        return st;
    }
    st = dlock_permits_acquired(a->prims, c->admission_name, &acquired);
    if (st == DLOCK_OK)
        st = dlock_permits_available(a->prims, c->admission_name, &available);
    if (st == DLOCK_OK && available + acquired != c->admission_limit)
        log_warn("--admission=%s: %s exists already and has %lld places; DEL it in "
                 "Redis to make it anew",
                 c->admission, c->admission_name, (long long)(available + acquired));
    return st;
}

dlock_status admission_open(struct admission **out, const struct config *config)
{
    struct admission *a = calloc(1, sizeof(*a));
    dlock_status st;

    *out = NULL;
    if (a == NULL)
        return DLOCK_NOMEM;
    a->config = config;
    st = dlock_primitives_open(&a->prims, config->redis_url,
                               (int)config->redis_timeout_ms);
    if (st == DLOCK_OK)
        st = make_places(a);
    if (st == DLOCK_BUSY)
        st = tell_what_is_left(a);
    if (st == DLOCK_OK)
        *out = a;
    else
        admission_close(a);
    return st;
}

/* Give the owed places back, as soon as Redis answers.  A Redis that has lost its data
 * gets all places anew, so none is owed.  After UNKNOWN from the release the places are
 * lost, because a second release might give them back twice.  After UNKNOWN from the
 * making the places may exist anew.  Another process that owes places cannot see that
 * they were made anew, and gives its own back as well; then there are too many. */
static dlock_status pay(struct admission *a)
{
    int owed = atomic_exchange(&a->owed, 0);
    dlock_status made, st;

    if (owed == 0)
        return DLOCK_OK;
    made = make_places(a);
    st = made == DLOCK_BUSY
             ? dlock_semaphore_release(a->prims, a->config->admission_name, owed)
             : made;
    if (made == DLOCK_OK)
        note_made_anew(a);
    else if (made != DLOCK_UNKNOWN && (made != DLOCK_BUSY || st == DLOCK_IO))
        atomic_fetch_add(&a->owed, owed);
    return st;
}

void admission_close(struct admission *a)
{
    if (a == NULL)
        return;
    dlock_primitives_close(a->prims);
    free(a);
}

dlock_status admission_check(struct admission *a)
{
    dlock_status st = dlock_primitives_check(a->prims);

    if (st == DLOCK_OK)
        st = make_places(a);
    if (st == DLOCK_OK)
        note_made_anew(a);
    return st == DLOCK_BUSY ? DLOCK_OK : st;
}

static dlock_status try_once(struct admission *a, struct admission_place *place)
{
    const struct config *c = a->config;
    dlock_status st = c->admission_kind == ADMISSION_PERMITS
                          ? dlock_permits_acquire(a->prims, c->admission_name, 0,
                                                  (int)c->admission_lease_ms, &place->permit)
                          : dlock_semaphore_acquire(a->prims, c->admission_name, 1, 0);

    place->making = atomic_load(&a->making);
    return st;
}

/* If Redis has lost its data, it has no permits, which looks like a reached limit.  So
 * once a second a refused order makes them again if they do not exist. */
dlock_status admission_enter(struct admission *a, struct admission_place *place)
{
    enum { REPAIR_EVERY_MS = 1000 };
    dlock_status st = pay(a);

    if (st == DLOCK_OK)
        st = try_once(a, place);
    if (st == DLOCK_TIMEOUT)
        return DLOCK_BUSY; /* granted, but only after its lease had ended */
    if (st != DLOCK_BUSY || !limited_pass(&a->repair, 1, REPAIR_EVERY_MS))
        return st;
    if (make_places(a) != DLOCK_OK)
        return DLOCK_BUSY;
    note_made_anew(a);
    st = try_once(a, place);
    return st == DLOCK_TIMEOUT ? DLOCK_BUSY : st;
}

dlock_status admission_leave(struct admission *a, const struct admission_place *place)
{
    const struct config *c = a->config;
    dlock_status st;

    if (c->admission_kind == ADMISSION_PERMITS)
        return dlock_permits_release(a->prims, c->admission_name, &place->permit);
    st = pay(a);
    if (place->making != atomic_load(&a->making))
        return DLOCK_OK;
    st = st == DLOCK_OK ? dlock_semaphore_release(a->prims, c->admission_name, 1)
                        : DLOCK_IO; /* nothing was sent for this place */
    if (st == DLOCK_IO)
        atomic_fetch_add(&a->owed, 1);
    return st;
}
