/* SPDX-License-Identifier: MIT */
/* waiter_outlives_leader.c -- the leader of an etcd dies while one holds a lock and one waits for
 * it. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1), *chu = stage_actor(s, 2);

    stage_tell(s, "Ann has the lock, and Bo waits behind Ann.",
               "小安拿着锁，小博排在后面。");
    actor_enter(ann);
    actor_read(ann);
    actor_begin_acquire(bo, SCENARIO_STEP_MS);
    actor_await_waiting(bo);
    stage_tell(s, "The leader dies; the other two elect one of them.",
               "领导者宕机，另外两台选出新的领导者。");
    stage_server_hurt(s, "kill-leader", NULL, 0);
    stage_tell(s, "Chu asks for the lock: it is Ann's, whichever member answers.",
               "小楚申请锁：不管哪个成员回答，锁都是小安的。");
    if (!stage_keeps_out(s, ann, chu))
        return;
    stage_tell(s, "Ann buys and releases.  A member that lives tells Bo, and Bo gets "
                  "the lock.",
               "小安买完，释放锁。活着的成员通知小博，小博拿到锁。");
    actor_buy(ann);
    actor_leave(ann);
    stage_need(s, actor_end(bo) == DLOCK_OK, "Bo is to get in");
    actor_buy(bo);
    actor_leave(bo);
}

const struct scenario scenario_waiter_outlives_leader = {
    .name = "waiter-outlives-leader",
    .number = "S61",
    .title = "The leader of an etcd dies while one waits for a lock",
    .title_zh = "有人排队时，etcd 的领导者宕机",
    .source = "etcd's leases and watches, which belong to no member",
    .story = {"Ann's key is first in the queue, and Bo's key is behind it.",
              "Bo's process watches the queue through one of three members.",
              "The leader dies.  The two others elect one, which has all keys and leases.",
              "Chu is refused; Ann releases the lock, and another member tells Bo.",
              "A majority of an etcd loses no key, no lease and no place in the queue."},
    .story_zh = {"小安的键排在最前，小博的键在后面。",
                 "小博的进程通过三个成员中的一个监听队列。",
                 "领导者宕机，另外两个选出新的，键和租约都在。",
                 "小楚被拒绝；小安释放锁，由另一个成员通知小博。",
                 "只要过半数成员还在，etcd 就不会丢掉键、租约和排队的位置。"},
    .actors = {"Ann", "Bo", "Chu"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_OVERSOLD | SIGN_LOST_UPDATE | SIGN_LOST_EARLY,
    .lease_ms = 10000,
    .topology = LAB_TOPOLOGY_ETCD,
    .play = play,
};
