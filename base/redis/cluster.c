/* SPDX-License-Identifier: MIT */
/* cluster.c -- a thread that asks the nodes of a Redis Cluster for the owners of the
 * slots. */
#include "base/redis/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/os/event.h"
#include "base/os/mutex.h"
#include "base/os/refusal.h"
#include "base/os/thread.h"
#include "base/redis/question.h"
#include "base/redis/sentinel.h"
#include "base/redis/tls.h"

enum {
    ANSWER_MS = 500, /* the time for a node to connect and to answer */
    EVERY_MS = 1000,
    EVERY_TROUBLED_MS = 100, /* while a node seems to have failed, and TROUBLED_MS after a doubt */
    TROUBLED_MS = 3000,
    PAUSE_MS = 50,   /* the least time between two questions */
    AWAIT_STEP_MS = 2,
    /* The longest answer to CLUSTER NODES that is read.  16,384 slots that are named one by one
     * take 110 kB, and 256 nodes 60 kB. */
    NODES_ANSWER_MAX = 1024 * 1024,
};

struct redis_cluster {
    struct redis_url url;
    void (*changed)(void *arg);
    void *arg;
    struct dlock_mutex mutex;
    struct redis_cluster_map map; /* this and what follows are under the mutex */
    char why[REDIS_WHY_SIZE];     /* the reason why the last asked node gave no view;
                                   * "": it did                                */
    int refused_count; /* nodes in a row that refused for good, as for a wrong password */
    struct redis_address doubted;   /* port 0: none */
    bool is_doubted;              /* ask now */
    int64_t troubled_until_ns;    /* ask often */
    _Atomic uint64_t era;         /* a copy of the map's era */
    /* The thread's own: */
    struct redis_cluster_view view;
    int next; /* the next node to ask: an index into the map's nodes and then the
               * URL's */
    int wake_fd;
    atomic_bool stopping;
    struct dlock_thread thread;
};

/* The state of reading an answer. */
struct telling {
    struct redis_cluster *cluster;
    const struct redis_address *asked;
    bool is_read;
    bool is_refused;
    bool names_node; /* `why` begins with the node */
    char why[REDIS_WHY_SIZE];
};

static void take_part(void *arg, const struct redis_part *part)
{
    struct telling *telling = arg;

    if (part->depth != 0)
        return;
    if (part->kind == REDIS_PART_BULK)
        telling->is_read =
            redis_cluster_view_read(&telling->cluster->view, part->text, part->len,
                                    telling->asked, telling->why, sizeof(telling->why));
    if (part->kind != REDIS_PART_ERROR)
        return;
    snprintf(telling->why, sizeof(telling->why), "%.*s",
             part->len < REDIS_WHY_SIZE ? (int)part->len : REDIS_WHY_SIZE, part->text);
    telling->is_refused = refusal_of_text(REFUSAL_REDIS, telling->why) == REFUSAL_LASTS;
}

static struct redis_asker asker_of(struct redis_cluster *cluster)
{
    return (struct redis_asker){cluster->wake_fd, &cluster->stopping, NULL, NULL};
}

/* Ask the node of `url` for its view.  False: telling->why has the reason. */
static bool ask_node(struct redis_cluster *cluster, const struct redis_url *url,
                     struct telling *telling)
{
    static const struct redis_command nodes = {2, {"CLUSTER", "NODES"}, REDIS_SHAPE_ANY};
    struct redis_asker asker = asker_of(cluster);
    int64_t until_ns = dlock_clock_after(dlock_clock_ns(), ANSWER_MS);
    struct redis_conn *conn = redis_conn_open(url);

    if (conn == NULL) {
        snprintf(telling->why, sizeof(telling->why), "no memory for a connection");
        return false;
    }
    conn->unread_max = NODES_ANSWER_MAX;
    redis_conn_finish(conn, until_ns);
    if (conn->state == REDIS_READY &&
        !redis_question_ask(&asker, conn, &nodes, take_part, telling, until_ns) &&
        conn->state == REDIS_READY)
        redis_conn_break(conn, REDIS_NOT_DONE, "no answer in %d ms", (int)ANSWER_MS);
    telling->names_node = conn->state == REDIS_BROKEN;
    if (telling->names_node) {
        snprintf(telling->why, sizeof(telling->why), "%s", conn->why);
        telling->is_refused = conn->outcome == REDIS_PROTOCOL && /* by AUTH */
                              conn->greetings_done < conn->greeting_count;
    }
    redis_conn_close(conn);
    return telling->is_read;
}

/* Choose the place to ask next: the place of a doubt, or else the nodes of the map and
 * of the URL in turn.  The URL's nodes are asked too, because all known addresses may
 * be out of use. */
static struct redis_address choose(struct redis_cluster *cluster)
{
    struct redis_address place;
    int count;

