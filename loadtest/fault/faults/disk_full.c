/* SPDX-License-Identifier: MIT */
/* disk_full.c -- the server cannot save its data, and therefore refuses every write.
 *
 * Filling a file system would need root.  Instead the kernel limits the size of the
 * server's files (RLIMIT_FSIZE) below the size of its data.  To Redis the effect is the
 * same: its save fails, and until a save succeeds Redis answers writes with MISCONF, also
 * the renewal and the release of a lock. */
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "loadtest/fault/redis.h"

enum { LOG_ROOM_BYTES = 1 << 20, BLOCK_BYTES = 1 << 20, BLOCKS = 3, SAVE_MS = 20000 };

#define FILLER "seckill:fault:filler"

struct disk {
    bool is_limited, saves;
    struct rlimit limit;
};

/* The limit leaves room for the server's log, because a process that writes beyond the
 * limit is killed. */
static bool limit_files(struct fault_scene *scene, struct disk *disk)
{
    char path[FILES_PATH_MAX];
    struct stat log = {0};
    struct rlimit limit;

    lab_log_path(scene->lab, scene->server, path);
    if (stat(path, &log) != 0)
        return server_fault_complain(scene, "cannot look at %s: %s", path,
                                     strerror(errno));
    if (prlimit(scene->server->child.pid, RLIMIT_FSIZE, NULL, &disk->limit) != 0)
        return server_fault_complain(scene, "its limits cannot be read: %s",
                                     strerror(errno));
    limit = disk->limit;
    limit.rlim_cur = (rlim_t)log.st_size + LOG_ROOM_BYTES;
    if (prlimit(scene->server->child.pid, RLIMIT_FSIZE, &limit, NULL) != 0)
        return server_fault_complain(
            scene,
            "its files cannot be limited: %s\n"
            "  run this as the user who started the lab, or as root",
            strerror(errno));
    disk->is_limited = true;
    return true;
}

static bool fill(struct fault_scene *scene, struct redis_side *side)
{
    static uint8_t block[BLOCK_BYTES]; /* random, so that compression does not make it
                                        * smaller */

    for (int i = 0; i < BLOCKS; i++) {
        if (getrandom(block, sizeof block, 0) != sizeof block)
            return server_fault_complain(scene, "no random numbers: %s",
                                         strerror(errno));
        if (redis_side_ask(side, "HSET " FILLER " %d %b", i, block, sizeof block) !=
            REDIS_SAID)
            return fault_redis_complain(scene, side, "HSET");
    }
    return true;
}

/* Save, and see how that ended. */
static bool save(struct fault_scene *scene, struct redis_side *side, const char *wanted)
{
    char status[16];

    if (redis_side_ask(side, "BGSAVE") != REDIS_SAID)
        return fault_redis_complain(scene, side, "BGSAVE");
    if (!redis_side_await(side, "rdb_bgsave_in_progress", "0", SAVE_MS))
        return server_fault_complain(scene, "it does not finish saving");
    redis_side_info(side, "rdb_last_bgsave_status", status, sizeof status);
    return strcmp(status, wanted) == 0 ||
           server_fault_complain(scene, "saving ended with \"%s\" instead of \"%s\"",
                                 status, wanted);
}

static bool begin(struct fault_scene *scene)
{
    struct disk *disk = server_fault_state(scene, sizeof *disk);
    struct redis_side *side = fault_redis_open(scene);
    bool ok = side && fill(scene, side) && limit_files(scene, disk);

    /* Redis refuses writes after a failed save only if saving is configured. */
    disk->saves = ok && redis_side_ask(side, "CONFIG SET save %s", "86400 1") == REDIS_SAID;
    ok = disk->saves && save(scene, side, "err");
    if (ok && (redis_side_ask(side, "SET " FILLER ":probe 1") != REDIS_SAID_NO ||
               strncmp(redis_side_text(side), "MISCONF", 7) != 0))
        ok = server_fault_complain(scene, "it still writes: %s", redis_side_text(side));
    if (ok)
        server_fault_note(scene, "%s: rdb_last_bgsave_status:err, SET is answered %.60s..",
                          scene->server->name, redis_side_text(side));
    return ok;
}

static bool lift_limit(struct fault_scene *scene, struct disk *disk)
{
    if (!disk->is_limited)
        return true;
    if (prlimit(scene->server->child.pid, RLIMIT_FSIZE, &disk->limit, NULL) != 0)
        return server_fault_complain(scene, "the limit cannot be lifted: %s\n"
                                            "  restart it: seckill lab restart %s",
                                     strerror(errno), scene->server->name);
    disk->is_limited = false;
    return true;
}

static bool end(struct fault_scene *scene)
{
    struct disk *disk = server_fault_state(scene, sizeof *disk);
    struct redis_side *side;

    if (!lift_limit(scene, disk))
        return false;
    side = fault_redis_open(scene);
    if (!side || redis_side_ask(side, "CONFIG SET save %s", "") != REDIS_SAID ||
        redis_side_ask(side, "DEL " FILLER) != REDIS_SAID || !save(scene, side, "ok") ||
        !fault_redis_forget(scene))
        return false;
    server_fault_note(scene, "%s: rdb_last_bgsave_status:ok, and writes are taken",
                      scene->server->name);
    return true;
}

const struct server_fault fault_disk_full = {
    .name = "disk-full",
    .does = "the server cannot save, and refuses every write (MISCONF)",
    .needs = "the rights of the user who started the lab, or root's",
    .servers = FAULT_ON(LAB_IS_REDIS),
    .breaks = {[LAB_IS_REDIS] = DLOCK_ASSUMES_WATCHDOG},
    .begin = begin,
    .end = end,
};
