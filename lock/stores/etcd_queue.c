/* SPDX-License-Identifier: MIT */
/* etcd_queue.c -- queues of keys in etcd, one for each name of a lock. */
#include "lock/stores/etcd_queue.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "lock/info.h"
#include "lock/stores/etcd_http.h"
#include "lock/stores/etcd_leases.h"
#include "lock/stores/etcd_places.h"
#include "lock/stores/etcd_watches.h"

enum {
    LOOK_EVERY_MS = 2000, /* between two checks of a waiter, without a message of the
                           * watch */
    LOOK_AGAIN_MS = 100, /* after a check that failed */
    RENEWALS_PER_LEASE = 3,
    TAKE_TRIES = 3, /* a kept lease may have ended, and then another lease is tried */
    OUTSIDE_TRIES = 20, /* the first of a queue may leave during the inspection */
    MS_PER_S = 1000,
};

/* The `before` of a waiter that does not know which key is before its own.  No lease
 * has this number. */
#define NOT_KNOWN UINT64_MAX

struct etcd_queue {
    struct etcd_http *http;
    struct etcd_leases *leases;
    struct etcd_keys *keys;
    struct etcd_places *places;
    struct etcd_watches *watches;
};

dlock_status etcd_queue_open(struct etcd_queue **out, const dlock_options *opts)
{
    struct etcd_queue *queue = calloc(1, sizeof(*queue));
    dlock_status st = queue != NULL ? etcd_http_open(&queue->http, opts)
                                    : dlock_fail(DLOCK_NOMEM, "no memory for the queues");

    *out = NULL;
    if (st == DLOCK_OK) {
        queue->leases = etcd_leases_open(queue->http);
        queue->keys = etcd_keys_open(queue->http);
        queue->places = etcd_places_open();
        queue->watches = etcd_watches_open(queue->http);
        if (queue->leases == NULL || queue->keys == NULL || queue->places == NULL ||
            queue->watches == NULL)
            st = dlock_fail(DLOCK_NOMEM, "no memory for the queues");
    }
    if (st == DLOCK_OK)
        st = etcd_queue_check(queue);
    if (st != DLOCK_OK) {
        etcd_queue_close(queue);
        return st;
    }
    *out = queue;
    return DLOCK_OK;
}

void etcd_queue_close(struct etcd_queue *queue)
{
    if (queue == NULL)
        return;
    etcd_watches_close(queue->watches);
    etcd_leases_close(queue->leases);
    etcd_keys_close(queue->keys);
    etcd_places_close(queue->places);
    etcd_http_close(queue->http);
    free(queue);
}

dlock_status etcd_queue_check(struct etcd_queue *queue)
{
    return etcd_keys_check(queue->keys);
}

static struct etcd_key key_of(const dlock_claim *claim, const struct etcd_place *place)
{
    struct etcd_key key = {claim->name, place->lease.id, place->created};

    return key;
}

static bool holds(const struct etcd_place *place)
{
    return place->created != 0 && place->before == 0;
}

static bool get(struct etcd_queue *queue, const dlock_claim *claim, struct etcd_place *out)
{
    return etcd_places_get(queue->places, claim->owner, claim->name, out);
}

static bool put(struct etcd_queue *queue, const dlock_claim *claim,
                const struct etcd_place *place)
{
    return etcd_places_put(queue->places, claim->owner, claim->name, place);
}

static void drop(struct etcd_queue *queue, const dlock_claim *claim)
{
    etcd_places_drop(queue->places, claim->owner, claim->name);
}

/* --- leaving --- */

/* The place has no key any more: keep its lease for another key, or revoke it if a
 * request may still arrive. */
static void end_lease(struct etcd_queue *queue, const struct etcd_place *place,
                      int64_t give_up_ns)
{
    if (!place->is_doubtful && !place->is_owed)
        etcd_lease_give(queue->leases, &place->lease);
    else if (dlock_is_failure(etcd_lease_end(queue->leases, place->lease.id, give_up_ns)))
        etcd_lease_owe(queue->leases, place->lease.id);
}

/* Delete the key of the place, and note that for the waiters of this process.  If one
 * waits, the answer names the first key that is left, so that its waiter need not ask
 * etcd. */
