/* SPDX-License-Identifier: MIT */
/* cluster_view.c -- fuzz: the answers of nodes to CLUSTER NODES, and the map that is built from
 * several answers. A byte 0 separates the answers. */
#include "base/redis/cluster_map.h"
#include "tests/fuzz/fuzz.h"

static struct redis_cluster_view view;
static struct redis_cluster_map map;

static void check_view(void)
{
    fuzz_check(view.node_count > 0 && view.node_count <= REDIS_CLUSTER_NODES_MAX);
    for (int i = 0; i < view.node_count; i++) {
        fuzz_check(view.nodes[i].id[REDIS_NODE_ID_SIZE - 1] == '\0');
        fuzz_check(view.nodes[i].master_id[REDIS_NODE_ID_SIZE - 1] == '\0');
        fuzz_check(view.nodes[i].place.port >= 0 && view.nodes[i].place.port <= 65535);
        fuzz_check(view.nodes[i].epoch >= 0);
        fuzz_check(redis_cluster_view_find(&view, view.nodes[i].id) != NULL);
    }
    for (int slot = 0; slot < REDIS_SLOT_COUNT; slot++)
        fuzz_check(view.owners[slot] == REDIS_NO_NODE ||
                   (view.owners[slot] >= 0 && view.owners[slot] < view.node_count));
}

/* An era never decreases, and an address that the map returns has a port. */
static void check_map(uint64_t era_before)
{
    fuzz_check(map.is_known && map.era >= era_before && map.era > 0);
    fuzz_check(map.node_count >= 0 && map.node_count <= REDIS_CLUSTER_NODES_MAX);
    for (int slot = 0; slot < REDIS_SLOT_COUNT; slot++) {
        const struct redis_address *place = redis_cluster_map_address(&map, slot);

        fuzz_check(place == NULL || place->port > 0);
        fuzz_check(map.owners[slot] == REDIS_NO_NODE ||
                   (map.owners[slot] >= 0 && map.owners[slot] < map.node_count));
        fuzz_check(map.owners[slot] == REDIS_NO_NODE || map.eras[slot] > 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct redis_address ASKED = {.host = "127.0.0.1", .port = 6379};
    const char *at = (const char *)data;
    const char *end = at + size;
    int64_t now_ns = 1;
    char why[160];

    memset(&map, 0, sizeof(map));
    while (size > 0 && at < end) {
        const char *stop = memchr(at, '\0', (size_t)(end - at));
        size_t len = (size_t)((stop != NULL ? stop : end) - at);
        uint64_t era = map.era;

        why[0] = '\0';
        if (redis_cluster_view_read(&view, at, len, &ASKED, why, sizeof(why))) {
            check_view();
            (void)redis_cluster_map_hear(&map, &view, now_ns);
            check_map(era);
        } else {
            fuzz_check(why[0] != '\0');
        }
        now_ns += INT64_C(3000000000);
        at += len + 1;
    }
    return 0;
}
