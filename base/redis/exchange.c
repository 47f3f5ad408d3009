/* SPDX-License-Identifier: MIT */
/* exchange.c -- one command to several servers at once, with one deadline.
 *
 * The caller puts its requests into the queues of the links, and then drives or sleeps
 * until the answers that count are there. */
#include <assert.h>
#include <stdio.h>

#include "base/os/clock.h"
#include "base/os/scratch.h"
#include "base/redis/driver.h"
#include "base/redis/link.h"
#include "base/redis/link_inside.h"

enum { YIELDS = 2 };

/* Permits the next command of the connection to use a slot that is moving in. */
static const char ASKING[] = "*1\r\n$6\r\nASKING\r\n";

/* The state of one exchange, on the caller's stack. */
struct exchange {
    struct redis_link_group *group;
    struct redis_wait wait;
    struct redis_request_leg trips[REDIS_GROUP_LINKS_MAX];
    size_t trip_count;
    struct redis_written written;
    int64_t begun_ns;
    int64_t end_ns;
    int64_t wake_ns; /* a sleeping caller checks by itself then */
};

/* Queue the request of one leg.  The caller holds the mutex. */
static void queue_leg(struct exchange *ex, struct redis_request_leg *trip)
{
    struct redis_leg *leg = trip->leg;
    struct redis_link *link = leg->link;

    if (leg->unawaited) /* the exchange may end before the driver would send it */
        link->hold_until_ns = 0;
    if (!link->is_ready && !leg->despite_failure && !leg->unawaited && redis_link_rests(link))
        redis_answer_fail(&leg->answer, link->alone_outcome, link->why);
    else if ((leg->asking && !redis_queue_add(&link->queue, NULL, ASKING, sizeof(ASKING) - 1,
                                              ex->begun_ns)) ||
             !redis_queue_add(&link->queue, trip, ex->written.bytes, ex->written.len,
                              ex->begun_ns))
        redis_answer_fail(&leg->answer, REDIS_NO_MEMORY,
                          "no memory for a command, or too many are unanswered");
    else
        return;
    redis_leg_end(ex->group, trip);
}

/* A new driver first reads what has arrived since the last driver: late replies are
 * dropped, and so is a connection that the server has closed. */
static void catch_up(struct exchange *ex)
{
    for (size_t i = 0; i < ex->trip_count; i++)
        if (ex->trips[i].leg->link->is_ready)
            redis_link_hear(ex->trips[i].leg->link);
}

static void queue_legs(struct exchange *ex)
{
    bool has_to_connect = false;

    for (size_t i = 0; i < ex->trip_count; i++) {
        queue_leg(ex, &ex->trips[i]);
        has_to_connect = has_to_connect || ex->trips[i].leg->link->conn == NULL;
    }
    redis_link_group_asked(ex->group);
    if (has_to_connect)
        redis_link_group_nudge(ex->group);
}

/* Let other threads run before a sleep in the kernel.  If no other program needs the
 * processor, the answer has often come when this thread runs again, which saves two
 * context switches. */
static void make_way(struct exchange *ex)
{
    if (dlock_fiber_here() != NULL)
        return; /* its sleep makes way */
    for (int i = 0; i < YIELDS && !dlock_bell_is_rung(&ex->wait.bell); i++)
        if (!redis_link_group_yield(ex->group))
            return;
}

/* Sleep until the answers have come, this caller has to drive, or its time has passed.
 * The caller holds the mutex, which is unlocked meanwhile. */
static void sleep_off(struct exchange *ex)
{
    if (ex->wait.open_count == 0 && redis_link_group_stop_waiting(ex->group, &ex->wait))
        return; /* no leg is waited for */
    redis_link_group_unlock(ex->group);
    make_way(ex);
    if (!dlock_bell_wait(&ex->wait.bell, ex->wake_ns)) {
        redis_link_group_lock(ex->group);
        if (redis_link_group_stop_waiting(ex->group, &ex->wait))
            return;
        redis_link_group_unlock(ex->group);
        (void)dlock_bell_wait(&ex->wait.bell, INT64_MAX);
    }
    redis_link_group_lock(ex->group);
}