static dlock_status delete_key(struct etcd_queue *queue, const dlock_claim *claim,
                               const struct etcd_place *place)
{
    struct etcd_key key = key_of(claim, place);
    bool looks = etcd_watches_wait(queue->watches, claim->name);
    struct etcd_parting parting;
    dlock_status st = etcd_key_delete(queue->keys, &key, looks, claim->give_up_ns, &parting);

    if (st == DLOCK_OK) {
        struct etcd_end end = {key.lease, key.created, parting.revision};

        etcd_watches_note(queue->watches, claim->name, &end, parting.first_created);
    }
    return st;
}

/* Give up a place that does not hold the lock, and remove it from the table.  OK:
 * nothing of it is left in etcd. */
static dlock_status give_up(struct etcd_queue *queue, const dlock_claim *claim,
                            struct etcd_place *place)
{
    dlock_status st = DLOCK_UNKNOWN;

    if (place->created != 0 && !place->is_doubtful)
        st = delete_key(queue, claim, place);
    if (!dlock_is_failure(st)) {
        end_lease(queue, place, claim->give_up_ns);
    } else {
        /* Revoking the lease deletes its key, also a key that a late request would
         * put. */
        st = etcd_lease_end(queue->leases, place->lease.id, claim->give_up_ns);
        if (dlock_is_failure(st))
            etcd_lease_owe(queue->leases, place->lease.id);
        else
            st = DLOCK_OK;
    }
    drop(queue, claim);
    return st == DLOCK_LOST ? DLOCK_OK : st;
}

/* Owe the lease of a hold whose release failed.  The caller may give up, and without the lease
 * being revoked the key would keep out others until the lease ends. */
static void owe_hold(struct etcd_queue *queue, const dlock_claim *claim, struct etcd_place *place)
{
    if (place->is_owed)
        return;
    place->is_owed = true;
    if (put(queue, claim, place))
        etcd_lease_owe(queue->leases, place->lease.id);
}

/* Release a hold.  If that fails, the place stays in the table for the next try, and a thread
 * that waits or acquires in this process revokes the lease. */
static dlock_status release(struct etcd_queue *queue, const dlock_claim *claim,
                            struct etcd_place *place)
{
    bool is_over = dlock_clock_ns() >= place->hold_end_ns;
    dlock_status st = delete_key(queue, claim, place);

    if (dlock_is_failure(st)) {
        owe_hold(queue, claim, place);
        return st;
    }
    end_lease(queue, place, claim->give_up_ns);
    drop(queue, claim);
    if (st == DLOCK_LOST && place->is_owed && !is_over)
        return dlock_fail(DLOCK_UNKNOWN,
                          "etcd: the key is gone, after a try to release that failed");
    return is_over ? DLOCK_LOST : st;
}

dlock_status etcd_queue_leave(struct etcd_queue *queue, const dlock_claim *claim)
{
    struct etcd_place place;
    dlock_status st;

    if (!get(queue, claim, &place))
        return DLOCK_LOST;
    if (holds(&place))
        return strcmp(place.token, claim->token) == 0 ? release(queue, claim, &place)
                                                      : DLOCK_LOST;
    st = give_up(queue, claim, &place);
    return st == DLOCK_OK ? DLOCK_LOST : st;
}

/* --- waiting --- */

/* Update the place from `sight`.  OK: it is the first; BUSY: it is not; LOST: its key
 * is gone. */
static dlock_status move(struct etcd_queue *queue, const dlock_claim *claim,
                         struct etcd_place *place, const struct etcd_sight *sight)
{
    bool has_moved = place->before != sight->before && place->before != NOT_KNOWN;

    if (sight->created != place->created)
        return DLOCK_LOST;
    if (has_moved && place->is_watched && !place->was_told)
        etcd_watches_doubt(queue->watches, claim->name);
    place->before = sight->before;
    place->ahead = sight->ahead;
    place->revision = sight->revision;
    place->was_told = false;
    place->look_ns = dlock_clock_after(dlock_clock_ns(), LOOK_EVERY_MS);
    return place->before == 0 ? DLOCK_OK : DLOCK_BUSY;
}

static bool is_renewal_due(const struct etcd_place *place)
{
    return dlock_clock_ns() >= dlock_clock_after(place->lease.renewed_ns,
                                                 place->lease.ttl_ms / RENEWALS_PER_LEASE);
}

