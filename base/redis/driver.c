/* SPDX-License-Identifier: MIT */
/* driver.c -- the driver: it connects, sends, sleeps until answers come, and gives them
 * out. */
#include "base/redis/driver.h"

#include "base/os/clock.h"
#include "base/os/fiber.h"
#include "base/os/thread.h"
#include "base/redis/link_inside.h"

/* While threads are expected to ask again, the driver yields EXPECT_YIELDS times, and
 * then sleeps for at most LINGER_NS.  If none of these threads has asked by then, no
 * thread is expected after the next DOUBTS deliveries of answers. */
enum {
    EXPECT_YIELDS = 8,
    LINGER_NS = 50000,
    DOUBTS = 32,
    LATE_AGAIN_MS = 1000,
};

static void send_all(struct redis_link_group *group)
{
    group->gathered_count = 0;
    for (int i = 0; i < group->link_count; i++)
        redis_link_send(group->links[i]);
}

/* The same, but for requests without a waiting thread: there may be no driver later
 * that would send them. */
static void send_all_now(struct redis_link_group *group)
{
    group->gathered_count = 0;
    for (int i = 0; i < group->link_count; i++)
        redis_link_send_now(group->links[i]);
}

/* Let all ready fibers run and queue their requests, and then send them together. */
static void gather(struct redis_link_group *group)
{
    if (group->is_gathering)
        return;
    group->is_gathering = true;
    redis_link_group_unlock(group);
    dlock_thread_yield();
    redis_link_group_lock(group);
    group->is_gathering = false;
    send_all(group);
}

void redis_driver_send(struct redis_link_group *group, const struct redis_wait *wait)
{
    if (dlock_fiber_here() != NULL) {
        gather(group);
        return;
    }
    if (wait->open_count == 0)
        send_all_now(group);
    else if (group->gathered_count >= REDIS_GROUP_BATCH_MAX ||
             !redis_link_group_is_expecting(group))
        send_all(group);
}

void redis_driver_leave(struct redis_link_group *group, struct redis_wait *wait)
{
    wait->role = REDIS_AWAKE;
    group->is_driven = group->waiting != NULL;
    if (group->is_driven) /* the thread that came last will drive longest */
        redis_link_group_call(group, group->waiting->prev, REDIS_DRIVING);
    else
        send_all_now(group);
}

/* The deadline of the link's oldest request. */
static int64_t due_ns(const struct redis_link *link)
{
    return dlock_clock_after(redis_queue_oldest_ns(&link->queue), link->timeout_ms);
}

/* When to tell the router that the link's oldest request is late; INT64_MAX: never. */
static int64_t late_ns(const struct redis_link *link)
{
    int64_t late_ns =
        link->late == NULL
            ? INT64_MAX
            : dlock_clock_after(redis_queue_oldest_ns(&link->queue), REDIS_LATE_MS);

    return late_ns > link->late_again_ns ? late_ns : link->late_again_ns;
}

static void tell_lateness(struct redis_link *link, int64_t now_ns)
{
    if (late_ns(link) > now_ns)
        return;
    link->late_again_ns = dlock_clock_after(now_ns, LATE_AGAIN_MS);
    link->late(link->late_arg);
}

/* Connect links without a connection, and break links with an overdue request. */
static void tend(struct redis_link_group *group)
{
    group->is_nudged = false;
    for (int i = 0; i < group->link_count; i++) {
        struct redis_link *link = group->links[i];
        int64_t now_ns = dlock_clock_ns();

        /* Read once more first, because this thread may have been late, and not the
         * server. */
        if (due_ns(link) <= now_ns && link->is_ready)
            redis_link_hear(link);
        if (due_ns(link) <= now_ns)
            redis_link_overdue(link);
        else if (!link->is_ready)
            redis_link_advance(link);
        tell_lateness(link, now_ns);
    }
}

/* The wires that the driver sleeps on, beside the nudge. */
struct watch {
    struct redis_wire_look looks[REDIS_GROUP_LINKS_MAX];
    struct redis_conn *conns[REDIS_GROUP_LINKS_MAX];
    uint64_t serials[REDIS_GROUP_LINKS_MAX];
    int link_count;
    int64_t until_ns; /* the earliest deadline of a request */
};

