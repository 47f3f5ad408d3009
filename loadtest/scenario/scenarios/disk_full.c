/* SPDX-License-Identifier: MIT */
/* disk_full.c -- Redis cannot save, refuses to write, and so refuses to renew. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);
    int disk;

    stage_tell(s, "Ann takes the lock; her watchdog renews it while she works.",
               "小安拿到锁，干活期间由看门狗续期。");
    actor_enter(ann);
    actor_read(ann);
    stage_tell(s, "The disk is full.  Redis refuses every write, and a renewal is a "
                  "write.",
               "磁盘满了。Redis 拒绝一切写入，续期也是写入。");
    disk = stage_server_hurt(s, "disk-full", stage_lock_server(s, 0), 0);
    if (stage_has(s, DLOCK_CAP_QUORUM)) {
        stage_pass_ms(s, 2 * stage_lease_ms(s));
        stage_need_in_time(s, actor_is_protected(ann), "four servers were to renew");
        actor_walk_in(bo, ann);
        return;
    }
    stage_need_free(s, bo);
    stage_tell(s, "Ann's lease is over, though Ann and the server are alive.",
               "小安的租约到期了，尽管小安和服务器都还活着。");
    stage_server_end(s, disk);
    stage_tell(s, "The disk has room, and Redis writes again.  Bo gets the lock.",
               "磁盘腾出空间，Redis 又能写了。小博拿到了锁。");
    actor_walk_in(bo, ann);
}

const struct scenario scenario_disk_full = {
    .name = "disk-full",
    .number = "S22",
    .title = "The disk is full, and the lease ends",
    .title_zh = "磁盘满了，租约到期",
    .source = "Redis' MISCONF after a failed save, and what it means for a watchdog",
    .story = {"Ann holds the lock, which a watchdog renews.",
              "The disk of the server is full, and its save fails.",
              "Redis answers MISCONF to every write: to renewals, and to releases.",
              "Ann's lease ends.  When the disk has room again, Bo gets the lock.",
              "A watchdog needs a server that writes, not only one that answers."},
    .story_zh = {"小安持有锁，由看门狗续期。",
                 "服务器磁盘满了，持久化失败。",
                 "Redis 对一切写入回 MISCONF：续期如此，释放也如此。",
                 "小安的租约到期。等磁盘腾出空间，小博拿到了锁。",
                 "看门狗需要的是能写的服务器，光会应答还不够。"},
    .breaks = SIGNS_TWO_INSIDE,
    .needs_own_servers = true,
    .play = play,
};