/* OK: the place is the first; BUSY; LOST: its key is gone; or a failure. */
static dlock_status ask_where(struct etcd_queue *queue, const dlock_claim *claim,
                              struct etcd_place *place)
{
    uint64_t known = etcd_watches_known(queue->watches, claim->name);
    struct etcd_key key = key_of(claim, place);
    struct etcd_sight sight;
    dlock_status st = etcd_key_look(queue->keys, &key, claim->give_up_ns, &sight);

    if (st != DLOCK_OK)
        return st;
    if (sight.revision < known)
        etcd_watches_restart(queue->watches, claim->name, sight.revision);
    return move(queue, claim, place, &sight);
}

/* Ask etcd for the place of a waiting claim, unless the watch has reported that it is
 * the first, and renew its lease.  OK: the place is the first, with a whole lease;
 * BUSY; LOST: the place is gone; or a failure. */
static dlock_status look(struct etcd_queue *queue, const dlock_claim *claim,
                         struct etcd_place *place)
{
    dlock_status st = DLOCK_OK;

    if (is_renewal_due(place))
        st = etcd_lease_renew(queue->leases, &place->lease, claim->give_up_ns);
    if (st == DLOCK_OK && place->is_told_first)
        place->before = 0;
    else if (st == DLOCK_OK)
        st = ask_where(queue, claim, place);
    if (st == DLOCK_OK && !etcd_lease_lasts(&place->lease, place->hold_end_ns))
        st = etcd_lease_renew(queue->leases, &place->lease, claim->give_up_ns);
    return st;
}

/* Make another attempt for a claim that waits.  LOST: the claim has to take another
 * place. */
static dlock_status wait_on(struct etcd_queue *queue, const dlock_claim *claim,
                            struct etcd_place *place)
{
    dlock_status st;

    /* Revoke owed leases first: the key of such a lease may be before all waiters of
     * this process. */
    etcd_lease_pay(queue->leases, claim->give_up_ns);
    if (place->is_watched && !place->was_told && dlock_clock_ns() < place->look_ns &&
        !is_renewal_due(place))
        return DLOCK_BUSY;
    st = look(queue, claim, place);
    place->has_failed = dlock_is_failure(st);
    if (place->has_failed && etcd_lease_lasts(&place->lease, dlock_clock_ns())) {
        /* The place still exists, but the key before it is not known. */
        place->before = NOT_KNOWN;
        place->was_told = place->is_told_first = false;
        place->look_ns = dlock_clock_after(dlock_clock_ns(), LOOK_AGAIN_MS);
        st = claim->wait_until_ns != 0 ? DLOCK_BUSY : st == DLOCK_UNKNOWN ? DLOCK_IO : st;
    } else if (place->has_failed) {
        place->is_doubtful = true; /* the key may be there or not */
        (void)give_up(queue, claim, place);
        return st == DLOCK_UNKNOWN ? DLOCK_IO : st;
    }
    if (st != DLOCK_LOST && !put(queue, claim, place))
        return dlock_fail(DLOCK_NOMEM, "no memory for a place in the queue");
    return st;
}

/* --- entering --- */

/* Put the key of a new place.  OK: it is the first; BUSY: it waits, or was not put;
 * LOST: its lease has ended; or a failure. */
static dlock_status put_key(struct etcd_queue *queue, const dlock_claim *claim,
                            struct etcd_place *place)
{
    struct etcd_key key = key_of(claim, place);
    bool waits = claim->wait_until_ns != 0;
    uint64_t known = waits ? etcd_watches_known(queue->watches, claim->name) : 0;
    bool first_repeated = false, last_repeated = false;
    struct etcd_sight sight;
    dlock_status st = etcd_key_put(queue->keys, &key, claim->owner, waits, claim->give_up_ns,
                                   &sight, &first_repeated);

