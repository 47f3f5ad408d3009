/* SPDX-License-Identifier: MIT */
/* node_forgets.c -- a server of Redlock's majority restarts without its data. */
#include "loadtest/scenario/scenario.h"

enum { NODES = 5, MAJORITY = 3, THIRD = MAJORITY - 1 };

/* The servers beyond the majority do not hear Ann. */
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
               "小安只连得上五台里的三台，正好过半，向这三台申请锁。");
    cut_off(ann);
    if (actor_try(ann) != DLOCK_OK) {
        stage_sign(s, SIGN_CALL_REFUSED, "the lock wants every server, and cannot reach two");
        return;
    }
    actor_read(ann);
    stage_tell(s, "The third one crashes, and comes back with its data.  Bo asks.",
               "第三台宕机后带着数据回来了。小博来申请。");
    crash = stage_server_hurt(s, "server-kill", stage_lock_server(s, THIRD), 0);
    stage_server_end(s, crash);
    stage_need(s, actor_try_until_answered(bo) == DLOCK_BUSY,
               "a server with its data is to refuse Bo");
    stage_tell(s, "The third one crashes again, and comes back empty.  Bo asks once "
                  "more.",
               "第三台又宕机一次，回来时数据没了。小博再次申请。");
    stage_server_hurt(s, "redis-restart-empty", stage_lock_server(s, THIRD), 0);
    stage_tell(s, "The third one and the two that never heard of Ann are a majority "
                  "for Bo.",
               "第三台，加上从没听说过小安的那两台，小博也凑够了多数派。");
    actor_walk_in(bo, ann);
}

const struct scenario scenario_node_forgets = {
    .name = "node-forgets",
    .number = "S16",
    .title = "A server of the majority loses its data",
    .title_zh = "多数派里有一台丢了数据",
    .source = "Redis' specification of Redlock, on crash recovery; Kleppmann 2016",
    .story = {"Ann has the lock of servers 1, 2 and 3; servers 4 and 5 did not hear Ann.",
              "Server 3 crashes and starts again, with its data: Bo is refused.",
              "Server 3 crashes and starts without its data: it votes a second time.",
              "Servers 3, 4 and 5 are a majority for Bo: Ann and Bo both hold the lock.",
              "A server has to write a grant to disk before it answers, or stay away for a lease."},
    .story_zh = {"小安拿到了 1、2、3 号的锁，4、5 号没收到申请。",
                 "3 号宕机重启，数据还在：小博被拒绝。",
                 "3 号又宕机，回来时数据没了：等于又投了一票。",
                 "3、4、5 号也是多数派，归了小博。小安和小博同时持有锁。",
                 "服务器要么先落盘再应答，要么宕机后缺席一个租约。"},
    .breaks = SIGN_TWO_HOLDERS,
    .lease_ms = 20000,
    .store_timeout_ms = 700,
    .needs_own_servers = true,
    .play = play,
};
