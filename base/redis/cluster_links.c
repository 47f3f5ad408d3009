/* SPDX-License-Identifier: MIT */
/* cluster_links.c -- one link to a Redis Cluster, which has a link to each of its masters.
 *
 * `slots` is the short way from a slot to a link.  An entry may be older than the map: then the
 * node answers MOVED, and the entry is corrected. */
#include "base/redis/cluster_links.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/os/mutex.h"
#include "base/os/scratch.h"
#include "base/redis/cluster.h"
#include "base/redis/link_inside.h"
#include "base/redis/sharded_text.h"

enum {
    AGAIN_MS = 20,   /* before a command is sent again to a cluster that is not ready for it */
    HOPS_MAX = 16,   /* from node to node by redirects, before the nodes count as confused */
    HEAR_MS = 200,   /* a redirected command waits so long for the map, at the most */
    HEAR_STEP_MS = 2,
};

struct node_link {
    struct redis_place place;
    struct redis_link *link;
    struct node_link *next;
};

struct routes {
    struct redis_cluster *cluster;
    int timeout_ms;
    bool slow_is_down;
    struct redis_link *_Atomic slots[REDIS_SLOT_COUNT]; /* NULL: look it up */
    struct dlock_mutex mutex;
    struct node_link *nodes; /* under the mutex; a link stays until the close */
    struct redis_sharded_texts texts;
};

/* A node has not answered for a while: perhaps another node has its slots by now. */
static void on_late(void *opaque)
{
    struct routes *routes = opaque;

    redis_cluster_doubt(routes->cluster, NULL);
}

/* The link to the node at that place, made if need be.  NULL: no memory. */
static struct redis_link *link_to(struct routes *routes, const struct redis_url *url)
{
    struct redis_link *link = NULL;
    struct node_link *node;

    dlock_mutex_lock(&routes->mutex);
    for (node = routes->nodes; node != NULL && link == NULL; node = node->next)
        if (node->place.port == url->port && strcmp(node->place.host, url->host) == 0)
            link = node->link;
    node = link == NULL ? calloc(1, sizeof(*node)) : NULL;
    if (node != NULL)
        node->link = redis_link_new(NULL, url, routes->timeout_ms, routes->slow_is_down);
    if (node != NULL && node->link != NULL) {
        link = node->link;
        redis_link_route(link, on_late, routes);
        memcpy(node->place.host, url->host, sizeof(node->place.host));
        node->place.port = url->port;
        node->next = routes->nodes;
        routes->nodes = node;
    } else {
        free(node);
    }
    dlock_mutex_unlock(&routes->mutex);
    return link;
}

static int slot_of(const struct redis_command *command)
{
    const char *key = redis_command_key(command);

    return key != NULL ? redis_slot_of(key) : REDIS_NO_NODE;
}

/* The link for the slot, or for any if it is below 0, as far as is known.  NULL: `why`. */
static struct redis_link *look_up(struct routes *routes, int slot, int64_t until_ns,
                                  char why[REDIS_WHY_SIZE])
{
    DLOCK_SCRATCH struct redis_url url;
    struct redis_link *link = slot >= 0 ? atomic_load(&routes->slots[slot]) : NULL;

    if (link != NULL)
        return link;
    if (!redis_cluster_await(routes->cluster, until_ns, why))
        return NULL;
    if (!redis_cluster_find(routes->cluster, slot, &url)) {
        snprintf(why, REDIS_WHY_SIZE, "no node of the cluster has slot %d", slot);
        redis_cluster_doubt(routes->cluster, NULL);
        return NULL;
    }
    link = link_to(routes, &url);
    if (link == NULL)
        snprintf(why, REDIS_WHY_SIZE, "no memory for a link");
    else if (slot >= 0)
        atomic_store(&routes->slots[slot], link);
    return link;
}

/* The link to the node that MOVED or ASK names: "label: MOVED slot host:port".  NULL: it names none,
 * or there is no memory. */
static struct redis_link *named_link(struct routes *routes, const struct redis_link *from,
                                     const struct redis_answer *answer)
{
    static const char *const WORDS[] = {[REDIS_MOVED] = ": MOVED ", [REDIS_ASK] = ": ASK "};
    DLOCK_SCRATCH struct redis_url url;
    struct redis_place asked = {.port = 0};
    struct redis_place place;
    const char *at = strstr(answer->text, WORDS[answer->redirect]);

    if (at != NULL)
        at = strchr(at + strlen(WORDS[answer->redirect]), ' ');
    redis_link_place(from, &asked);
    if (at == NULL || !redis_place_read(&place, at + 1, strlen(at + 1), &asked) ||
        place.port == 0)
        return NULL;
    redis_cluster_know(routes->cluster, &place);
    redis_cluster_url(routes->cluster, &place, &url);
    if (answer->redirect == REDIS_MOVED)
        redis_cluster_doubt(routes->cluster, &place);
    return link_to(routes, &url);
}