    /* Keys of other locks have this prefix, so only a key that is put shows which key
     * of the lock is the first.  A copy of the first request may still put the key when all these
     * keys are gone. */
    if (st == DLOCK_OK && sight.created == 0 && sight.before == 0)
        st = etcd_key_put(queue->keys, &key, claim->owner, true, claim->give_up_ns, &sight,
                          &last_repeated);
    place->is_doubtful = first_repeated || last_repeated;
    if (st != DLOCK_OK)
        return st;
    if (sight.created == 0 && (waits || sight.before == 0))
        return DLOCK_LOST;
    if (sight.revision < known)
        etcd_watches_restart(queue->watches, claim->name, sight.revision);
    place->created = sight.created;
    place->before = sight.created != 0 ? sight.before : NOT_KNOWN;
    place->ahead = sight.created != 0 ? sight.ahead : -1;
    place->revision = sight.revision;
    return holds(place) ? DLOCK_OK : DLOCK_BUSY;
}

/* Take a place with one lease.  LOST: the lease has ended, and nothing is left. */
static dlock_status take_once(struct etcd_queue *queue, dlock_claim *claim,
                              struct etcd_place *place)
{
    dlock_status st = etcd_lease_take(queue->leases, claim->lease_ms, claim->give_up_ns,
                                      &place->lease);

    if (st != DLOCK_OK)
        return st;
    place->is_doubtful = true; /* until there is an answer */
    if (!put(queue, claim, place)) {
        etcd_lease_give(queue->leases, &place->lease);
        return dlock_fail(DLOCK_NOMEM, "no memory for a place in the queue");
    }
    st = put_key(queue, claim, place);
    if (st == DLOCK_UNKNOWN || st == DLOCK_PROTOCOL)
        return st; /* etcd_queue_leave() will end the lease */
    if (st == DLOCK_OK || (st == DLOCK_BUSY && claim->wait_until_ns != 0)) {
        place->look_ns = dlock_clock_after(dlock_clock_ns(), LOOK_EVERY_MS);
        return put(queue, claim, place) ? st : DLOCK_NOMEM;
    }
    if (place->created != 0) {
        (void)give_up(queue, claim, place);
        return st;
    }
    if (st != DLOCK_LOST)
        end_lease(queue, place, claim->give_up_ns);
    drop(queue, claim);
    return st;
}

static dlock_status take(struct etcd_queue *queue, dlock_claim *claim)
{
    dlock_status st = DLOCK_LOST;

    for (int i = 0; i < TAKE_TRIES && st == DLOCK_LOST; i++) {
        struct etcd_place place = {.hold_end_ns = dlock_clock_after(dlock_clock_ns(),
                                                                    claim->lease_ms)};

        strcpy(place.token, claim->token);
        st = take_once(queue, claim, &place);
        claim->fence = place.created;
    }
    return st == DLOCK_LOST ? dlock_fail(DLOCK_IO, "etcd: leases end as soon as they are granted")
                            : st;
}

dlock_status etcd_queue_enter(struct etcd_queue *queue, dlock_claim *claim)
{
    struct etcd_place place;
    dlock_status st = DLOCK_LOST;
    bool is_known = get(queue, claim, &place);
    bool is_over = is_known && holds(&place) && strcmp(place.token, claim->token) != 0 &&
                   dlock_clock_ns() >= place.hold_end_ns;

    /* The place may be of a lost hold, which its owner need not have released. */
    if (is_known && holds(&place) && !is_over) {
        claim->fence = place.created;
        return strcmp(place.token, claim->token) == 0 ? DLOCK_OK : DLOCK_BUSY;
    }
    if (is_known && place.created != 0 && !is_over) {
        strcpy(place.token, claim->token);
        place.hold_end_ns = dlock_clock_after(dlock_clock_ns(), claim->lease_ms);
        st = wait_on(queue, claim, &place);
        claim->fence = place.created;
    }
    if (st != DLOCK_LOST)
        return st;
    if (is_known)
        (void)give_up(queue, claim, &place);
    return take(queue, claim);
}

/* --- holding --- */

/* Does the place hold the lock for this claim, as far as is known here? */
static bool place_is_held(const struct etcd_place *place, const dlock_claim *claim)
{
    return holds(place) && strcmp(place->token, claim->token) == 0;
}

