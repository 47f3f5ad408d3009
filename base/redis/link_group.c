/* SPDX-License-Identifier: MIT */
/* link_group.c -- the waiting threads of a group, their waking, and the choice of the
 * driver. */
#include "base/redis/link_group.h"

#include <stdlib.h>
#include <utlist.h>

#include "base/os/clock.h"
#include "base/os/event.h"
#include "base/os/fiber.h"
#include "base/os/thread.h"

/* Threads that were answered together are expected to ask again within EXPECT_NS. */
enum { EXPECT_NS = 500000 };

/* A yield that lasts longer ends all yields for a while. */
enum { LONG_YIELD_NS = 1000000, NO_YIELDS_NS = 100000000 };

struct redis_link_group *redis_link_group_open(void)
{
    struct redis_link_group *group = calloc(1, sizeof(*group));

    if (group == NULL)
        return NULL;
    group->nudge_fd = dlock_event_open();
    if (group->nudge_fd < 0) {
        free(group);
        return NULL;
    }
    dlock_mutex_init(&group->mutex);
    group->user_count = 1;
    return group;
}

void redis_link_group_let_go(struct redis_link_group *group)
{
    if (--group->user_count > 0)
        return;
    dlock_event_close(group->nudge_fd);
    dlock_mutex_destroy(&group->mutex);
    free(group);
}

void redis_link_group_lock(struct redis_link_group *group)
{
    dlock_mutex_lock(&group->mutex);
}

void redis_link_group_unlock(struct redis_link_group *group)
{
    struct redis_wait *wait = group->to_ring;
    struct redis_post *post = group->ended;

    group->to_ring = NULL;
    group->ended = NULL;
    dlock_mutex_unlock(&group->mutex);
    while (wait != NULL) {
        struct redis_wait *second = wait->next_to_ring;
        struct redis_wait *next = second != NULL ? second->next_to_ring : NULL;

        if (second != NULL)
            dlock_bell_ring_two(&wait->bell, &second->bell);
        else
            dlock_bell_ring(&wait->bell);
        wait = next;
    }
    while (post != NULL) {
        struct redis_post *next = post->next; /* the post may be used again at once */

        post->end(post);
        post = next;
    }
}

void redis_link_group_call(struct redis_link_group *group, struct redis_wait *wait,
                           enum redis_role role)
{
    DL_DELETE(group->waiting, wait);
    wait->role = role;
    LL_PREPEND2(group->to_ring, wait, next_to_ring);
}

void redis_leg_end(struct redis_link_group *group, struct redis_request_leg *trip)
{
    struct redis_wait *wait = trip->wait;

    trip->is_over = true;
    if (wait == NULL) {
        struct redis_post *post = redis_post_of(trip);

        LL_PREPEND(group->ended, post);
        return;
    }
    if (trip->leg->unawaited || --wait->open_count > 0)
        return;
    group->answered_count++;
    if (wait->role == REDIS_WAITING) /* otherwise it is awake and checks by itself */
        redis_link_group_call(group, wait, REDIS_CALLED);
}

bool redis_link_group_become_driver(struct redis_link_group *group,
                                    struct redis_wait *wait)
{
    if (group->is_driven) {
        wait->role = REDIS_WAITING;
        DL_APPEND(group->waiting, wait);
        return false;
    }
    group->is_driven = true;
    wait->role = REDIS_DRIVING;
    return true;
}

bool redis_link_group_stop_waiting(struct redis_link_group *group,
                                   struct redis_wait *wait)
{
    if (wait->role != REDIS_WAITING)
        return false;
    DL_DELETE(group->waiting, wait);
    wait->role = REDIS_AWAKE;
    return true;
}

void redis_link_group_nudge(struct redis_link_group *group)
{
    group->is_nudged = true;
    if (!group->is_polling)
        return;
    group->is_polling = false; /* once is enough */
    dlock_event_raise(group->nudge_fd, 1);
}

bool redis_link_group_is_expecting(const struct redis_link_group *group)
{
    return group->expected_count > 0 && dlock_clock_ns() < group->expected_until_ns;
}

bool redis_link_group_yield(struct redis_link_group *group)
{
    int64_t before_ns = dlock_clock_ns();

    if (before_ns < atomic_load_explicit(&group->yields_from_ns, memory_order_relaxed))
        return false;
    dlock_thread_yield();
    if (dlock_clock_ns() - before_ns > LONG_YIELD_NS)
        atomic_store_explicit(&group->yields_from_ns, before_ns + NO_YIELDS_NS,
                              memory_order_relaxed);
    return true;
}

void redis_link_group_expect(struct redis_link_group *group)
{
    if (dlock_fiber_here() != NULL) {
        /* Fibers that ask again run before the next sending: see gather() in
         * driver.c. */
    } else if (group->link_count > 1) {
        /* With several links, the links hold later requests back: see link_send.c. */
    } else if (group->answered_count > 1 && group->doubts > 0) {
        group->doubts--;
    } else if (group->answered_count > 1) {
        group->expected_count += group->answered_count;
        group->expected_until_ns = dlock_clock_ns() + EXPECT_NS;
    }
    group->answered_count = 0;
}

void redis_link_group_asked(struct redis_link_group *group)
{
    group->gathered_count++;
    if (group->expected_count > 0)
        group->expected_count--;
}
