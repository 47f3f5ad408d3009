/* SPDX-License-Identifier: MIT */
/* lane.c -- one leader for the orders of a voucher that wait. */
#include "app/lane.h"

#include <stdlib.h>

enum { BUCKETS = 64 };

enum state { WAITS, LEADS, TAKEN, IS_DONE };

/* There is a lane for a voucher as long as it has a leader; waiting orders have one. */
struct lane {
    int64_t voucher_id;
    struct lane_place *first, **last; /* those that wait */
    struct lane *next;                /* of the same bucket */
};

struct lanes {
    struct dlock_mutex mutex;
    struct lane *buckets[BUCKETS];
    int64_t waiting, waiting_max;
};

struct lanes *lanes_new(int64_t waiting_max)
{
    struct lanes *lanes = calloc(1, sizeof(*lanes));

    if (lanes == NULL)
        return NULL;
    dlock_mutex_init(&lanes->mutex);
    lanes->waiting_max = waiting_max;
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

/* Take the place that *at points to out of those that wait. */
static struct lane_place *unlink_place(struct lanes *lanes, struct lane *lane,
                                       struct lane_place **at)
{
    struct lane_place *place = *at;

    *at = place->next;
    if (lane->last == &place->next)
        lane->last = at;
    place->next = NULL;
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

/* With the mutex held. */
static enum lane_answer wait_in(struct lanes *lanes, struct lane_place *place,
                                int64_t until_ns)
{
    bool is_late = false;

    *place->lane->last = place;
    place->lane->last = &place->next;
    lanes->waiting++;
    while (place->state == TAKEN || (place->state == WAITS && !is_late)) {
        if (place->state == TAKEN)
            dlock_condition_wait(&place->is_called, &lanes->mutex);
        else
            is_late = !dlock_condition_wait_until(&place->is_called, &lanes->mutex,
                                                  until_ns);
    }
    if (place->state == WAITS) {
        leave(lanes, place);
        return LANE_LATE;
    }
    return place->state == LEADS ? LANE_LEADS : LANE_DONE;
}

enum lane_answer lane_enter(struct lanes *lanes, int64_t voucher_id,
                            struct lane_place *place, int64_t until_ns)
{
    enum lane_answer answer = LANE_FULL;

    place->next = NULL;
    place->state = WAITS;
    dlock_mutex_lock(&lanes->mutex);
    place->lane = find(lanes, voucher_id);
    if (place->lane == NULL) {
        place->lane = add(lanes, voucher_id);
        place->state = LEADS;
        if (place->lane != NULL)
            answer = LANE_LEADS;
    } else if (lanes->waiting < lanes->waiting_max &&
               dlock_condition_init(&place->is_called)) {
        answer = wait_in(lanes, place, until_ns);
        dlock_condition_destroy(&place->is_called);
    }
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

void lane_finish(struct lanes *lanes, struct lane_place *leader, struct lane_place **batch,
                 size_t count)
{
    struct lane *lane = leader->lane;

    dlock_mutex_lock(&lanes->mutex);
    for (size_t i = 0; i < count; i++) {
        if (batch[i] == leader)
            continue;
        batch[i]->state = IS_DONE;
        dlock_condition_signal(&batch[i]->is_called);
    }
    if (lane->first != NULL) {
        struct lane_place *next = unlink_place(lanes, lane, &lane->first);

        next->state = LEADS;
        dlock_condition_signal(&next->is_called);
    } else {
        drop(lanes, lane);
    }
    dlock_mutex_unlock(&lanes->mutex);
}

int64_t lanes_waiting(struct lanes *lanes)
{
    int64_t waiting;

    dlock_mutex_lock(&lanes->mutex);
    waiting = lanes->waiting;
    dlock_mutex_unlock(&lanes->mutex);
    return waiting;
}
