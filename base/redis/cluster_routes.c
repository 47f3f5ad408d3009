/* SPDX-License-Identifier: MIT */
/* cluster_routes.c -- the links to the nodes of a Redis Cluster, and the link for each slot. */
#include "base/redis/cluster_routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/scratch.h"
#include "base/redis/link_inside.h"
#include "base/redis/redirect.h"

/* The limit of links, because each link keeps a descriptor until the close.  Only a
 * cluster whose nodes were replaced many times, or a faulty node, names more
 * addresses. */
enum { LINKS_MAX = 2 * REDIS_CLUSTER_NODES_MAX };

struct redis_node_link {
    struct redis_address place;
    struct redis_link *link;
    struct redis_node_link *next;
};

void redis_routes_refresh(struct redis_routes *routes, const struct redis_address *place)
{
    redis_cluster_counts_here()[REDIS_COUNT_map_refreshes]++;
    redis_cluster_doubt(routes->cluster, place);
}

/* A node has not answered for a while: refresh the map, because another node may have
 * its slots by now. */
static void on_late(void *opaque)
{
    redis_routes_refresh(opaque, NULL);
}

/* In the thread of the cluster: clear the cache of links, and drop the connections to
 * nodes without slots, so that no thread waits for a master that was replaced. */
static void on_changed(void *opaque)
{
    struct redis_routes *routes = opaque;

    for (int slot = 0; slot < REDIS_SLOT_COUNT; slot++)
        atomic_store(&routes->slots[slot], NULL);
    dlock_mutex_lock(&routes->mutex);
    for (const struct redis_node_link *node = routes->nodes; node != NULL; node = node->next)
        if (!redis_cluster_has(routes->cluster, &node->place, REDIS_NO_NODE))
            redis_link_drop(node->link);
    dlock_mutex_unlock(&routes->mutex);
}

/* With the mutex held. */
static struct redis_link *known_link(const struct redis_routes *routes, const struct redis_url *url)
{
    for (const struct redis_node_link *node = routes->nodes; node != NULL; node = node->next)
        if (node->place.port == url->port && strcmp(node->place.host, url->host) == 0)
            return node->link;
    return NULL;
}

/* Make a link and add it to the list.  NULL: no memory.  The caller holds the mutex. */
static struct redis_link *new_link(struct redis_routes *routes, const struct redis_url *url)
{
    struct redis_node_link *node = calloc(1, sizeof(*node));

    if (node == NULL)
        return NULL;
    node->link = redis_link_new(NULL, url, routes->timeout_ms, routes->slow_is_down);
    if (node->link == NULL) {
        free(node);
        return NULL;
    }
    redis_link_route(node->link, on_late, routes);
    memcpy(node->place.host, url->host, sizeof(node->place.host));
    node->place.port = url->port;
    node->next = routes->nodes;
    routes->nodes = node;
    routes->node_count++;
    return node->link;
}

/* Find or make the link to the node at that place.  NULL: `why` has the reason. */
static struct redis_link *link_to(struct redis_routes *routes, const struct redis_url *url,
                                  char why[REDIS_WHY_SIZE])
{
    struct redis_link *link;

    dlock_mutex_lock(&routes->mutex);
    link = known_link(routes, url);
    if (link == NULL && routes->node_count == LINKS_MAX)
        snprintf(why, REDIS_WHY_SIZE,
                 "%.50s: the cluster has named %d other addresses; start the program anew",
                 url->label, (int)LINKS_MAX);
    else if (link == NULL && (link = new_link(routes, url)) == NULL)
        snprintf(why, REDIS_WHY_SIZE, "%.100s: no memory for a link", url->label);
    dlock_mutex_unlock(&routes->mutex);
    return link;
}

