/* SPDX-License-Identifier: MIT */
/* lane.c -- the waiting orders of each voucher, and their leaders. */
#include "app/lane.h"

#include <stdlib.h>

#include "base/os/clock.h"
#include "base/os/mutex.h"

enum { BUCKETS = 64 };

/* The state of a place, under the mutex.  The order of a TAKEN place is finished when
 * the place's bell is rung. */
enum state { WAITS, LEADS, TAKEN };

/* A wait for the end of a batch has no limit; it is repeated in slices of this
 * length. */
enum { PATIENCE_MS = 60000 };

/* A voucher has a lane only while it has a leader, so waiting orders always have a
 * leader. */
struct lane {
    int64_t voucher_id;
    struct lane_place *first, **last; /* the waiting places */
    int64_t waiting;                  /* how many they are; none, unless leaders_max lead */
    int64_t leaders;                  /* at least 1 */
    struct lane *next;                /* of the same bucket */
};

struct lanes {
    struct dlock_mutex mutex;
    struct lane *buckets[BUCKETS];
    int64_t waiting, waiting_max; /* of all lanes */
    int64_t voucher_max;          /* of each */
    int64_t leaders_max;
};

struct lanes *lanes_new(int64_t waiting_max, int64_t voucher_max, int64_t leaders_max)
{
    struct lanes *lanes = calloc(1, sizeof(*lanes));

    if (lanes == NULL)
        return NULL;
    dlock_mutex_init(&lanes->mutex);
    lanes->waiting_max = waiting_max;
    lanes->voucher_max = voucher_max;
    lanes->leaders_max = leaders_max;
    return lanes;
}

void lanes_free(struct lanes *lanes)
{
    if (lanes == NULL)
        return;
    dlock_mutex_destroy(&lanes->mutex);
    free(lanes);
}

static struct lane **bucket_of(struct lanes *lanes, int64_t voucher_id)
{
    return &lanes->buckets[(uint64_t)voucher_id % BUCKETS];
}

static struct lane *find(struct lanes *lanes, int64_t voucher_id)
{
    struct lane *lane = *bucket_of(lanes, voucher_id);

    while (lane != NULL && lane->voucher_id != voucher_id)
        lane = lane->next;
    return lane;
}

/* NULL: no memory. */
static struct lane *add(struct lanes *lanes, int64_t voucher_id)
{
    struct lane **bucket = bucket_of(lanes, voucher_id);
    struct lane *lane = calloc(1, sizeof(*lane));

    if (lane == NULL)
        return NULL;
    lane->voucher_id = voucher_id;
    lane->last = &lane->first;
    lane->next = *bucket;
    *bucket = lane;
    return lane;
}

static void drop(struct lanes *lanes, struct lane *lane)
{
    struct lane **at = bucket_of(lanes, lane->voucher_id);

    while (*at != lane)
        at = &(*at)->next;
    *at = lane->next;
    free(lane);
}

/* Remove the place at *at from the waiting places. */
static struct lane_place *unlink_place(struct lanes *lanes, struct lane *lane,
                                       struct lane_place **at)
{
    struct lane_place *place = *at;

    *at = place->next;
    if (lane->last == &place->next)
        lane->last = at;
    place->next = NULL;
    lane->waiting--;
    lanes->waiting--;
    return place;
}

static void leave(struct lanes *lanes, struct lane_place *place)
{
    struct lane_place **at = &place->lane->first;

    while (*at != place)
        at = &(*at)->next;
    (void)unlink_place(lanes, place->lane, at);
}

/* Let the place lead, or wait in its lane.  The caller holds the mutex. */
static enum lane_answer lead_or_append(struct lanes *lanes, struct lane_place *place)
{
    if (place->lane->leaders < lanes->leaders_max) {
        place->lane->leaders++;
        return LANE_LEADS;
    }
    if (lanes->waiting >= lanes->waiting_max)
        return LANE_FULL;
    if (place->lane->waiting >= lanes->voucher_max)
        return LANE_VOUCHER_FULL;
    *place->lane->last = place;
    place->lane->last = &place->next;
    place->lane->waiting++;
    lanes->waiting++;
    return LANE_WAITS;
}