/* One command on its way from node to node. */
struct journey {
    struct routes *routes;
    int slot;
    int hops;
    int64_t end_ns;
    struct redis_leg leg; /* to the node that is asked now */
};

static void pause_before_again(const struct journey *journey)
{
    int64_t until_ns = dlock_clock_after(dlock_clock_ns(), AGAIN_MS);

    dlock_clock_sleep_until(until_ns < journey->end_ns ? until_ns : journey->end_ns);
}

/* Wait until the map too says that the node behind `link` has the slot.  If a promotion gave the slot to
 * that node, its era has begun then, so that what the node grants now does not end with the old one. */
static void await_map(const struct journey *journey, const struct redis_link *link)
{
    int64_t until_ns = dlock_clock_after(dlock_clock_ns(), HEAR_MS);
    struct redis_place place;

    if (until_ns > journey->end_ns)
        until_ns = journey->end_ns;
    redis_link_place(link, &place);
    while (!redis_cluster_has(journey->routes->cluster, &place, journey->slot)) {
        int64_t now_ns = dlock_clock_ns();

        if (now_ns >= until_ns)
            return;
        dlock_clock_sleep_until(dlock_clock_after(now_ns, HEAR_STEP_MS));
    }
}

/* Turn to the node of the map.  False: there is none, which the answer says. */
static bool turn_by_map(struct journey *journey)
{
    char why[REDIS_WHY_SIZE] = "";

    journey->leg.asking = false;
    journey->leg.link = look_up(journey->routes, journey->slot, journey->end_ns, why);
    if (journey->leg.link != NULL)
        return true;
    redis_answer_fail(&journey->leg.answer, REDIS_NOT_DONE, why);
    return false;
}

/* Follow what the node has answered.  False: there is nowhere to go. */
static bool turn_by_answer(struct journey *journey)
{
    struct routes *routes = journey->routes;
    const struct redis_answer *answer = &journey->leg.answer;
    struct redis_link *named;

    switch (answer->redirect) {
    case REDIS_MOVED:
    case REDIS_ASK:
        named = named_link(routes, journey->leg.link, answer);
        if (named == NULL)
            return false;
        if (answer->redirect == REDIS_MOVED && journey->slot >= 0) {
            await_map(journey, named);
            atomic_store(&routes->slots[journey->slot], named);
        }
        journey->leg.asking = answer->redirect == REDIS_ASK;
        journey->leg.link = named;
        if (++journey->hops > HOPS_MAX)
            pause_before_again(journey);
        return true;
    case REDIS_TRY_AGAIN:
        pause_before_again(journey);
        return true;
    case REDIS_CLUSTER_DOWN:
        redis_cluster_doubt(routes->cluster, NULL);
        pause_before_again(journey);
        return turn_by_map(journey);
    case REDIS_NO_REDIRECT:
        break;
    }
    if (answer->outcome == REDIS_NOT_DONE || answer->outcome == REDIS_UNKNOWN)
        redis_cluster_doubt(routes->cluster, NULL);
    return false;
}

/* The next link behind `node`, or the first, to a node that has slots; NULL: there is none. */
static struct node_link *next_node(struct routes *routes, const struct node_link *node)
{
    struct node_link *next;

    dlock_mutex_lock(&routes->mutex);
    next = node == NULL ? routes->nodes : node->next;
    while (next != NULL &&
           !redis_cluster_has(routes->cluster, &next->place, REDIS_NO_NODE))
        next = next->next;
    dlock_mutex_unlock(&routes->mutex);
    return next;
}

/* Put a command that is for no key to every node that has been asked anything so far, at the least to
 * one.  The answer is that of the last one, or that of the first that failed. */
static void exchange_with_all(struct routes *routes, struct redis_leg *leg,
                              const struct redis_command *command, int64_t give_up_ns)
{
    struct node_link *node = next_node(routes, NULL);
    bool has_failed = false;

    for (; node != NULL; node = next_node(routes, node)) {
        struct redis_leg one = *leg;

        one.link = node->link;
        redis_exchange(&one, 1, command, give_up_ns);
        if (!has_failed)
            leg->answer = one.answer;
        has_failed = has_failed || one.answer.outcome != REDIS_ANSWERED;
    }
    if (has_failed)
        redis_cluster_doubt(routes->cluster, NULL);
}

