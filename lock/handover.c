/* SPDX-License-Identifier: MIT */
/* handover.c -- the lines of a system: the waiters, the waiter that asks the store, the holder.
 *
 * A line exists as long as a thread asks for its name or holds it.  Lines are spread over
 * buckets by their names, each with a mutex, which is taken before that of a shard of the
 * table of holds and never after it.
 *
 * A holder may lose the lock without a release, because its thread ended, was stopped,
 * or abandoned the lock.  So each waiter checks every POLL_MS, and at the end of the holder's
 * lease, whether the line still has a holder. */
#include "lock/handover.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/os/clock.h"
#include "base/os/condition.h"
#include "base/os/fiber.h"
#include "lock/cancel.h"

enum { BUCKETS = 64, POLL_MS = 200, CANCEL_SLICE_MS = 10, LEASE_LEFT_DIVISOR = 2 };

struct line {
    char name[DLOCK_NAME_MAX + 1];
    char number[DLOCK_NUMBER_SIZE];
    bool is_spent;    /* the owner number must not be used again */
    bool is_asking;   /* true: `hold` asks the store; false: it has the lock */
    bool is_stopped;  /* freed by force since the store's grant           */
    const struct dlock_hold *hold;
    uint64_t serial;  /* of the hold's use of its slot                    */
    int64_t granted_ns; /* when the granted request was sent */
    unsigned given_count; /* since then */
    struct dlock_place *places; /* of the waiters, in the order of arrival */
    struct line *prev, *next;
};

struct bucket {
    struct dlock_mutex mutex;
    struct line *lines;
};

struct dlock_handover {
    struct dlock_holds *holds;
    unsigned most;
    int64_t limit_ns;
    struct bucket buckets[BUCKETS];
};

struct dlock_handover *dlock_handover_open(struct dlock_holds *holds, unsigned most,
                                           int64_t limit_ms)
{
    struct dlock_handover *handover = calloc(1, sizeof(*handover));

    if (handover == NULL)
        return NULL;
    handover->holds = holds;
    handover->most = most;
    handover->limit_ns = limit_ms * DLOCK_NS_PER_MS;
    for (int i = 0; i < BUCKETS; i++)
        dlock_mutex_init(&handover->buckets[i].mutex);
    return handover;
}

void dlock_handover_close(struct dlock_handover *handover)
{
    struct line *line, *next;

    if (handover == NULL)
        return;
    for (int i = 0; i < BUCKETS; i++) {
        DL_FOREACH_SAFE(handover->buckets[i].lines, line, next)
            free(line);
        dlock_mutex_destroy(&handover->buckets[i].mutex);
    }
    free(handover);
}

/* Find the bucket of a name, and lock it. */
static struct bucket *lock_bucket(struct dlock_handover *handover, const char *name)
{
    struct bucket *bucket;
    unsigned hash = 2166136261u; /* FNV-1a */

    for (const char *c = name; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    bucket = &handover->buckets[hash % BUCKETS];
    dlock_mutex_lock(&bucket->mutex);
    return bucket;
}

/* The caller of this and the following functions holds the bucket's mutex, except those
 * of the header. */
static struct line *find(const struct bucket *bucket, const char *name)
{
    struct line *line;

    DL_FOREACH(bucket->lines, line)
        if (strcmp(line->name, name) == 0)
            return line;
    return NULL;
}

/* The line in which this hold asks or holds; NULL: the line has gone on without this
 * hold. */
static struct line *find_of(const struct bucket *bucket, const struct dlock_hold *hold)
{
    struct line *line = find(bucket, hold->facts.key.name);

