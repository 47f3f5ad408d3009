/* SPDX-License-Identifier: MIT */
/* driver.c -- what driving is: to connect, to send, to sleep until answers come, and
 * to hand them out. */
#include "base/redis/driver.h"

#include "base/os/clock.h"
#include "base/os/event.h"
#include "base/os/thread.h"
#include "base/redis/link_inside.h"

/* The driver makes way for those who are expected to ask again so often and then sleeps
 * for at most LINGER_NS; if none of them came by then, nobody is expected for so many
 * answerings. */
enum {
    EXPECT_YIELDS = 8,
    LINGER_NS = 50000,
    DOUBTS = 32,
};

static void send_all(struct redis_hub *hub)
{
    hub->gathered_count = 0;
    for (int i = 0; i < hub->link_count; i++)
        redis_link_send(hub->links[i]);
}

void redis_driver_send(struct redis_hub *hub, const struct redis_wait *wait)
{
    if (wait->open_count == 0 || hub->gathered_count >= REDIS_HUB_BATCH_MAX ||
        !redis_hub_is_expecting(hub))
        send_all(hub);
}

void redis_driver_leave(struct redis_hub *hub, struct redis_wait *wait)
{
    wait->role = REDIS_BOARDING;
    hub->is_driven = hub->waiting != NULL;
    if (hub->is_driven) /* who came last will drive longest */
        redis_hub_call(hub, hub->waiting->prev, REDIS_DRIVING);
    else
        send_all(hub); /* what nobody waits for */
}

/* Until when the link's oldest request may go unanswered. */
static int64_t due_ns(const struct redis_link *link)
{
    return dlock_clock_after(redis_queue_oldest_ns(&link->queue), link->timeout_ms);
}

/* Connect where it is needed, drop what is overdue. */
static void tend(struct redis_hub *hub)
{
    hub->is_nudged = false;
    for (int i = 0; i < hub->link_count; i++) {
        struct redis_link *link = hub->links[i];
        int64_t now_ns = dlock_clock_ns();

        /* It may be us who were late, and not the server: look first. */
        if (due_ns(link) <= now_ns && link->is_ready)
            redis_link_hear(link);
        if (due_ns(link) <= now_ns)
            redis_link_overdue(link);
        else if (!link->is_ready)
            redis_link_advance(link);
    }
}

/* What the driver sleeps on: one for every link, and the nudge. */
struct poll_set {
    struct pollfd polled[REDIS_HUB_LINKS_MAX + 1];
    struct redis_conn *conns[REDIS_HUB_LINKS_MAX];
    uint64_t serials[REDIS_HUB_LINKS_MAX];
    int link_count;
    int64_t until_ns; /* something is overdue then, if not earlier */
};

static void fill_poll_set(struct redis_hub *hub, struct poll_set *set)
{
    set->link_count = hub->link_count;
    for (int i = 0; i < set->link_count; i++) {
        struct redis_link *link = hub->links[i];

        set->polled[i] = (struct pollfd){.fd = -1};
        if (due_ns(link) < set->until_ns)
            set->until_ns = due_ns(link);
        set->conns[i] = redis_link_borrow(link);
        set->serials[i] = link->serial;
        if (set->conns[i] == NULL)
            continue;
        set->polled[i].fd = set->conns[i]->context->fd;
        set->polled[i].events = POLLIN;
        if (!link->is_ready)
            set->polled[i].events = set->conns[i]->wants;
        else if (link->is_full)
            set->polled[i].events |= POLLOUT;
    }
    set->polled[set->link_count].fd = hub->nudge_fd;
    set->polled[set->link_count].events = POLLIN;
    set->polled[set->link_count].revents = 0;
}

static void leave_poll_set(struct redis_hub *hub, struct poll_set *set)
{

    hub->is_polling = false;
    if (set->polled[set->link_count].revents != 0)
        dlock_event_clear(hub->nudge_fd);
    for (int i = 0; i < set->link_count; i++)
        if (set->conns[i] != NULL)
            redis_conn_return(hub->links[i], set->conns[i], set->serials[i]);
}

/* Poll with the mutex free, for at most LINGER_NS if it `is_brief`.  False: nothing
 * happened.  Who was nudged does not sleep. */
static bool poll_for(struct redis_hub *hub, struct poll_set *set, int64_t end_ns,
                     bool is_brief)
{
    int woken;

    set->until_ns = end_ns;
    fill_poll_set(hub, set);
    if (hub->is_nudged)
        set->until_ns = 0;
    else if (is_brief)
        set->until_ns = dlock_clock_ns() + LINGER_NS;
    hub->is_polling = true;
    redis_hub_unlock(hub);
    woken = dlock_poll_until(set->polled, (size_t)set->link_count + 1, set->until_ns);
    redis_hub_lock(hub);
    leave_poll_set(hub, set);
    return woken != 0 || hub->is_nudged;
}

/* Make way for those who are expected.  Who has not come after that does not come. */
static void linger(struct redis_hub *hub, struct poll_set *set, int64_t end_ns)
{
    if (poll_for(hub, set, end_ns, true))
        return;
    if (hub->expected_count > 0)
        hub->doubts = DOUBTS;
    hub->expected_count = 0;
}

/* Sleep until something can go on, at the latest until `end_ns`; and see to it that all
 * is sent before. */
static void rest(struct redis_hub *hub, int64_t end_ns)
{
    struct poll_set set;

    for (int i = 0; i < EXPECT_YIELDS && redis_hub_is_expecting(hub); i++) {
        redis_hub_unlock(hub);
        dlock_thread_yield();
        redis_hub_lock(hub);
    }
    if (redis_hub_is_expecting(hub)) {
        linger(hub, &set, end_ns);
    } else {
        send_all(hub);
        poll_for(hub, &set, end_ns, false);
    }
    for (int i = 0; i < set.link_count; i++) {
        struct redis_link *link = hub->links[i];

        if (set.polled[i].revents == 0 || link->serial != set.serials[i] ||
            !link->is_ready)
            continue;
        if (set.polled[i].revents & POLLOUT)
            link->is_full = false;
        if (set.polled[i].revents & ~POLLOUT)
            redis_link_hear(link);
    }
}

void redis_driver_drive(struct redis_hub *hub, struct redis_wait *wait,
                        int64_t end_ns)
{
    for (;;) {
        tend(hub);
        redis_driver_send(hub, wait);
        if (wait->open_count == 0 || dlock_clock_ns() >= end_ns)
            return;
        rest(hub, end_ns);
        if (wait->open_count == 0)
            return;
    }
}
