/* SPDX-License-Identifier: MIT */
/* clients.c -- cut the connections that clients have to a Redis server. */
#include "loadtest/fault/clients.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of connections, which the server never uses again: the list is in their
 * order. */
static int64_t newest_of(const char *list)
{
    int64_t newest = 0;

    for (const char *p = list; p && *p; p = strchr(p, '\n')) {
        p += *p == '\n';
        if (strncmp(p, "id=", 3) == 0 && strtoll(p + 3, NULL, 10) > newest)
            newest = strtoll(p + 3, NULL, 10);
    }
    return newest;
}

/* The number of clients in the list that are not newer than that, without this connection. */
static int count_until(const char *list, int64_t newest, int64_t own)
{
    int count = 0;

    for (const char *p = list; p && *p; p = strchr(p, '\n')) {
        int64_t id;

        p += *p == '\n';
        if (strncmp(p, "id=", 3) != 0)
            continue;
        id = strtoll(p + 3, NULL, 10);
        count += id <= newest && id != own;
    }
    return count;
}

static bool kill_all(struct fault_scene *scene, struct redis_side *side,
                     const char *type)
{
    int64_t own, newest, cut;
    int before, after;

    if (redis_side_ask(side, "CLIENT ID") != REDIS_SAID)
        return fault_redis_complain(scene, side, "CLIENT ID");
    own = redis_side_number(side);
    if (redis_side_ask(side, "CLIENT LIST TYPE %s", type) != REDIS_SAID)
        return fault_redis_complain(scene, side, "CLIENT LIST");
    newest = newest_of(redis_side_text(side));
    before = count_until(redis_side_text(side), newest, own);
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
    after = count_until(redis_side_text(side), newest, own);
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

bool fault_clients_kill(struct fault_scene *scene, const char *type)
{
    struct redis_side *side = fault_redis_open(scene);
    bool ok = side && kill_all(scene, side, type);

    redis_side_close(side);
    return ok;
}