    return line != NULL && line->hold == hold && line->serial == hold->serial ? line : NULL;
}

/* Make the hold of `place` the one that asks or holds for the line. */
static void settle_on(struct line *line, struct dlock_place *place, bool asks)
{
    line->hold = place->hold;
    line->serial = place->serial;
    line->is_asking = asks;
    place->asks = asks;
    place->turn = asks ? DLOCK_TURN_ASKS : DLOCK_TURN_GIVEN;
    if (!asks)
        return;
    if (line->is_spent)
        dlock_owner_draw(line->number);
    line->is_spent = false;
    memcpy(place->number, line->number, sizeof(place->number));
}

/* Take a waiting place out of the line, with its turn, and wake its thread. */
static void wake_place(struct line *line, struct dlock_place *place, bool asks)
{
    DL_DELETE(line->places, place);
    settle_on(line, place, asks);
    dlock_condition_signal(place->told);
}

/* The line has no thread that asks or holds: make the next waiter ask, or free the
 * line. */
static void go_on(struct bucket *bucket, struct line *line)
{
    if (line->places != NULL) {
        wake_place(line, line->places, true);
        return;
    }
    DL_DELETE(bucket->lines, line);
    free(line);
}

static struct line *begin(struct bucket *bucket, struct dlock_place *place)
{
    struct line *line = calloc(1, sizeof(*line));

    if (line == NULL)
        return NULL;
    strcpy(line->name, place->hold->facts.key.name);
    line->is_spent = true; /* there is no number yet */
    DL_APPEND(bucket->lines, line);
    settle_on(line, place, true);
    return line;
}

/* If the holder has lost the lock without a release, make the first waiter ask the
 * store. */
static void look_after(struct dlock_handover *handover, struct line *line)
{
    if (line->is_asking ||
        !dlock_holds_is_over(handover->holds, line->hold, line->serial))
        return;
    line->is_spent = true; /* the store may still hold the lock for this number */
    wake_place(line, line->places, true);
}

/* When a waiter checks again. */
static int64_t wake_ns(const struct line *line, const struct dlock_place *place)
{
    int64_t now_ns = dlock_clock_ns();
    int64_t at_ns = dlock_clock_after(
        now_ns, place->cancel != NULL ? CANCEL_SLICE_MS : POLL_MS);
    int64_t end_ns = line->is_asking ? 0 : atomic_load(&line->hold->deadline_ns);

    if (end_ns > now_ns && end_ns < at_ns)
        at_ns = end_ns + 1;
    return place->until_ns < at_ns ? place->until_ns : at_ns;
}

static void wait_in(struct dlock_handover *handover, struct bucket *bucket,
                    struct line *line, struct dlock_place *place)
{
    place->turn = DLOCK_TURN_WAITS;
    DL_APPEND(line->places, place);
    for (;;) {
        look_after(handover, line);
        if (place->turn != DLOCK_TURN_WAITS)
            return;
        if (dlock_cancel_is_fired(place->cancel) || dlock_clock_ns() >= place->until_ns)
            break;
        dlock_fiber_let_hurry(true);
        (void)dlock_condition_wait_until(place->told, &bucket->mutex,
                                         wake_ns(line, place));
        dlock_fiber_let_hurry(false);
        if (place->turn != DLOCK_TURN_WAITS)
            return;
    }
    DL_DELETE(line->places, place);
    place->turn = dlock_cancel_is_fired(place->cancel) ? DLOCK_TURN_CANCELLED
                                                       : DLOCK_TURN_TIMEOUT;
}

enum dlock_turn dlock_handover_join(struct dlock_handover *handover,
                                    struct dlock_place *place)
{
    struct dlock_condition told;
    struct bucket *bucket = lock_bucket(handover, place->hold->facts.key.name);
    struct line *line = find(bucket, place->hold->facts.key.name);