/* Leave the lane after the time limit.  False: a leader has taken the place meanwhile,
 * or has made it the next leader. */
static bool is_late(struct lanes *lanes, struct lane_place *place)
{
    bool late;

    dlock_mutex_lock(&lanes->mutex);
    late = place->state == WAITS;
    if (late)
        leave(lanes, place);
    dlock_mutex_unlock(&lanes->mutex);
    return late;
}

/* Each place has its own bell, so that the woken orders of a batch do not contend for the
 * mutex. */
enum lane_answer lane_wait(struct lanes *lanes, struct lane_place *place, int64_t until_ns)
{
    if (!dlock_bell_wait(&place->bell, until_ns)) {
        if (is_late(lanes, place))
            return LANE_LATE;
        while (!dlock_bell_wait(&place->bell, dlock_clock_after(dlock_clock_ns(), PATIENCE_MS)))
            ;
    }
    return place->state == LEADS ? LANE_LEADS : LANE_DONE;
}

enum lane_answer lane_join(struct lanes *lanes, int64_t voucher_id, struct lane_place *place)
{
    enum lane_answer answer = LANE_FULL;

    place->next = NULL;
    place->state = WAITS;
    place->bell = (struct dlock_bell){0};
    dlock_mutex_lock(&lanes->mutex);
    place->lane = find(lanes, voucher_id);
    if (place->lane == NULL)
        place->lane = add(lanes, voucher_id);
    if (place->lane != NULL)
        answer = lead_or_append(lanes, place);
    dlock_mutex_unlock(&lanes->mutex);
    return answer;
}

size_t lane_take(struct lanes *lanes, struct lane_place *leader, lane_fits *fits,
                 struct lane_place **batch, size_t max)
{
    struct lane_place **at = &leader->lane->first;
    size_t count = 1;

    batch[0] = leader;
    dlock_mutex_lock(&lanes->mutex);
    while (*at != NULL && count < max) {
        if (!fits(*at, batch, count)) {
            at = &(*at)->next;
            continue;
        }
        batch[count] = unlink_place(lanes, leader->lane, at);
        batch[count++]->state = TAKEN;
    }
    dlock_mutex_unlock(&lanes->mutex);
    return count;
}

/* Wake the threads of the batch, two with each system call. */
static void wake_batch(struct lane_place *leader, struct lane_place **batch, size_t count)
{
    struct lane_place *first = NULL;

    for (size_t i = 0; i < count; i++) {
        if (batch[i] == leader)
            continue;
        if (first == NULL) {
            first = batch[i];
            continue;
        }
        dlock_bell_ring_two(&first->bell, &batch[i]->bell);
        first = NULL;
    }
    if (first != NULL)
        dlock_bell_ring(&first->bell);
}

void lane_finish(struct lanes *lanes, struct lane_place *leader, struct lane_place **batch,
                 size_t count)
{
    struct lane *lane = leader->lane;
    struct lane_place *next = NULL;

    dlock_mutex_lock(&lanes->mutex);
    if (lane->first != NULL) {
        next = unlink_place(lanes, lane, &lane->first);
        next->state = LEADS;
    } else if (--lane->leaders == 0) {
        drop(lanes, lane);
    }
    dlock_mutex_unlock(&lanes->mutex);
    /* Wake the next leader first, so that the next transaction can begin while the
     * orders of this one are answered. */
    if (next != NULL)
        dlock_bell_ring(&next->bell);
    wake_batch(leader, batch, count);
}

int64_t lanes_waiting(struct lanes *lanes)
{
    int64_t waiting;

    dlock_mutex_lock(&lanes->mutex);
    waiting = lanes->waiting;
    dlock_mutex_unlock(&lanes->mutex);
    return waiting;
}