    dlock_mutex_lock(&cluster->mutex);
    place = cluster->doubted;
    cluster->doubted.port = 0;
    cluster->is_doubted = false;
    count = cluster->map.node_count;
    while (place.port == 0) {
        int i = cluster->next++ % (count + cluster->url.seed_count);

        place = i < count ? cluster->map.nodes[i].said.place : cluster->url.seeds[i - count];
        if (cluster->next >= count + cluster->url.seed_count)
            cluster->next = 0;
    }
    dlock_mutex_unlock(&cluster->mutex);
    return place;
}

/* Does the view have an owner of slots that has failed, so that a promotion is
 * likely? */
static bool has_failed_owner(const struct redis_cluster_view *view)
{
    for (int slot = 0; slot < REDIS_SLOT_COUNT; slot++)
        if (view->owners[slot] != REDIS_NO_NODE && view->nodes[view->owners[slot]].is_failed)
            return true;
    return false;
}

/* Ask more often for a while.  The caller holds the mutex. */
static void expect_trouble(struct redis_cluster *cluster)
{
    cluster->troubled_until_ns = dlock_clock_after(dlock_clock_ns(), TROUBLED_MS);
}

/* Ask one node, update the map, and call `changed` if needed.  False: the node gave no
 * view. */
static bool learn(struct redis_cluster *cluster)
{
    struct redis_address place = choose(cluster);
    struct telling telling = {.cluster = cluster, .asked = &place,
                              .why = "its answer to CLUSTER NODES is no text"};
    struct redis_url url;
    bool has_changed = false;

    redis_cluster_url(cluster, &place, &url);
    (void)ask_node(cluster, &url, &telling);
    dlock_mutex_lock(&cluster->mutex);
    if (telling.is_read)
        has_changed = redis_cluster_map_hear(&cluster->map, &cluster->view, dlock_clock_ns());
    if (telling.is_read && has_failed_owner(&cluster->view))
        expect_trouble(cluster);
    cluster->refused_count = telling.is_refused ? cluster->refused_count + 1 : 0;
    if (!telling.is_read && telling.names_node)
        snprintf(cluster->why, sizeof(cluster->why), "%s", telling.why);
    else if (!telling.is_read)
        snprintf(cluster->why, sizeof(cluster->why), "%.60s: %.90s", url.label, telling.why);
    atomic_store(&cluster->era, cluster->map.era);
    dlock_mutex_unlock(&cluster->mutex);
    explicit_bzero(&url, sizeof(url));
    if (has_changed)
        cluster->changed(cluster->arg);
    return telling.is_read;
}

/* When to ask again after a question that began at `begun_ns`. */
static int64_t due_ns(struct redis_cluster *cluster, int64_t begun_ns)
{
    int64_t due_ns;

    dlock_mutex_lock(&cluster->mutex);
    due_ns = dlock_clock_after(begun_ns, begun_ns < cluster->troubled_until_ns
                                             ? EVERY_TROUBLED_MS
                                             : EVERY_MS);
    if (cluster->is_doubted)
        due_ns = begun_ns;
    dlock_mutex_unlock(&cluster->mutex);
    return due_ns;
}

static void *run(void *arg)
{
    struct redis_cluster *cluster = arg;
    struct redis_asker asker = asker_of(cluster);

    while (!atomic_load(&cluster->stopping)) {
        int64_t begun_ns = dlock_clock_ns();
        bool knows = learn(cluster);

        redis_asker_pause(&asker, dlock_clock_after(begun_ns, PAUSE_MS), false);
        while (knows && !atomic_load(&cluster->stopping) &&
               dlock_clock_ns() < due_ns(cluster, begun_ns))
            redis_asker_pause(&asker, due_ns(cluster, begun_ns), true);
    }
    return NULL;
}

struct redis_cluster *redis_cluster_open(const struct redis_url *url, void (*changed)(void *arg),
                                         void *arg)
{
    struct redis_cluster *cluster = calloc(1, sizeof(*cluster));

    if (cluster == NULL)
        return NULL;
    cluster->url = *url;
    cluster->changed = changed;
    cluster->arg = arg;
    snprintf(cluster->why, sizeof(cluster->why), "%.100s: no node has answered yet", url->label);
    dlock_mutex_init(&cluster->mutex);
    cluster->wake_fd = dlock_event_open();
    if (cluster->wake_fd >= 0 && redis_tls_make(&cluster->url) &&
        dlock_thread_start(&cluster->thread, run, cluster) == 0)
        return cluster;
    dlock_event_close(cluster->wake_fd);
    dlock_mutex_destroy(&cluster->mutex);
    redis_tls_drop(&cluster->url);
    free(cluster);
    return NULL;
}

void redis_cluster_close(struct redis_cluster *cluster)
{
    if (cluster == NULL)
        return;
    atomic_store(&cluster->stopping, true);
    dlock_event_raise(cluster->wake_fd, 1);
    dlock_thread_join(&cluster->thread);
    dlock_event_close(cluster->wake_fd);
    dlock_mutex_destroy(&cluster->mutex);
    redis_tls_drop(&cluster->url);
    explicit_bzero(&cluster->url, sizeof(cluster->url));
    free(cluster);
}

