/* SPDX-License-Identifier: MIT */
/* slots_move.c -- the slot of a lock moves to another master of a Redis Cluster while the lock is
 * held. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);
    int moved;

    stage_open_sale(s, ann);
    stage_tell(s, "The slot of the lock moves to another master, with the lock in it.",
               "锁所在的槽连同锁一起迁移到另一个主节点。");
    moved = stage_server_hurt(s, "reshard", NULL, 0);
    stage_tell(s, "Ann's lease goes on; Bo is redirected to the new place, and "
                  "refused there.",
               "小安的租约照旧；小博被重定向到新位置，在那里被拒绝。");
    actor_renew(ann);
    if (!stage_keeps_out(s, ann, bo))
        return;
    stage_tell(s, "The slot moves back.", "槽又迁移回来。");
    stage_server_end(s, moved);
    actor_renew(ann);
    if (!stage_keeps_out(s, ann, bo))
        return;
    actor_buy(ann);
    actor_leave(ann);
    stage_tell(s, "Ann releases the lock, and Bo gets it: all is sold.",
               "小安释放锁，小博拿到锁：已经卖完。");
    actor_enter(bo);
    actor_buy(bo);
    actor_leave(bo);
}

const struct scenario scenario_slots_move = {
    .name = "slots-move",
    .number = "S59",
    .title = "The slot of a held lock moves",
    .title_zh = "锁被持有时，槽迁移了",
    .source = "Redis Cluster resharding; MOVED and ASK",
    .story = {"Ann takes the lock.",
              "Its slot moves to another master, with the lock in it.",
              "Ann renews there; MOVED redirects Bo there, and Bo is refused.",
              "The slot moves back, and nothing changes for Ann or Bo.",
              "A slot that moves takes its locks along: no lock is lost, nobody else is let in."},
    .story_zh = {"小安拿到锁。",
                 "锁所在的槽连同锁一起迁移到另一个主节点。",
                 "小安在那里续期；小博被 MOVED 重定向过去，被拒绝。",
                 "槽又迁移回来，小安和小博都没有变化。",
                 "槽迁移时锁一起迁移：锁没有丢，别人也拿不到。"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_OVERSOLD | SIGN_LOST_UPDATE | SIGN_LOST_EARLY,
    .lease_ms = 15000,
    .topology = LAB_TOPOLOGY_CLUSTER,
    .play = play,
};
