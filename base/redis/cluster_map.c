/* SPDX-License-Identifier: MIT */
/* cluster_map.c -- which node of a Redis Cluster has a slot. */
#include "base/redis/cluster_map.h"

#include <string.h>

#include "base/os/clock.h"

/* The index of the node with that id, which is added if it is new; REDIS_NO_NODE: there
 * is no room. */
static int number_of(struct redis_cluster_map *map, const struct redis_view_node *said)
{
    struct redis_map_node *node;

    for (int i = 0; i < map->node_count; i++)
        if (strcmp(map->nodes[i].said.id, said->id) == 0)
            return i;
    if (map->node_count == REDIS_CLUSTER_NODES_MAX)
        return REDIS_NO_NODE;
    node = &map->nodes[map->node_count];
    memset(node, 0, sizeof(*node));
    node->said = *said;
    node->is_new = true;
    return map->node_count++;
}

static bool is_known(const struct redis_cluster_map *map, const char *id)
{
    for (int i = 0; i < map->node_count; i++)
        if (strcmp(map->nodes[i].said.id, id) == 0)
            return true;
    return false;
}

/* Forget the nodes that own no slot and that the view does not name. */
static void forget_idle(struct redis_cluster_map *map, const struct redis_cluster_view *view)
{
    bool owns[REDIS_CLUSTER_NODES_MAX] = {false};
    int16_t numbers[REDIS_CLUSTER_NODES_MAX] = {0}; /* from now on */
    int count = 0;

    for (int slot = 0; slot < REDIS_SLOT_COUNT; slot++)
        if (map->owners[slot] != REDIS_NO_NODE)
            owns[map->owners[slot]] = true;
    for (int i = 0; i < map->node_count; i++)
        if (owns[i] || redis_cluster_view_find(view, map->nodes[i].said.id) != NULL) {
            map->nodes[count] = map->nodes[i];
            numbers[i] = (int16_t)count++;
        }
    for (int slot = 0; slot < REDIS_SLOT_COUNT; slot++)
        if (map->owners[slot] != REDIS_NO_NODE)
            map->owners[slot] = numbers[map->owners[slot]];
    map->node_count = count;
}

/* A cluster whose nodes are replaced again and again names ever new ids. */
static void make_room(struct redis_cluster_map *map, const struct redis_cluster_view *view)
{
    int new_count = 0;

    for (int i = 0; i < view->node_count; i++)
        new_count += !is_known(map, view->nodes[i].id);
    if (map->node_count + new_count > REDIS_CLUSTER_NODES_MAX)
        forget_idle(map, view);
}

/* Does the claim of `after` replace the known owner `before`? */
static bool is_newer(const struct redis_map_node *before, int64_t epoch, int64_t now_ns)
{
    return epoch > before->said.epoch ||
           now_ns >= dlock_clock_after(before->named_ns, REDIS_MAP_FORGET_MS);
}

struct hearing {
    struct redis_cluster_map *map;
    const struct redis_cluster_view *view;
    int numbers[REDIS_CLUSTER_NODES_MAX]; /* the indices in the map of the nodes of the
                                           * view */
    bool keeps[REDIS_CLUSTER_NODES_MAX]; /* by the index in the map: is the node still the owner
                                          * of a slot? */
    int64_t now_ns;
    bool has_changed;
    bool has_promoted;
};

static void note_keepers(struct hearing *hearing)
{
    for (int slot = 0; slot < REDIS_SLOT_COUNT; slot++) {
        int said = hearing->view->owners[slot];
        int before = hearing->map->owners[slot];

        if (said != REDIS_NO_NODE && before != REDIS_NO_NODE && hearing->numbers[said] == before)
            hearing->keeps[before] = true;
    }
}

/* Was the change of a slot from `before` to `after` a promotion, so that grants of
 * `before` may be lost? */
