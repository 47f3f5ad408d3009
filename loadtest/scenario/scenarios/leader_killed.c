/* SPDX-License-Identifier: MIT */
/* leader_killed.c -- the leader of an ensemble dies, and the sessions live on. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);

    stage_open_sale(s, ann);
    stage_tell(s, "The leader dies; the other two elect one of them.",
               "领导者宕机，另外两台选出新的领导者。");
    stage_server_hurt(s, "kill-leader", NULL, 0);
    stage_tell(s, "Bo asks for the lock: it is Ann's, whichever server answers.",
               "小博申请锁：不管哪台回答，锁都是小安的。");
    if (!stage_keeps_out(s, ann, bo))
        return;
    actor_buy(ann);
    actor_leave(ann);
    stage_tell(s, "Bo takes the lock after Ann, and all is sold.",
               "小博随后拿到锁，券已售罄。");
    actor_enter(bo);
    actor_buy(bo);
    actor_leave(bo);
}

const struct scenario scenario_leader_killed = {
    .name = "leader-killed",
    .number = "S53",
    .title = "The leader of the ensemble dies",
    .title_zh = "集群的领导者宕机",
    .source = "ZooKeeper's sessions, which belong to no server",
    .story = {"Ann's lock is a node of her session, and every server has it.",
              "The leader dies.  The two others are a quorum, and elect one of them.",
              "Ann's client finds another server, and goes on with the same session.",
              "Bo is refused all the time, and gets the lock after Ann.",
              "A quorum of an ensemble loses nothing that it has acknowledged."},
    .story_zh = {"小安的锁是会话里的节点，每台服务器上都有。",
                 "领导者宕机，剩下两台仍过半数，选出新的领导者。",
                 "小安的客户端换一台服务器，会话不变。",
                 "小博一直拿不到，直到小安释放锁。",
                 "法定多数确认过的事，集群不会丢。"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_OVERSOLD | SIGN_LOST_UPDATE | SIGN_LOST_EARLY,
    .lease_ms = 10000,
    .topology = LAB_TOPOLOGY_ENSEMBLE,
    .play = play,
};
