/* SPDX-License-Identifier: MIT */
/* clock.c -- the wall clock of one Redis server jumps, forward or back.
 *
 * Arming restarts the server with all of its data, and with preload/wall_clock.c before
 * its C library, which leaves the monotonic clock alone.  Redis counts leases by the wall
 * clock: a jump forward ends them early, a jump back makes them last. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "loadtest/fault/redis.h"

enum { SLACK_MS = 500 };

struct shifted {
    bool is_moved;
};

static int64_t wall_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Read by how much the server's clock is ahead of this machine's.  A script joins the two
 * numbers of TIME. */
static bool read_ahead(struct fault_scene *scene, int64_t *ahead_ms)
{
    struct redis_side *side = fault_redis_open(scene);

    if (!side)
        return false;
    if (redis_side_ask(side, "EVAL %s 0",
                       "local t = redis.call('time') "
                       "return t[1] * 1000 + math.floor(t[2] / 1000)") != REDIS_SAID)
        return fault_redis_complain(scene, side, "TIME");
    *ahead_ms = redis_side_number(side) - wall_ms();
    return true;
}

static bool restart_saved(struct fault_scene *scene, bool own_clock)
{
    int64_t keys = fault_redis_save(scene);
    char run_id[FAULT_ID_MAX];

    if (keys < 0 || !server_fault_kill(scene))
        return false;
    scene->server->own_clock = own_clock;
    return fault_redis_start(scene, keys, run_id);
}

/* Restart the server with its data, under a clock of its own or under the
 * machine's.  Clients get no answer meanwhile: that is a fault as well, and is told as
 * one. */
static bool restart(struct fault_scene *scene, bool own_clock)
{
    char name[64];
    bool ok;

    snprintf(name, sizeof name, "restart %s", scene->server->name);
    fault_history_add(scene->history, DLOCK_FAULT_HAS_BEGUN, name, 0,
                      DLOCK_ASSUMES_NETWORK);
    ok = restart_saved(scene, own_clock);
    if (ok) /* otherwise the server may still be down */
        fault_history_add(scene->history, DLOCK_FAULT_HAS_ENDED, name, 0,
                          DLOCK_ASSUMES_NETWORK);
    return ok;
}

static bool arm(struct fault_scene *scene)
{
    if (!restart(scene, true))
        return false;
    server_fault_note(scene, "%s: started anew, so that its clock can be moved",
                      scene->server->name);
    return true;
}

static bool move(struct fault_scene *scene, int64_t by_ms)
{
    int64_t before_ms, after_ms;

    if (!read_ahead(scene, &before_ms) ||
        !lab_redis_set_clock(scene->lab, scene->server, by_ms))
        return false;
    if (!read_ahead(scene, &after_ms))
        return false;
    if (llabs(after_ms - by_ms) > SLACK_MS)
        return server_fault_complain(scene,
                                     "its clock is %" PRId64 " ms ahead of ours instead "
                                     "of %" PRId64 " ms",
                                     after_ms, by_ms);
    server_fault_note(scene, "%s: TIME moved by %+.1f s, and is %+.1f s ahead of ours",
                      scene->server->name, (double)(after_ms - before_ms) / 1000,
                      (double)after_ms / 1000);
    return true;
}

static bool begin(struct fault_scene *scene)
{
    struct shifted *shifted = server_fault_state(scene, sizeof *shifted);

    shifted->is_moved = true;
    return move(scene, scene->by_ms);
}

static bool end(struct fault_scene *scene)
{
    struct shifted *shifted = server_fault_state(scene, sizeof *shifted);

    if (!shifted->is_moved)
        return true;
    if (!move(scene, 0))
        return false;
    shifted->is_moved = false;
    return true;
}

static bool disarm(struct fault_scene *scene)
{
    char path[FILES_PATH_MAX];
    bool ok;

    if (child_runs(&scene->server->child)) {
        ok = restart(scene, false);
    } else {
        scene->server->own_clock = false;
        ok = lab_server_bring_up(scene->lab, scene->server);
    }
    lab_redis_clock_path(scene->lab, scene->server, path);
    unlink(path);
    return ok;
}

const struct server_fault fault_clock = {
    .name = "clock",
    .does = "the server's wall clock jumps, forward or (by a negative time) back",
    .servers = FAULT_ON(LAB_IS_REDIS),
    .breaks = {[LAB_IS_REDIS] = DLOCK_ASSUMES_CLOCK},
    .by_min_ms = -FAULT_BY_MAX_MS,
    .by_max_ms = FAULT_BY_MAX_MS,
    .by_over_ms = SLACK_MS, /* a shorter jump cannot be told from none */
    .by_example = "--by=30s or --by=-1h",
    .arm = arm,
    .begin = begin,
    .end = end,
    .disarm = disarm,
};