/* Give up a leg, because the time has passed or the leg is not waited for. */
static void give_up(struct redis_request_leg *trip)
{
    struct redis_leg *leg = trip->leg;
    struct redis_link *link = leg->link;
    char why[REDIS_WHY_SIZE];

    snprintf(why, sizeof(why), "%s: no answer in time", redis_link_label(link));
    redis_answer_fail(&leg->answer,
                      redis_queue_forsake(&link->queue, trip) ? REDIS_NOT_DONE
                                                              : REDIS_UNKNOWN,
                      why);
    trip->is_over = true;
}

static void run(struct exchange *ex)
{
    redis_link_group_lock(ex->group);
    if (redis_link_group_become_driver(ex->group, &ex->wait))
        catch_up(ex);
    queue_legs(ex);
    if (ex->wait.role == REDIS_WAITING) {
        redis_driver_send(ex->group, &ex->wait);
        sleep_off(ex);
    }
    if (ex->wait.role == REDIS_DRIVING)
        redis_driver_drive(ex->group, &ex->wait, ex->end_ns);
    for (size_t i = 0; i < ex->trip_count; i++)
        if (!ex->trips[i].is_over)
            give_up(&ex->trips[i]);
    if (ex->wait.role == REDIS_DRIVING)
        redis_driver_leave(ex->group, &ex->wait);
    redis_link_group_unlock(ex->group);
}

static void fail_all(struct redis_leg *legs, size_t leg_count, enum redis_outcome outcome,
                     const char *why)
{
    for (size_t i = 0; i < leg_count; i++)
        redis_answer_fail(&legs[i].answer, outcome, why);
}

/* Replace the links by those for the caller (thread or fiber).  False: no memory, and
 * each leg's answer says so. */
static bool use_own_links(struct redis_leg *legs, size_t leg_count)
{
    for (size_t i = 0; i < leg_count; i++) {
        struct redis_link *link = redis_link_here(legs[i].link);

        if (link == NULL) {
            fail_all(legs, leg_count, REDIS_NO_MEMORY, "no memory for a link");
            return false;
        }
        legs[i].link = link;
    }
    return true;
}

void redis_exchange(struct redis_leg *legs, size_t leg_count,
                    const struct redis_command *command, int64_t give_up_ns)
{
    DLOCK_SCRATCH struct exchange ex;

    assert(leg_count > 0 && leg_count <= REDIS_GROUP_LINKS_MAX);
    if (legs[0].link->router != NULL) {
        assert(leg_count == 1);
        legs[0].link->router->exchange(legs[0].link->routes, &legs[0], command, give_up_ns);
        return;
    }
    *redis_commands_here() += leg_count;
    if (!use_own_links(legs, leg_count))
        return;
    ex.group = legs[0].link->group;
    ex.wait = (struct redis_wait){.role = REDIS_AWAKE};
    ex.trip_count = leg_count;
    ex.begun_ns = ex.end_ns = dlock_clock_ns();
    for (size_t i = 0; i < leg_count; i++) {
        int64_t leg_end_ns =
            dlock_clock_after(ex.begun_ns, legs[i].link->timeout_ms);

        assert(legs[i].link->group == ex.group);
        legs[i].shape = command->shape;
        if (leg_end_ns > ex.end_ns)
            ex.end_ns = leg_end_ns;
        ex.trips[i] = (struct redis_request_leg){.leg = &legs[i], .wait = &ex.wait};
        ex.wait.open_count += !legs[i].unawaited;
    }
    /* The driver ends overdue requests of all callers.  Only if the driver itself is
     * late, because it resolves a name or gets no processor, the callers end their
     * own. */
    ex.wake_ns = ex.end_ns + (ex.end_ns - ex.begun_ns) / 2;
    if (ex.end_ns > give_up_ns)
        ex.end_ns = give_up_ns;
    if (ex.wake_ns > give_up_ns)
        ex.wake_ns = give_up_ns;
    if (give_up_ns <= ex.begun_ns) {
        fail_all(legs, leg_count, REDIS_NOT_DONE, "the time was over before the request was sent");
    } else if (!redis_command_write(&ex.written, command)) {
        fail_all(legs, leg_count, REDIS_NO_MEMORY, "no memory for a command");
    } else {
        run(&ex);
        redis_written_free(&ex.written);
    }
}
