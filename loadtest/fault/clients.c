/* SPDX-License-Identifier: MIT */
/* clients.c -- cut the connections that clients have to a Redis server. */
#include "loadtest/fault/clients.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The connections in the list that are older than ours, whose number is `own`: the
 * server never uses a number again. */
static int count_older(const char *list, int64_t own)
{
    int count = 0;

    for (const char *p = list; p && *p; p = strchr(p, '\n')) {
        p += *p == '\n';
        count += strncmp(p, "id=", 3) == 0 && strtoll(p + 3, NULL, 10) < own;
    }
    return count;
}

bool fault_clients_kill(struct fault_scene *scene, const char *type)
{
    struct redis_side *side = fault_redis_open(scene);
    int64_t own, cut;
    int before, after;

    if (!side)
        return false;
    if (redis_side_ask(side, "CLIENT ID") != REDIS_SAID)
        return fault_redis_complain(scene, side, "CLIENT ID");
    own = redis_side_number(side);
    if (redis_side_ask(side, "CLIENT LIST TYPE %s", type) != REDIS_SAID)
        return fault_redis_complain(scene, side, "CLIENT LIST");
    before = count_older(redis_side_text(side), own);
    if (before == 0)
        return server_fault_complain(scene,
                                     "it has no %s connection but ours, so there is none "
                                     "to cut\n  let a client connect first",
                                     type);
    if (redis_side_ask(side, "CLIENT KILL TYPE %s SKIPME yes", type) != REDIS_SAID)
        return fault_redis_complain(scene, side, "CLIENT KILL");
    cut = redis_side_number(side);
    if (redis_side_ask(side, "CLIENT LIST TYPE %s", type) != REDIS_SAID)
        return fault_redis_complain(scene, side, "CLIENT LIST");
    after = count_older(redis_side_text(side), own);
    if (cut == 0 || after > 0)
        return server_fault_complain(
            scene, "%" PRId64 " connections were cut, and %d of %d are left", cut, after,
            before);
    server_fault_note(scene,
                      "%s: %" PRId64 " %s connections were cut; of the %d that were "
                      "there none is left",
                      scene->server->name, cut, type, before);
    return true;
}
