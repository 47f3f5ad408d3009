/* SPDX-License-Identifier: MIT */
/* client_pause.c -- the server answers no request for a while, and then carries all of
 * them out.
 *
 * A paused server reads no command, so the pause cannot be ended early. */
#include <inttypes.h>

#include "base/text/duration.h"
#include "loadtest/fault/redis.h"

enum { LOOK_MS = 50, LEAST_MS = 3 * LOOK_MS, ANSWER_MS = 2000 };

static bool begin(struct fault_scene *scene)
{
    int64_t *since_ns = server_fault_state(scene, sizeof *since_ns); /* 0: no pause */
    struct redis_side *side = fault_redis_open(scene), *other;
    bool ok;

    if (!side)
        return false;
    if (redis_side_ask(side, "CLIENT PAUSE %lld ALL", (long long)scene->by_ms) !=
        REDIS_SAID)
        return fault_redis_complain(scene, side, "CLIENT PAUSE");
    *since_ns = monotonic_ns();
    other = redis_side_open(scene->lab, scene->server, LOOK_MS);
    ok = redis_side_ask(other, "PING") == REDIS_SILENT ||
         server_fault_complain(scene, "it answers PING, though it pauses everybody");
    redis_side_close(other);
    server_fault_note(scene,
                      "%s: pauses everybody for %" PRId64
                      " ms: PING was not answered in %d ms",
                      scene->server->name, scene->by_ms, LOOK_MS);
    return ok;
}

static bool end(struct fault_scene *scene)
{
    int64_t *since_ns = server_fault_state(scene, sizeof *since_ns); /* 0: no pause */
    struct redis_side *side;
    bool ok;

    if (*since_ns == 0)
        return true;
    side = redis_side_open(scene->lab, scene->server,
                           (int)scene->by_ms + ANSWER_MS);
    ok = redis_side_ask(side, "PING") == REDIS_SAID ||
         fault_redis_complain(scene, side, "PING, after its pause,");
    redis_side_close(side);
    if (!ok)
        return false;
    server_fault_note(scene, "%s: answers PING again after %" PRId64 " ms",
                      scene->server->name,
                      (monotonic_ns() - *since_ns) / 1000000);
    *since_ns = 0;
    return true;
}

const struct server_fault fault_client_pause = {
    .name = "client-pause",
    .does = "the server answers no client for a while: CLIENT PAUSE ALL",
    .servers = FAULT_ON(LAB_IS_REDIS),
    .breaks = {[LAB_IS_REDIS] = DLOCK_ASSUMES_NETWORK},
    .by_min_ms = LEAST_MS,
    .by_max_ms = FAULT_PAUSE_MAX_MS,
    .by_example = "--by=3s",
    .begin = begin,
    .end = end,
};