static void exchange(void *opaque, struct redis_leg *leg, const struct redis_command *command,
                     int64_t give_up_ns)
{
    struct routes *routes = opaque;
    DLOCK_SCRATCH struct journey journey;

    if (leg->insist && redis_command_key(command) == NULL && next_node(routes, NULL) != NULL) {
        exchange_with_all(routes, leg, command, give_up_ns);
        return;
    }

    journey.routes = routes;
    journey.slot = slot_of(command);
    journey.hops = 0;
    journey.end_ns = dlock_clock_after(dlock_clock_ns(), routes->timeout_ms);
    if (journey.end_ns > give_up_ns)
        journey.end_ns = give_up_ns;
    journey.leg = *leg;
    if (turn_by_map(&journey))
        do
            redis_exchange(&journey.leg, 1, command, give_up_ns);
        while (turn_by_answer(&journey) && dlock_clock_ns() < journey.end_ns);
    leg->answer = journey.leg.answer;
    leg->answer.redirect = REDIS_NO_REDIRECT;
}

static struct redis_link *pick(void *opaque, const struct redis_command *command,
                               int64_t give_up_ns, char why[REDIS_WHY_SIZE])
{
    struct routes *routes = opaque;
    int64_t end_ns = dlock_clock_after(dlock_clock_ns(), routes->timeout_ms);

    return look_up(routes, slot_of(command), end_ns < give_up_ns ? end_ns : give_up_ns, why);
}

static struct redis_link *pick_again(void *opaque, const struct redis_command *command,
                                     const struct redis_link *picked,
                                     const struct redis_answer *answer, bool *asking)
{
    struct routes *routes = opaque;
    struct redis_link *link = NULL;
    int slot = slot_of(command);

    *asking = answer->redirect == REDIS_ASK;
    if (answer->redirect == REDIS_MOVED || *asking)
        link = named_link(routes, picked, answer);
    if (link != NULL && !*asking && slot >= 0)
        atomic_store(&routes->slots[slot], link);
    return link;
}

static bool push(void *opaque)
{
    struct routes *routes = opaque;
    bool all = true;

    dlock_mutex_lock(&routes->mutex);
    for (const struct node_link *node = routes->nodes; node != NULL; node = node->next)
        all = redis_link_push(node->link) && all;
    dlock_mutex_unlock(&routes->mutex);
    return all;
}

static void cut(void *opaque)
{
    struct routes *routes = opaque;

    dlock_mutex_lock(&routes->mutex);
    for (const struct node_link *node = routes->nodes; node != NULL; node = node->next)
        redis_link_cut(node->link);
    dlock_mutex_unlock(&routes->mutex);
}

static uint64_t era(void *opaque, const char *key)
{
    const struct routes *routes = opaque;

    return key == NULL ? redis_cluster_era(routes->cluster)
                       : redis_cluster_slot_era(routes->cluster, redis_slot_of(key));
}

static const char *script_text(void *opaque, const char *text)
{
    struct routes *routes = opaque;

    return redis_sharded_text(&routes->texts, text);
}

/* In the thread of the cluster: forget the short ways, and drop the connections to nodes that have no
 * slot any more, so that nobody waits for a master that was replaced. */
static void on_changed(void *opaque)
{
    struct routes *routes = opaque;

    for (int slot = 0; slot < REDIS_SLOT_COUNT; slot++)
        atomic_store(&routes->slots[slot], NULL);
    dlock_mutex_lock(&routes->mutex);
    for (const struct node_link *node = routes->nodes; node != NULL; node = node->next)
        if (!redis_cluster_has(routes->cluster, &node->place, REDIS_NO_NODE))
            redis_link_drop(node->link);
    dlock_mutex_unlock(&routes->mutex);
}

static void close_routes(void *opaque)
{
    struct routes *routes = opaque;

    redis_cluster_close(routes->cluster);
    while (routes->nodes != NULL) {
        struct node_link *next = routes->nodes->next;

        redis_link_close(routes->nodes->link);
        free(routes->nodes);
        routes->nodes = next;
    }
    redis_sharded_texts_destroy(&routes->texts);
    dlock_mutex_destroy(&routes->mutex);
    free(routes);
}

struct redis_link *redis_cluster_link_new(const struct redis_url *url, int timeout_ms,
                                          bool slow_is_down)
{
    static const struct redis_router ROUTER = {
        .exchange = exchange, .pick = pick, .pick_again = pick_again, .push = push, .cut = cut, .era = era,
        .script_text = script_text, .close = close_routes};
    struct routes *routes = calloc(1, sizeof(*routes));
    struct redis_link *link;

    if (routes == NULL)
        return NULL;
    dlock_mutex_init(&routes->mutex);
    redis_sharded_texts_init(&routes->texts);
    routes->timeout_ms = timeout_ms;
    routes->slow_is_down = slow_is_down;
    routes->cluster = redis_cluster_open(url, on_changed, routes);
    link = routes->cluster != NULL ? redis_link_new_routed(&ROUTER, routes, url->label) : NULL;
    if (link == NULL)
        close_routes(routes);
    return link;
}
