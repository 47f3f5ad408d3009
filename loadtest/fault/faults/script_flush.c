/* SPDX-License-Identifier: MIT */
/* script_flush.c -- the server forgets every script that clients have loaded. */
#include <inttypes.h>

#include "loadtest/fault/redis.h"

/* The laboratory loads the script itself, so that the server certainly had it. */
#define WITNESS "return 'a script of the laboratory'"

enum { SHA_SIZE = 41 };

static bool begin(struct fault_scene *scene)
{
    struct redis_side *side = fault_redis_open(scene);
    char sha[SHA_SIZE];
    int64_t before;

    if (!side)
        return false;
    if (redis_side_ask(side, "SCRIPT LOAD %s", WITNESS) != REDIS_SAID)
        return fault_redis_complain(scene, side, "SCRIPT LOAD");
    snprintf(sha, sizeof sha, "%s", redis_side_text(side));
    before = redis_side_info_number(side, "number_of_cached_scripts");
    if (redis_side_ask(side, "SCRIPT FLUSH SYNC") != REDIS_SAID)
        return fault_redis_complain(scene, side, "SCRIPT FLUSH");
    if (redis_side_ask(side, "SCRIPT EXISTS %s", sha) != REDIS_SAID)
        return fault_redis_complain(scene, side, "SCRIPT EXISTS");
    if (redis_side_number(side) != 0)
        return server_fault_complain(scene, "it still knows script %s", sha);
    server_fault_note(scene,
                      "%s: %" PRId64 " scripts were known; SCRIPT EXISTS %.8s.. "
                      "was 1 and is 0",
                      scene->server->name, before, sha);
    return true;
}

const struct server_fault fault_script_flush = {
    .name = "script-flush",
    .does = "the server drops every script: SCRIPT FLUSH",
    .servers = FAULT_ON(LAB_IS_REDIS),
    .begin = begin,
};
