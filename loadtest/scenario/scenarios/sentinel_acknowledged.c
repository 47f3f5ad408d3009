/* SPDX-License-Identifier: MIT */
/* sentinel_acknowledged.c -- sentinel-partition once more, with grants that a replica has to
 * acknowledge. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);
    bool is_granted;
    int cut;

    stage_tell(s, "The master is cut off from its replicas and the Sentinels.",
               "主节点与从节点、哨兵之间断网。");
    cut = stage_server_arm(s, "partition", NULL, 0);
    stage_tell(s, "Ann asks the master that is cut off; a replica has to acknowledge "
                  "the grant.",
               "小安向被隔离的主节点申请锁，并要求有从节点确认。");
    is_granted = actor_try(ann) == DLOCK_OK;
    if (is_granted)
        actor_read(ann);
    stage_tell(s, "The Sentinels name another master, which knows nothing of Ann.",
               "哨兵另立主节点，新主节点不知道小安。");
    stage_server_begin(s, cut);
    stage_tell(s, "Bo takes the lock at the new master, and a replica acknowledges it.",
               "小博在新主节点拿到锁，从节点已确认。");
    actor_enter(bo); /* until his library has heard of the new master, and that has a replica */
    actor_buy(bo);
    if (is_granted) {
        actor_buy(ann);
        actor_release(ann);
    } else {
        actor_try_until_answered(ann);
    }
    actor_leave(bo);
}

const struct scenario scenario_sentinel_acknowledged = {
    .name = "sentinel-acknowledged",
    .number = "S56",
    .title = "The master is cut off, and a replica has to acknowledge",
    .title_zh = "主节点被隔离，发锁须从节点确认",
    .source = "Redis' WAIT; Redisson's synced slaves",
    .story = {"The master loses its replicas and the Sentinels, and keeps its clients.",
              "Ann asks there for the lock; no replica acknowledges it, so it is given back.",
              "The Sentinels name another master, where Bo takes the lock.",
              "Ann is refused there, and nobody works beside Bo.",
              "A replica that acknowledged and lost its data would let a second holder in."},
    .story_zh = {"主节点连不上从节点和哨兵，客户端却连得上它。",
                 "小安在那里申请锁，没有从节点确认，锁被退回。",
                 "哨兵另立主节点，小博在那里拿到锁。",
                 "小安在新主节点被拒绝，没人与小博同时干活。",
                 "确认过的从节点若丢了数据，仍会放进第二个持有者。"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_OVERSOLD | SIGN_LOST_UPDATE,
    .lease_ms = 30000,
    .store_timeout_ms = 1000,
    .replicas_acknowledge = 1,
    .topology = LAB_TOPOLOGY_SENTINEL,
    .play = play,
};