dlock_status etcd_queue_renew(struct etcd_queue *queue, const dlock_claim *claim)
{
    int64_t now_ns = dlock_clock_ns();
    struct etcd_place place;
    struct etcd_sight sight;
    struct etcd_key key;
    dlock_status st;

    if (!get(queue, claim, &place) || !place_is_held(&place, claim))
        return DLOCK_LOST;
    if (now_ns >= place.hold_end_ns) {
        /* etcd counts in whole seconds, so the key may still be there. */
        st = delete_key(queue, claim, &place);
        return dlock_is_failure(st) ? st : DLOCK_LOST;
    }
    st = etcd_lease_renew(queue->leases, &place.lease, claim->give_up_ns);
    if (st != DLOCK_OK)
        return st;
    key = key_of(claim, &place);
    st = etcd_key_look(queue->keys, &key, claim->give_up_ns, &sight);
    if (st != DLOCK_OK)
        return st;
    if (sight.created != key.created)
        return DLOCK_LOST; /* freed by force: the lease exists, but its key does not */
    etcd_places_renewed(queue->places, claim->owner, claim->name, &place.lease,
                        dlock_clock_after(now_ns, claim->lease_ms));
    return DLOCK_OK;
}

/* One request renews the leases of all claims, and another looks for their keys.  etcd answers
 * neither in full if it refuses one lease or one key, so what was not answered is asked alone. */
void etcd_queue_renew_all(struct etcd_queue *queue, const dlock_claim *claims, size_t count,
                          dlock_status *statuses)
{
    struct etcd_place places[DLOCK_RENEW_ALL_MAX];
    struct etcd_lease *leases[DLOCK_RENEW_ALL_MAX];
    struct etcd_key keys[DLOCK_RENEW_ALL_MAX];
    size_t nth[DLOCK_RENEW_ALL_MAX], asked = 0;
    dlock_status answers[DLOCK_RENEW_ALL_MAX], st;
    bool exist[DLOCK_RENEW_ALL_MAX], has_answer;
    int64_t now_ns = dlock_clock_ns();

    for (size_t i = 0; i < count; i++) {
        struct etcd_place *place = &places[asked];

        if (!get(queue, &claims[i], place) || !place_is_held(place, &claims[i]) ||
            now_ns >= place->hold_end_ns) {
            statuses[i] = etcd_queue_renew(queue, &claims[i]);
            continue;
        }
        leases[asked] = &place->lease;
        keys[asked] = key_of(&claims[i], place);
        nth[asked++] = i;
    }
    if (asked == 0)
        return;
    etcd_lease_renew_all(queue->leases, leases, asked, claims[0].give_up_ns, answers);
    st = etcd_keys_exist(queue->keys, keys, asked, claims[0].give_up_ns, exist);
    has_answer = !dlock_is_failure(answers[0]) && st == DLOCK_OK;
    for (size_t i = 0; i < asked; i++) {
        const dlock_claim *claim = &claims[nth[i]];

        if (answers[i] == DLOCK_OK)
            answers[i] = st != DLOCK_OK ? st : exist[i] ? DLOCK_OK : DLOCK_LOST;
        if (answers[i] == DLOCK_OK)
            etcd_places_renewed(queue->places, claim->owner, claim->name, leases[i],
                                dlock_clock_after(now_ns, claim->lease_ms));
        else if ((answers[i] == DLOCK_PROTOCOL || (answers[i] == DLOCK_IO && has_answer)) &&
                 dlock_clock_ns() < claim->give_up_ns)
            answers[i] = etcd_queue_renew(queue, claim);
        statuses[nth[i]] = answers[i];
    }
}

/* --- being told --- */

struct queue_watch {
    struct etcd_queue *queue;
    struct etcd_waiter *waiter;
    char owner[DLOCK_OWNER_MAX + 1];
    char name[DLOCK_NAME_MAX + 1];
};

/* Read the place of the watch's owner, if there still is one. */
static bool queue_watch_get(const struct queue_watch *watch, struct etcd_place *out)
{
    return etcd_places_get(watch->queue->places, watch->owner, watch->name, out);
}

static void queue_watch_put(const struct queue_watch *watch, const struct etcd_place *place)
{
    (void)etcd_places_put(watch->queue->places, watch->owner, watch->name, place);
}

void *etcd_queue_watch(struct etcd_queue *queue, const dlock_claim *claim)
{
    struct queue_watch *watch = calloc(1, sizeof(*watch));
    struct etcd_place place;

    if (watch == NULL)
        return NULL;
    watch->queue = queue;
    snprintf(watch->owner, sizeof(watch->owner), "%s", claim->owner);
    snprintf(watch->name, sizeof(watch->name), "%s", claim->name);
    if (queue_watch_get(watch, &place))
        watch->waiter = etcd_waiter_begin(queue->watches, claim->name);
    if (watch->waiter == NULL) {
        free(watch);
        return NULL;
    }
    place.is_watched = true;
    queue_watch_put(watch, &place);
    return watch;
}