static bool is_promotion(const struct hearing *hearing, int before, int after)
{
    const struct redis_map_node *node = &hearing->map->nodes[after];
    const struct redis_view_node *left =
        redis_cluster_view_find(hearing->view, hearing->map->nodes[before].said.id);

    if (node->is_new || !node->said.is_master || left == NULL || left->is_failed)
        return true;
    /* The description of `after` may be old: a master without slots can have become a replica
     * since, and have taken the place of its master.  Then it has all slots of that master. */
    if (!hearing->keeps[before] && !hearing->keeps[after])
        return true;
    /* A master that has moved its last slot away becomes a replica of the new owner. */
    return !left->is_master && strcmp(left->master_id, node->said.id) != 0;
}

static void hear_slot(struct hearing *hearing, int slot)
{
    struct redis_cluster_map *map = hearing->map;
    int said = hearing->view->owners[slot];
    int after = said != REDIS_NO_NODE ? hearing->numbers[said] : REDIS_NO_NODE;
    int before = map->owners[slot];

    if (after == REDIS_NO_NODE)
        return;
    if (before == REDIS_NO_NODE) {
        map->eras[slot]++;
    } else if (before != after) {
        if (!is_newer(&map->nodes[before], hearing->view->nodes[said].epoch, hearing->now_ns))
            return;
        if (is_promotion(hearing, before, after)) {
            map->eras[slot]++;
            hearing->has_promoted = true;
        }
    }
    hearing->has_changed = hearing->has_changed || before != after;
    map->owners[slot] = (int16_t)after;
}

/* Replace the known description of a node, unless the new one has an older epoch. */
static void hear_node(struct hearing *hearing, int said)
{
    const struct redis_view_node *news = &hearing->view->nodes[said];
    struct redis_map_node *node;

    if (hearing->numbers[said] == REDIS_NO_NODE)
        return;
    node = &hearing->map->nodes[hearing->numbers[said]];
    node->is_new = false;
    if (news->epoch < node->said.epoch &&
        hearing->now_ns < dlock_clock_after(node->named_ns, REDIS_MAP_FORGET_MS))
        return;
    if (strcmp(news->place.host, node->said.place.host) != 0 ||
        news->place.port != node->said.place.port)
        hearing->has_changed = true;
    node->said = *news;
}

static void note_owners(struct hearing *hearing)
{
    for (int slot = 0; slot < REDIS_SLOT_COUNT; slot++) {
        int said = hearing->view->owners[slot];

        if (said != REDIS_NO_NODE && hearing->map->owners[slot] == hearing->numbers[said] &&
            hearing->map->owners[slot] != REDIS_NO_NODE)
            hearing->map->nodes[hearing->map->owners[slot]].named_ns = hearing->now_ns;
    }
}

bool redis_cluster_map_hear(struct redis_cluster_map *map, const struct redis_cluster_view *view,
                            int64_t now_ns)
{
    struct hearing hearing = {.map = map, .view = view, .now_ns = now_ns};

    if (!map->is_known)
        for (int slot = 0; slot < REDIS_SLOT_COUNT; slot++)
            map->owners[slot] = REDIS_NO_NODE;
    make_room(map, view);
    for (int i = 0; i < view->node_count; i++)
        hearing.numbers[i] = number_of(map, &view->nodes[i]);
    note_keepers(&hearing);
    for (int slot = 0; slot < REDIS_SLOT_COUNT; slot++)
        hear_slot(&hearing, slot);
    for (int i = 0; i < view->node_count; i++)
        hear_node(&hearing, i);
    note_owners(&hearing);
    if (!map->is_known)
        map->era = 1;
    else if (hearing.has_promoted)
        map->era++;
    map->is_known = true;
    return hearing.has_changed;
}

const struct redis_address *redis_cluster_map_address(const struct redis_cluster_map *map, int slot)
{
    const struct redis_address *place;

    if (!map->is_known || map->owners[slot] == REDIS_NO_NODE)
        return NULL;
    place = &map->nodes[map->owners[slot]].said.place;
    return place->port != 0 ? place : NULL;
}
