/* SPDX-License-Identifier: MIT */
/* link_group.c -- who waits for answers, who is woken, and who drives. */
#include "base/redis/link_group.h"

#include <stdlib.h>
#include <utlist.h>

#include "base/os/clock.h"
#include "base/os/event.h"
#include "base/os/fiber.h"

/* Those who were answered together are expected to ask again within EXPECT_NS. */
enum { EXPECT_NS = 500000 };

struct redis_hub *redis_hub_open(void)
{
    struct redis_hub *hub = calloc(1, sizeof(*hub));

    if (hub == NULL)
        return NULL;
    hub->nudge_fd = dlock_event_open();
    if (hub->nudge_fd < 0) {
        free(hub);
        return NULL;
    }
    dlock_mutex_init(&hub->mutex);
    hub->user_count = 1;
    return hub;
}

void redis_hub_let_go(struct redis_hub *hub)
{
    if (--hub->user_count > 0)
        return;
    dlock_event_close(hub->nudge_fd);
    dlock_mutex_destroy(&hub->mutex);
    free(hub);
}

void redis_hub_lock(struct redis_hub *hub)
{
    dlock_mutex_lock(&hub->mutex);
}

void redis_hub_unlock(struct redis_hub *hub)
{
    struct redis_wait *wait = hub->to_ring;
    struct redis_post *post = hub->ended;

    hub->to_ring = NULL;
    hub->ended = NULL;
    dlock_mutex_unlock(&hub->mutex);
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

void redis_hub_call(struct redis_hub *hub, struct redis_wait *wait,
                    enum redis_role role)
{
    DL_DELETE(hub->waiting, wait);
    wait->role = role;
    LL_PREPEND2(hub->to_ring, wait, next_to_ring);
}

void redis_leg_end(struct redis_hub *hub, struct redis_request_leg *trip)
{
    struct redis_wait *wait = trip->wait;

    trip->is_over = true;
    if (wait == NULL) {
        struct redis_post *post = redis_post_of(trip);

        LL_PREPEND(hub->ended, post);
        return;
    }
    if (trip->leg->courtesy || --wait->open_count > 0)
        return;
    hub->answered_count++;
    if (wait->role == REDIS_WAITING) /* otherwise it is awake, and will look */
        redis_hub_call(hub, wait, REDIS_CALLED);
}

bool redis_hub_become_driver(struct redis_hub *hub, struct redis_wait *wait)
{
    if (hub->is_driven) {
        wait->role = REDIS_WAITING;
        DL_APPEND(hub->waiting, wait);
        return false;
    }
    hub->is_driven = true;
    wait->role = REDIS_DRIVING;
    return true;
}

bool redis_hub_stop_waiting(struct redis_hub *hub, struct redis_wait *wait)
{
    if (wait->role != REDIS_WAITING)
        return false;
    DL_DELETE(hub->waiting, wait);
    wait->role = REDIS_BOARDING;
    return true;
}

void redis_hub_nudge(struct redis_hub *hub)
{
    hub->is_nudged = true;
    if (!hub->is_polling)
        return;
    hub->is_polling = false; /* once is enough */
    dlock_event_raise(hub->nudge_fd, 1);
}

bool redis_hub_is_expecting(const struct redis_hub *hub)
{
    return hub->expected_count > 0 && dlock_clock_ns() < hub->expected_until_ns;
}

void redis_hub_expect(struct redis_hub *hub)
{
    if (dlock_fiber_here() != NULL) {
        /* Those who ask again run before the next request is sent: driver.c gathers. */
    } else if (hub->answered_count > 1 && hub->doubts > 0) {
        hub->doubts--;
    } else if (hub->answered_count > 1) {
        hub->expected_count += hub->answered_count;
        hub->expected_until_ns = dlock_clock_ns() + EXPECT_NS;
    }
    hub->answered_count = 0;
}

void redis_hub_asked(struct redis_hub *hub)
{
    hub->gathered_count++;
    if (hub->expected_count > 0)
        hub->expected_count--;
}