/* After a failure the waiter's news still hold, and it would ask without a pause.  So it first
 * sleeps until look_ns. */
bool etcd_queue_sleep(void *arg, int64_t until_ns)
{
    const struct queue_watch *watch = arg;
    struct etcd_place place;
    struct etcd_stand stand;
    enum etcd_told told;

    if (!queue_watch_get(watch, &place)) {
        dlock_clock_sleep_until(until_ns);
        return false;
    }
    if (place.has_failed)
        dlock_clock_sleep_until(place.look_ns < until_ns ? place.look_ns : until_ns);
    if (place.has_failed && dlock_clock_ns() < place.look_ns)
        return false;
    stand = (struct etcd_stand){place.lease.id, place.created, place.before, place.ahead,
                                place.revision};
    told = etcd_waiter_sleep(watch->waiter, &stand, until_ns);
    if (told == ETCD_TOLD_NOTHING)
        return false;
    place.was_told = true;
    place.is_told_first = told == ETCD_IS_FIRST;
    queue_watch_put(watch, &place);
    return true;
}

void etcd_queue_unwatch(void *arg)
{
    struct queue_watch *watch = arg;
    struct etcd_place place;

    etcd_waiter_end(watch->waiter);
    if (queue_watch_get(watch, &place)) {
        place.is_watched = false;
        queue_watch_put(watch, &place);
    }
    free(watch);
}

/* --- from outside --- */

static dlock_status changes_all_the_time(const char *name)
{
    return dlock_fail(DLOCK_IO, "etcd: the first key of %.100s changes all the time", name);
}

dlock_status etcd_queue_inspect(struct etcd_queue *queue, const char *name, dlock_info *out)
{
    struct etcd_listed first;
    int64_t left_s = -1;
    int count = 0;
    dlock_status st = DLOCK_OK;

    *out = dlock_info_nothing();
    for (int i = 0; i < OUTSIDE_TRIES && left_s < 0; i++) {
        st = etcd_keys_list(queue->keys, name, &first, &count);
        if (st == DLOCK_OK && count == 0) {
            out->waiter_count = 0;
            return DLOCK_OK;
        }
        if (st == DLOCK_OK)
            st = etcd_lease_look(queue->leases, first.lease, &left_s);
        if (st != DLOCK_OK)
            return st == DLOCK_UNKNOWN ? DLOCK_IO : st;
    }
    if (left_s < 0)
        return changes_all_the_time(name);
    out->locked = true;
    out->hold_count = 1;
    out->waiter_count = count - 1;
    if (left_s > INT64_MAX / MS_PER_S) /* a correct server never answers that */
        left_s = INT64_MAX / MS_PER_S;
    out->left_ms = left_s > 0 ? left_s * MS_PER_S : 1; /* 0 means less than a second */
    out->fence = first.created;
    if (first.owner[0] != '\0')
        strcpy(out->owner, first.owner);
    else /* a key of another program */
        snprintf(out->owner, sizeof(out->owner), "lease %" PRIx64, first.lease);
    return DLOCK_OK;
}

dlock_status etcd_queue_force(struct etcd_queue *queue, const char *name)
{
    struct etcd_listed first;
    struct etcd_parting parting;
    int count = 0;

    for (int i = 0; i < OUTSIDE_TRIES; i++) {
        dlock_status st = etcd_keys_list(queue->keys, name, &first, &count);
        struct etcd_key key = {name, 0, 0};

        if (st != DLOCK_OK)
            return st == DLOCK_UNKNOWN ? DLOCK_IO : st; /* only looked */
        if (count == 0)
            return DLOCK_LOST;
        key.lease = first.lease;
        key.created = first.created;
        st = etcd_key_delete(queue->keys, &key, false, INT64_MAX, &parting);
        if (st == DLOCK_OK) {
            struct etcd_end end = {key.lease, key.created, parting.revision};

            etcd_watches_note(queue->watches, name, &end, 0);
        }
        if (st != DLOCK_LOST)
            return st;
    }
    return changes_all_the_time(name);
}
