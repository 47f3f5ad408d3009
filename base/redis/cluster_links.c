/* SPDX-License-Identifier: MIT */
/* cluster_links.c -- one link to a Redis Cluster, which has a link to each of its masters.
 *
 * A redirected command goes from node to node until one executes it. */
#include "base/redis/cluster_links.h"

#include <stdio.h>

#include "base/os/clock.h"
#include "base/os/scratch.h"
#include "base/redis/cluster_routes.h"
#include "base/redis/link_inside.h"
#include "base/redis/redirect.h"

enum {
    AGAIN_MS = 20,   /* the pause before a command is sent again after TRYAGAIN or
                      * CLUSTERDOWN */
    HOPS_MAX = 16,   /* from node to node by redirects, before the nodes count as confused */
    HEAR_MS = 200,   /* the longest wait of a redirected command for a new map */
    HEAR_STEP_MS = 2,
};

/* One command on its way from node to node. */
struct journey {
    struct redis_routes *routes;
    int slot;        /* below 0: the command is for no key */
    int hops;        /* by MOVED and ASK */
    int again_count; /* by TRYAGAIN and CLUSTERDOWN */
    char led_by[REDIS_WHY_SIZE]; /* the last redirect */
    int64_t begun_ns, end_ns;
    struct redis_leg leg; /* the leg to the node that is asked now */
};

static int slot_of(const struct redis_command *command)
{
    const char *key = redis_command_key(command);

    return key != NULL ? redis_slot_of(key) : REDIS_NO_NODE;
}

static void pause_before_again(const struct journey *journey)
{
    int64_t until_ns = dlock_clock_after(dlock_clock_ns(), AGAIN_MS);

    dlock_clock_sleep_until(until_ns < journey->end_ns ? until_ns : journey->end_ns);
}

/* Wait until the map has the node of `link` as the owner of the slot.  If a promotion
 * gave the slot to this node, the map has begun the new era by then.  Otherwise a grant
 * of this node would count to the old era, and be lost with it. */
static void await_map(const struct redis_routes *routes, int slot, const struct redis_link *link,
                      int64_t end_ns)
{
    int64_t until_ns = dlock_clock_after(dlock_clock_ns(), HEAR_MS);
    struct redis_address place;

    if (until_ns > end_ns)
        until_ns = end_ns;
    redis_link_address(link, &place);
    while (!redis_cluster_has(routes->cluster, &place, slot)) {
        int64_t now_ns = dlock_clock_ns();

        if (now_ns >= until_ns)
            return;
        dlock_clock_sleep_until(dlock_clock_after(now_ns, HEAR_STEP_MS));
    }
}

/* Go to the node of the map.  False: there is none, and the answer says so. */
static bool turn_by_map(struct journey *journey)
{
    char why[REDIS_WHY_SIZE] = "";

    journey->leg.asking = false;
    journey->leg.link = redis_routes_find(journey->routes, journey->slot, journey->end_ns, why);
    if (journey->leg.link != NULL)
        return true;
    redis_answer_fail(&journey->leg.answer,
                      redis_cluster_refuses(journey->routes->cluster) ? REDIS_PROTOCOL
                                                                      : REDIS_NOT_DONE,
                      why);
    return false;
}

/* Follow the node's redirect.  False: the answer is final. */
static bool turn_by_answer(struct journey *journey)
{
    struct redis_routes *routes = journey->routes;
    struct redis_answer *answer = &journey->leg.answer;
    struct redis_link *named;

    redis_redirect_count(answer->redirect);
    switch (answer->redirect) {
    case REDIS_MOVED:
    case REDIS_ASK:
        snprintf(journey->led_by, sizeof(journey->led_by), "%.150s", answer->text);
        named = redis_routes_follow(routes, journey->leg.link, journey->slot, answer);
        if (named == NULL)
            return false;
        if (answer->redirect == REDIS_MOVED && journey->slot >= 0) {
            await_map(routes, journey->slot, named, journey->end_ns);
            atomic_store(&routes->slots[journey->slot], named);
        }
        journey->leg.asking = answer->redirect == REDIS_ASK;
        journey->leg.link = named;
        if (++journey->hops > HOPS_MAX)
            pause_before_again(journey);
        return true;
    case REDIS_TRY_AGAIN:
        journey->again_count++;
        pause_before_again(journey);
        return true;
    case REDIS_CLUSTER_DOWN:
        journey->again_count++;
        redis_routes_refresh(routes, NULL);
        pause_before_again(journey);
        return turn_by_map(journey);
    case REDIS_NO_REDIRECT:
        break;
    }
    if (answer->outcome == REDIS_NOT_DONE || answer->outcome == REDIS_UNKNOWN)
        redis_routes_forget(routes, journey->slot);
    return false;
}

/* The first node has the link's timeout, and the others have the rest of the journey's
 * time.  A node that is asked last has a quarter of a timeout, so that a node which
 * answers is not taken for a silent one. */
static int64_t end_of_leg(const struct journey *journey, int64_t give_up_ns)
{
    int64_t least_ns = dlock_clock_after(dlock_clock_ns(), journey->routes->timeout_ms / 4);
    int64_t end_ns = least_ns > journey->end_ns ? least_ns : journey->end_ns;

    if (journey->hops + journey->again_count == 0 || end_ns > give_up_ns)
        return give_up_ns;
    return end_ns;
}