    place->serial = place->hold->serial;
    place->asks = false;
    if (line == NULL) {
        if (begin(bucket, place) == NULL)
            place->turn = DLOCK_TURN_NOMEM;
    } else if (!dlock_condition_init(&told)) {
        place->turn = DLOCK_TURN_NOMEM;
    } else {
        place->told = &told;
        wait_in(handover, bucket, line, place);
        place->told = NULL;
        dlock_condition_destroy(&told);
    }
    dlock_mutex_unlock(&bucket->mutex);
    return place->turn;
}

void dlock_handover_renumber(struct dlock_handover *handover, struct dlock_place *place)
{
    struct bucket *bucket = lock_bucket(handover, place->hold->facts.key.name);
    struct line *line = find_of(bucket, place->hold);

    if (line != NULL) { /* always true here, because its hold asks */
        line->is_spent = true;
        settle_on(line, place, true);
    }
    dlock_mutex_unlock(&bucket->mutex);
}

void dlock_handover_granted(struct dlock_handover *handover, struct dlock_place *place,
                            int64_t sent_ns)
{
    struct bucket *bucket = lock_bucket(handover, place->hold->facts.key.name);
    struct line *line = find_of(bucket, place->hold);

    place->asks = false;
    if (line != NULL) {
        line->is_asking = false;
        line->is_stopped = false;
        line->granted_ns = sent_ns;
        line->given_count = 0;
    }
    dlock_mutex_unlock(&bucket->mutex);
}

void dlock_handover_ask_anew(struct dlock_handover *handover, struct dlock_place *place)
{
    dlock_handover_renumber(handover, place);
}

/* The first waiter that still wants the lock, or NULL. */
static struct dlock_place *next_of(const struct line *line, int64_t now_ns)
{
    struct dlock_place *place;

    DL_FOREACH(line->places, place)
        if (place->until_ns > now_ns && !dlock_cancel_is_fired(place->cancel))
            return place;
    return NULL;
}

/* See the head of handover.h. */
static bool may_pass(const struct dlock_handover *handover, const struct line *line,
                     int64_t now_ns)
{
    const struct dlock_hold *hold = line->hold;
    int64_t least_ns =
        hold->facts.lease_ms * DLOCK_NS_PER_MS / LEASE_LEFT_DIVISOR;

    return !line->is_stopped && line->given_count < handover->most &&
           now_ns - line->granted_ns < handover->limit_ns &&
           atomic_load(&hold->deadline_ns) - now_ns >= least_ns;
}

bool dlock_handover_pass(struct dlock_handover *handover, const struct dlock_hold *hold,
                         bool was_lost)
{
    struct bucket *bucket = lock_bucket(handover, hold->facts.key.name);
    struct line *line = find_of(bucket, hold);
    int64_t now_ns = dlock_clock_ns();
    struct dlock_place *next = NULL;

    if (line != NULL && !was_lost && may_pass(handover, line, now_ns))
        next = next_of(line, now_ns);
    if (next != NULL) {
        strcpy(next->gift.owner, hold->facts.owner);
        next->gift.era = hold->facts.era;
        next->gift.note = hold->facts.note;
        next->gift.deadline_ns = atomic_load(&hold->deadline_ns);
        next->gift.renew_at_ns = hold->renew_at_ns;
        line->given_count++;
        wake_place(line, next, false);
    }
    dlock_mutex_unlock(&bucket->mutex);
    return next != NULL;
}

void dlock_handover_end(struct dlock_handover *handover, const struct dlock_hold *hold,
                        bool clean)
{
    struct bucket *bucket = lock_bucket(handover, hold->facts.key.name);
    struct line *line = find_of(bucket, hold);

    if (line != NULL) {
        line->is_spent = line->is_spent || !clean;
        go_on(bucket, line);
    }
    dlock_mutex_unlock(&bucket->mutex);
}

void dlock_handover_stop(struct dlock_handover *handover, const char *name)
{
    struct bucket *bucket = lock_bucket(handover, name);
    struct line *line = find(bucket, name);

    if (line != NULL)
        line->is_stopped = true;
    dlock_mutex_unlock(&bucket->mutex);
}

unsigned dlock_handover_count(struct dlock_handover *handover, const char *name)
{
    struct bucket *bucket = lock_bucket(handover, name);
    const struct line *line = find(bucket, name);
    const struct dlock_place *place;
    unsigned count = 0;

    if (line != NULL)
        DL_COUNT(line->places, place, count);
    dlock_mutex_unlock(&bucket->mutex);
    return count;
}