bool redis_cluster_refuses(struct redis_cluster *cluster)
{
    bool refuses;

    dlock_mutex_lock(&cluster->mutex);
    refuses = cluster->map.era == 0 && cluster->refused_count >= cluster->url.seed_count;
    dlock_mutex_unlock(&cluster->mutex);
    return refuses;
}

bool redis_cluster_await(struct redis_cluster *cluster, int64_t until_ns,
                         char why[REDIS_WHY_SIZE])
{
    while (redis_cluster_era(cluster) == 0) {
        int64_t now_ns = dlock_clock_ns();

        if (now_ns >= until_ns || redis_cluster_refuses(cluster)) {
            dlock_mutex_lock(&cluster->mutex);
            snprintf(why, REDIS_WHY_SIZE, "%s", cluster->why);
            dlock_mutex_unlock(&cluster->mutex);
            return false;
        }
        dlock_clock_sleep_until(dlock_clock_after(now_ns, AWAIT_STEP_MS));
    }
    return true;
}

/* Is `place` this node, by its address or by the name that it announces? */
static bool is_at(const struct redis_view_node *node, const struct redis_address *place)
{
    return node->place.port != 0 && node->place.port == place->port &&
           (strcmp(node->place.host, place->host) == 0 || strcmp(node->name, place->host) == 0);
}

/* The node at that place; NULL: the map has none.  The caller holds the mutex. */
static const struct redis_view_node *node_at(const struct redis_cluster_map *map,
                                             const struct redis_address *place)
{
    for (int i = 0; i < map->node_count; i++)
        if (is_at(&map->nodes[i].said, place))
            return &map->nodes[i].said;
    return NULL;
}

/* Write the URL of a node.  The name in its certificate is the URL's server-name, or
 * else the name that the node announces.  The caller holds the mutex. */
static void fill_url(const struct redis_cluster *cluster, const struct redis_address *place,
                     struct redis_url *out)
{
    const struct redis_view_node *node = node_at(&cluster->map, place);

    *out = cluster->url;
    out->seed_count = 0;
    redis_url_go_to(out, place);
    if (out->server_name[0] == '\0' && node != NULL)
        memcpy(out->server_name, node->name, sizeof(out->server_name));
}

void redis_cluster_url(struct redis_cluster *cluster, const struct redis_address *place,
                       struct redis_url *out)
{
    dlock_mutex_lock(&cluster->mutex);
    fill_url(cluster, place, out);
    dlock_mutex_unlock(&cluster->mutex);
}

/* A slot that has an owner; 0 if no slot has.  The caller holds the mutex. */
static int any_slot(const struct redis_cluster_map *map)
{
    for (int slot = 0; slot < REDIS_SLOT_COUNT; slot++)
        if (redis_cluster_map_address(map, slot) != NULL)
            return slot;
    return 0;
}

bool redis_cluster_find(struct redis_cluster *cluster, int slot, struct redis_url *out)
{
    const struct redis_address *place;

    dlock_mutex_lock(&cluster->mutex);
    place = redis_cluster_map_address(&cluster->map,
                                      slot >= 0 ? slot : any_slot(&cluster->map));
    if (place != NULL)
        fill_url(cluster, place, out);
    dlock_mutex_unlock(&cluster->mutex);
    return place != NULL;
}

bool redis_cluster_has(struct redis_cluster *cluster, const struct redis_address *place, int slot)
{
    const struct redis_cluster_map *map = &cluster->map;
    int first = slot >= 0 ? slot : 0;
    int end = slot >= 0 ? slot + 1 : REDIS_SLOT_COUNT;
    int last = REDIS_NO_NODE;
    bool has = false;

    dlock_mutex_lock(&cluster->mutex);
    for (int i = first; i < end && !has; i++) {
        int owner = map->is_known ? map->owners[i] : REDIS_NO_NODE;

        has = owner != last && owner != REDIS_NO_NODE && is_at(&map->nodes[owner].said, place);
        last = owner;
    }
    dlock_mutex_unlock(&cluster->mutex);
    return has;
}

void redis_cluster_know(struct redis_cluster *cluster, struct redis_address *place)
{
    const struct redis_view_node *node;

    dlock_mutex_lock(&cluster->mutex);
    node = node_at(&cluster->map, place);
    if (node != NULL)
        *place = node->place;
    dlock_mutex_unlock(&cluster->mutex);
}

void redis_cluster_doubt(struct redis_cluster *cluster, const struct redis_address *place)
{
    dlock_mutex_lock(&cluster->mutex);
    if (place != NULL)
        cluster->doubted = *place;
    cluster->is_doubted = true;
    expect_trouble(cluster);
    dlock_mutex_unlock(&cluster->mutex);
    dlock_event_raise(cluster->wake_fd, 1);
}

uint64_t redis_cluster_era(const struct redis_cluster *cluster)
{
    return atomic_load(&cluster->era);
}

uint64_t redis_cluster_slot_era(const struct redis_cluster *cluster, int slot)
{
    return atomic_load(&cluster->map.eras[slot]);
}
