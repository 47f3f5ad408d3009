/* SPDX-License-Identifier: MIT */
/* cluster_subscription.c -- one subscription to a Redis Cluster, which has a subscription to each
 * master that has the slot of a channel. */
#include "base/redis/cluster_subscription.h"

#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/os/mutex.h"
#include "base/redis/cluster.h"

struct node_subscription {
    struct redis_address place;
    struct redis_subscription *sub;
    struct node_subscription *next;
};

struct routes {
    struct redis_cluster *cluster;
    int timeout_ms;
    struct dlock_mutex mutex;
    struct node_subscription *nodes; /* under the mutex; each stays until the close */
    bool (*tell)(void *arg, const char *channel);
    void *tell_arg;
};

static struct redis_channels *elsewhere(void *opaque, const char *channel);

static struct node_subscription *find_node(const struct routes *routes,
                                           const struct redis_url *url)
{
    struct node_subscription *node = routes->nodes;

    while (node != NULL &&
           (node->place.port != url->port || strcmp(node->place.host, url->host) != 0))
        node = node->next;
    return node;
}

/* Make the subscription to a node and add it to the list.  NULL: no memory, or no
 * event.  The caller holds the mutex. */
static struct node_subscription *add_node(struct routes *routes, const struct redis_url *url)
{
    struct node_subscription *node = calloc(1, sizeof(*node));

    if (node == NULL)
        return NULL;
    node->sub = redis_subscription_new_sharded(url, routes->timeout_ms, elsewhere, routes);
    if (node->sub == NULL) {
        free(node);
        return NULL;
    }
    redis_subscription_tell(node->sub, routes->tell, routes->tell_arg);
    memcpy(node->place.host, url->host, sizeof(node->place.host));
    node->place.port = url->port;
    node->next = routes->nodes;
    routes->nodes = node;
    return node;
}

static struct redis_subscription *pick(void *opaque, const char *channel)
{
    struct routes *routes = opaque;
    struct node_subscription *node;
    struct redis_url url;

    if (!redis_cluster_find(routes->cluster, redis_slot_of(channel), &url))
        return NULL; /* the waiter asks by itself from time to time */
    dlock_mutex_lock(&routes->mutex);
    node = find_node(routes, &url);
    if (node == NULL)
        node = add_node(routes, &url);
    dlock_mutex_unlock(&routes->mutex);
    return node != NULL ? node->sub : NULL;
}

static struct redis_channels *elsewhere(void *opaque, const char *channel)
{
    struct redis_subscription *sub = pick(opaque, channel);

    return sub != NULL ? redis_subscription_channels(sub) : NULL;
}

static void tell_all(void *opaque, bool (*tell)(void *arg, const char *channel), void *arg)
{
    struct routes *routes = opaque;

    dlock_mutex_lock(&routes->mutex);
    routes->tell = tell;
    routes->tell_arg = arg;
    for (const struct node_subscription *node = routes->nodes; node != NULL; node = node->next)
        redis_subscription_tell(node->sub, tell, arg);
    dlock_mutex_unlock(&routes->mutex);
}

/* The node for which channels are checked. */
struct sifting {
    struct routes *routes;
    const struct redis_address *place;
};

static bool stays(void *opaque, const char *channel)
{
    const struct sifting *sifting = opaque;

    return redis_cluster_has(sifting->routes->cluster, sifting->place, redis_slot_of(channel));
}

/* Give up the channels of every node whose slots have moved.  Called by the thread of
 * the cluster. */
static void on_changed(void *opaque)
{
    struct routes *routes = opaque;

    dlock_mutex_lock(&routes->mutex);
    for (const struct node_subscription *node = routes->nodes; node != NULL; node = node->next) {
        struct sifting sifting = {routes, &node->place};
        struct redis_channels *channels = redis_subscription_channels(node->sub);

        if (channels != NULL)
            redis_channels_sift(channels, stays, &sifting);
    }
    dlock_mutex_unlock(&routes->mutex);
}

static void close_routes(void *opaque)
{
    struct routes *routes = opaque;

    redis_cluster_close(routes->cluster);
    while (routes->nodes != NULL) {
        struct node_subscription *next = routes->nodes->next;

        redis_subscription_close(routes->nodes->sub);
        free(routes->nodes);
        routes->nodes = next;
    }
    dlock_mutex_destroy(&routes->mutex);
    free(routes);
}

struct redis_subscription *redis_cluster_subscription_new(const struct redis_url *url,
                                                          int timeout_ms)
{
    static const struct redis_subscription_router ROUTER = {
        .pick = pick, .tell = tell_all, .close = close_routes};
    struct routes *routes = calloc(1, sizeof(*routes));
    struct redis_subscription *sub;

    if (routes == NULL)
        return NULL;
    dlock_mutex_init(&routes->mutex);
    routes->timeout_ms = timeout_ms;
    routes->cluster = redis_cluster_open(url, on_changed, routes);
    sub = routes->cluster != NULL ? redis_subscription_new_routed(&ROUTER, routes) : NULL;
    if (sub == NULL)
        close_routes(routes);
    return sub;
}
