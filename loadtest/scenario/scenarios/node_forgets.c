/* SPDX-License-Identifier: MIT */
/* node_forgets.c -- a server of Redlock's majority restarts without its data. */
#include "loadtest/scenario/scenario.h"

enum { NODES = 5, MAJORITY = 3, THIRD = MAJORITY - 1 };

/* The servers beyond the majority do not hear her. */
static void cut_off(struct actor *ann)
{
    for (int node = MAJORITY; node < NODES; node++)
        actor_wire_node(ann, node, "hold to-server");
}

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);
    int crash;

    stage_tell(s, "Ann reaches three servers of five, a majority, and asks them.",
               "小安只连得上五台里的三台，正好过半，她向它们申请锁。");
    cut_off(ann);
    if (actor_try(ann) != DLOCK_OK) {
        stage_sign(s, SIGN_CALL_REFUSED, "it wants every server, and cannot reach two");
        return;
    }
    actor_read(ann);
    stage_tell(s, "The third one crashes, and comes back with its data.  Bo asks.",
               "第三台宕机后带着数据回来了。小博来申请。");
    crash = stage_server_hurt(s, "server-kill", stage_lock_server(s, THIRD), 0);
    stage_server_end(s, crash);
    stage_need(s, actor_try_until_answered(bo) == DLOCK_BUSY,
               "a server with its data is to refuse Bo");
    stage_tell(s, "The third one crashes again, and comes back empty.  Bo asks once more.",
               "它又宕机一次，这回是空着回来的。小博再次申请。");
    stage_server_hurt(s, "redis-restart-empty", stage_lock_server(s, THIRD), 0);
    stage_tell(s, "With the two that never heard of Ann, it is a majority for Bo.",
               "加上从没听说过小安的那两台，小博也凑够了多数。");
    actor_walk_in(bo, ann);
}

const struct scenario scenario_node_forgets = {
    .name = "node-forgets",
    .number = "S16",
    .title = "One of the majority forgets",
    .title_zh = "多数派里有一台失忆了",
    .source = "Redis' specification of Redlock, on crash recovery; Kleppmann 2016",
    .story = {"Ann has the lock of servers 1, 2 and 3; 4 and 5 did not hear her.",
              "Server 3 crashes and starts again, with its data: Bo is refused.",
              "Server 3 crashes and starts without its data: it votes a second time.",
              "Servers 3, 4 and 5 are a majority, and Bo's.  Two hold the lock.",
              "Write it to disk before you answer, or stay away for a lease."},
    .story_zh = {"小安拿到了 1、2、3 号的锁，4、5 号没听到她。",
                 "3 号宕机重启，数据还在：小博被拒绝。",
                 "它又宕机，空着回来：等于又投了一票。",
                 "3、4、5 号也是多数，归了小博。两人同时持有锁。",
                 "要么先落盘再应答，要么宕机后缺席一个租约。"},
    .actors = {"Ann", "Bo"},
    .breaks = SIGN_TWO_HOLDERS,
    .lease_ms = 20000,
    .store_timeout_ms = 700,
    .needs_own_servers = true,
    .play = play,
};