struct redis_link *redis_routes_find(struct redis_routes *routes, int slot, int64_t until_ns,
                                     char why[REDIS_WHY_SIZE])
{
    DLOCK_SCRATCH struct redis_url url;
    struct redis_link *link = slot >= 0 ? atomic_load(&routes->slots[slot]) : NULL;

    if (link != NULL)
        return link;
    if (!redis_cluster_await(routes->cluster, until_ns, why))
        return NULL;
    if (!redis_cluster_find(routes->cluster, slot, &url)) {
        if (slot >= 0)
            snprintf(why, REDIS_WHY_SIZE, "%.80s: no node has slot %d",
                     routes->label, slot);
        else
            snprintf(why, REDIS_WHY_SIZE, "%.80s: no node has a slot",
                     routes->label);
        redis_routes_refresh(routes, NULL);
        return NULL;
    }
    link = link_to(routes, &url, why);
    if (link != NULL && slot >= 0)
        atomic_store(&routes->slots[slot], link);
    return link;
}

struct redis_link *redis_routes_follow(struct redis_routes *routes, struct redis_link *from,
                                       int slot, struct redis_answer *answer)
{
    DLOCK_SCRATCH struct redis_url url;
    struct redis_address asked = {.port = 0};
    struct redis_address place;
    struct redis_link *link;
    char why[REDIS_TEXT_SIZE];

    redis_link_address(from, &asked);
    if (!redis_redirect_read(&place, answer, slot, &asked, why)) {
        redis_link_cut(from);
        redis_answer_fail(answer, REDIS_PROTOCOL, why);
        return NULL;
    }
    redis_cluster_know(routes->cluster, &place);
    redis_cluster_url(routes->cluster, &place, &url);
    if (answer->redirect == REDIS_MOVED)
        redis_routes_refresh(routes, &place);
    link = link_to(routes, &url, why);
    if (link == NULL)
        redis_answer_fail(answer, REDIS_NO_MEMORY, why);
    return link;
}

void redis_routes_forget(struct redis_routes *routes, int slot)
{
    if (slot >= 0)
        atomic_store(&routes->slots[slot], NULL);
    redis_routes_refresh(routes, NULL);
}

/* Has the node slots, or does it owe answers?  A thread may queue a post for a node that has lost
 * its slots since the thread picked it, and no other request goes there any more. */
static bool is_needed(const struct redis_routes *routes, const struct redis_node_link *node)
{
    return redis_cluster_has(routes->cluster, &node->place, REDIS_NO_NODE) ||
           redis_link_has_requests(node->link);
}

/* The link after `node`, or the first; NULL: there is none. */
static struct redis_node_link *next_node(struct redis_routes *routes,
                                         const struct redis_node_link *node, bool needed)
{
    struct redis_node_link *next;

    dlock_mutex_lock(&routes->mutex);
    next = node == NULL ? routes->nodes : node->next;
    while (next != NULL && needed && !is_needed(routes, next))
        next = next->next;
    dlock_mutex_unlock(&routes->mutex);
    return next;
}

void redis_routes_visit(struct redis_routes *routes, bool needed,
                        void visit(struct redis_link *link, void *arg), void *arg)
{
    struct redis_node_link *node = NULL;

    while ((node = next_node(routes, node, needed)) != NULL)
        visit(node->link, arg);
}

struct redis_routes *redis_routes_open(const struct redis_url *url, int timeout_ms,
                                       bool slow_is_down)
{
    struct redis_routes *routes = calloc(1, sizeof(*routes));

    if (routes == NULL)
        return NULL;
    dlock_mutex_init(&routes->mutex);
    redis_sharded_texts_init(&routes->texts);
    snprintf(routes->label, sizeof(routes->label), "%s", url->label);
    routes->timeout_ms = timeout_ms;
    routes->slow_is_down = slow_is_down;
    routes->cluster = redis_cluster_open(url, on_changed, routes);
    if (routes->cluster != NULL)
        return routes;
    redis_routes_close(routes);
    return NULL;
}

void redis_routes_close(struct redis_routes *routes)
{
    redis_cluster_close(routes->cluster);
    while (routes->nodes != NULL) {
        struct redis_node_link *next = routes->nodes->next;

        redis_link_close(routes->nodes->link);
        free(routes->nodes);
        routes->nodes = next;
    }
    redis_sharded_texts_destroy(&routes->texts);
    dlock_mutex_destroy(&routes->mutex);
    free(routes);
}