static void begin_watch(struct redis_link_group *group, struct watch *watch)
{
    watch->link_count = group->link_count;
    for (int i = 0; i < watch->link_count; i++) {
        struct redis_link *link = group->links[i];
        struct redis_wire_look *look = &watch->looks[i];

        *look = (struct redis_wire_look){0};
        if (due_ns(link) < watch->until_ns)
            watch->until_ns = due_ns(link);
        if (late_ns(link) < watch->until_ns)
            watch->until_ns = late_ns(link);
        if (redis_link_holds(link) && link->hold_until_ns < watch->until_ns)
            watch->until_ns = link->hold_until_ns;
        watch->conns[i] = redis_link_borrow(link);
        watch->serials[i] = link->serial;
        if (watch->conns[i] == NULL)
            continue;
        if (!link->is_ready && watch->conns[i]->step_until_ns < watch->until_ns)
            watch->until_ns = watch->conns[i]->step_until_ns;
        look->wire = watch->conns[i]->wire;
        look->wanted = REDIS_WIRE_CAN_RECEIVE;
        if (!link->is_ready)
            look->wanted = watch->conns[i]->wants;
        else if (link->is_full)
            look->wanted |= REDIS_WIRE_CAN_SEND;
    }
}

static void end_watch(struct redis_link_group *group, struct watch *watch)
{
    group->is_polling = false;
    for (int i = 0; i < watch->link_count; i++)
        if (watch->conns[i] != NULL)
            redis_conn_return(group->links[i], watch->conns[i], watch->serials[i]);
}

/* Wait with the mutex unlocked, at most LINGER_NS if `is_brief`.  False: nothing
 * happened.  After a nudge the thread does not sleep. */
static bool wait_for(struct redis_link_group *group, struct watch *watch, int64_t end_ns,
                     bool is_brief)
{
    bool happened;

    watch->until_ns = end_ns;
    begin_watch(group, watch);
    if (group->is_nudged)
        watch->until_ns = 0;
    else if (is_brief)
        watch->until_ns = dlock_clock_ns() + LINGER_NS;
    group->is_polling = true;
    redis_link_group_unlock(group);
    happened = redis_wire_wait(watch->looks, (size_t)watch->link_count, group->nudge_fd,
                               watch->until_ns);
    redis_link_group_lock(group);
    end_watch(group, watch);
    return happened || group->is_nudged;
}

/* Let the expected threads run.  A thread that has not asked after that is not expected
 * any more. */
static void linger(struct redis_link_group *group, struct watch *watch, int64_t end_ns)
{
    if (wait_for(group, watch, end_ns, true))
        return;
    if (group->expected_count > 0)
        group->doubts = DOUBTS;
    group->expected_count = 0;
}

/* The group's only link, if the driver can use redis_wire_await() on it: only one
 * answer is awaited, and `end_ns` is not too near.  Otherwise NULL. A nudge does not
 * end an await, and an await may last longer than a near deadline.  For several answers
 * poll() is better, because more answers have arrived when they are read. */
static struct redis_link *sole_link(const struct redis_link_group *group, int64_t end_ns)
{
    struct redis_link *link = group->links[0];
    int64_t far_ns = dlock_clock_ns() + 2 * REDIS_WIRE_SLICE_MS * DLOCK_NS_PER_MS;

    return group->link_count == 1 && redis_queue_count(&link->queue) == 1 &&
                   !group->is_nudged && link->is_ready && !link->is_full && end_ns > far_ns &&
                   due_ns(link) > far_ns && late_ns(link) > far_ns
               ? link
               : NULL;
}

/* Send all queued requests, and sleep until an answer or other work comes, at most
 * until `end_ns`. */
static void rest(struct redis_link_group *group, int64_t end_ns)
{
    struct redis_link *sole;
    struct watch watch;
    bool may_yield = true;

    for (int i = 0; i < EXPECT_YIELDS && may_yield && redis_link_group_is_expecting(group);
         i++) {
        redis_link_group_unlock(group);
        may_yield = redis_link_group_yield(group);
        redis_link_group_lock(group);
    }
    if (redis_link_group_is_expecting(group)) {
        linger(group, &watch, end_ns);
    } else {
        send_all(group);
        sole = dlock_fiber_here() == NULL ? sole_link(group, end_ns) : NULL;
        if (sole != NULL) {
            redis_link_await(sole);
            return;
        }
        wait_for(group, &watch, end_ns, false);
    }
    for (int i = 0; i < watch.link_count; i++) {
        struct redis_link *link = group->links[i];

        if (link->serial != watch.serials[i] || !link->is_ready)
            continue;
        if (watch.looks[i].seen & REDIS_WIRE_CAN_SEND)
            link->is_full = false;
        if (watch.looks[i].seen & REDIS_WIRE_CAN_RECEIVE)
            redis_link_hear(link);
    }
}

void redis_driver_drive(struct redis_link_group *group, struct redis_wait *wait,
                        int64_t end_ns)
{
    for (;;) {
        tend(group);
        redis_driver_send(group, wait);
        if (wait->open_count == 0 || dlock_clock_ns() >= end_ns)
            return;
        rest(group, end_ns);
        if (wait->open_count == 0)
            return;
    }
}