/* Add the last redirect to the reason of a failure. */
static void tell_way(const struct journey *journey, struct redis_answer *answer)
{
    char why[REDIS_TEXT_SIZE];

    if (answer->outcome != REDIS_NOT_DONE && answer->outcome != REDIS_UNKNOWN)
        return;
    if (answer->redirect != REDIS_NO_REDIRECT)
        snprintf(why, sizeof(why), "%.150s; redirect %d of the command, in %d ms", answer->text,
                 journey->hops + journey->again_count,
                 (int)((dlock_clock_ns() - journey->begun_ns) / DLOCK_NS_PER_MS));
    else if (journey->hops > 0)
        snprintf(why, sizeof(why), "%.120s; %.100s had led there", answer->text, journey->led_by);
    else
        return;
    redis_answer_fail(answer, answer->outcome, why);
}

/* A command without a key that is sent to every node. */
struct round {
    struct redis_leg *leg;
    const struct redis_command *command;
    int64_t give_up_ns;
    bool has_begun, has_failed;
};

static void exchange_with_one(struct redis_link *link, void *arg)
{
    struct round *round = arg;
    struct redis_leg one = *round->leg;

    one.link = link;
    redis_exchange(&one, 1, round->command, round->give_up_ns);
    if (!round->has_failed)
        round->leg->answer = one.answer;
    round->has_begun = true;
    round->has_failed = round->has_failed || one.answer.outcome != REDIS_ANSWERED;
}

/* Send a command without a key to every node that has a link and is needed.  The answer is that of
 * the last node, or of the first node that failed.  False: there is no link yet. */
static bool exchange_with_all(struct redis_routes *routes, struct redis_leg *leg,
                              const struct redis_command *command, int64_t give_up_ns)
{
    struct round round = {.leg = leg, .command = command, .give_up_ns = give_up_ns};

    redis_routes_visit(routes, true, exchange_with_one, &round);
    if (round.has_failed)
        redis_routes_refresh(routes, NULL);
    return round.has_begun;
}

static void exchange(void *opaque, struct redis_leg *leg, const struct redis_command *command,
                     int64_t give_up_ns)
{
    struct redis_routes *routes = opaque;
    DLOCK_SCRATCH struct journey journey;

    if (leg->despite_failure && redis_command_key(command) == NULL &&
        exchange_with_all(routes, leg, command, give_up_ns))
        return;
    journey.routes = routes;
    journey.slot = slot_of(command);
    journey.hops = journey.again_count = 0;
    journey.led_by[0] = '\0';
    journey.begun_ns = dlock_clock_ns();
    journey.end_ns = dlock_clock_after(journey.begun_ns, routes->timeout_ms);
    if (journey.end_ns > give_up_ns)
        journey.end_ns = give_up_ns;
    journey.leg = *leg;
    if (turn_by_map(&journey))
        do
            redis_exchange(&journey.leg, 1, command, end_of_leg(&journey, give_up_ns));
        while (turn_by_answer(&journey) && dlock_clock_ns() < journey.end_ns);
    leg->answer = journey.leg.answer;
    tell_way(&journey, &leg->answer);
    leg->answer.redirect = REDIS_NO_REDIRECT;
}

static struct redis_link *pick(void *opaque, const struct redis_command *command,
                               int64_t give_up_ns, char why[REDIS_WHY_SIZE])
{
    struct redis_routes *routes = opaque;
    int64_t end_ns = dlock_clock_after(dlock_clock_ns(), routes->timeout_ms);

    return redis_routes_find(routes, slot_of(command), end_ns < give_up_ns ? end_ns : give_up_ns,
                             why);
}

static struct redis_link *pick_again(void *opaque, const struct redis_command *command,
                                     int64_t give_up_ns, struct redis_link *picked,
                                     struct redis_answer *answer, bool *asking)
{
    struct redis_routes *routes = opaque;
    struct redis_link *link = NULL;
    int slot = slot_of(command);

    redis_redirect_count(answer->redirect);
    *asking = answer->redirect == REDIS_ASK;
    if (answer->redirect == REDIS_MOVED || *asking)
        link = redis_routes_follow(routes, picked, slot, answer);
    else if (answer->outcome == REDIS_NOT_DONE || answer->outcome == REDIS_UNKNOWN)
        redis_routes_forget(routes, slot);
    if (link != NULL && !*asking && slot >= 0) {
        await_map(routes, slot, link, give_up_ns);
        atomic_store(&routes->slots[slot], link);
    }
    return link;
}

static void push_one(struct redis_link *link, void *arg)
{
    bool *all = arg;

    *all = redis_link_push(link) && *all;
}

static bool push(void *opaque)
{
    bool all = true;

    redis_routes_visit(opaque, false, push_one, &all);
    return all;
}

static void cut_one(struct redis_link *link, void *arg)
{
    (void)arg;
    redis_link_cut(link);
}

static void cut(void *opaque)
{
    redis_routes_visit(opaque, false, cut_one, NULL);
}

static uint64_t era(void *opaque, const char *key)
{
    const struct redis_routes *routes = opaque;

    return key == NULL ? redis_cluster_era(routes->cluster)
                       : redis_cluster_slot_era(routes->cluster, redis_slot_of(key));
}

static const char *script_text(void *opaque, const char *text)
{
    struct redis_routes *routes = opaque;

    return redis_sharded_text(&routes->texts, text);
}

static void close_routes(void *opaque)
{
    redis_routes_close(opaque);
}

struct redis_link *redis_cluster_link_new(const struct redis_url *url, int timeout_ms,
                                          bool slow_is_down)
{
    static const struct redis_router ROUTER = {.exchange = exchange,
                                               .pick = pick,
                                               .pick_again = pick_again,
                                               .push = push,
                                               .cut = cut,
                                               .era = era,
                                               .script_text = script_text,
                                               .close = close_routes};
    struct redis_routes *routes = redis_routes_open(url, timeout_ms, slow_is_down);
    struct redis_link *link =
        routes != NULL ? redis_link_new_routed(&ROUTER, routes, url->label) : NULL;

    if (link == NULL && routes != NULL)
        redis_routes_close(routes);
    return link;
}
