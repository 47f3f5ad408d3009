/* SPDX-License-Identifier: MIT */
/* server_pause.c -- the server hangs for longer than a lease, and goes on. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);
    bool is_quorum = stage_has(s, DLOCK_CAP_QUORUM);
    int pause;

    stage_tell(s, "Ann takes the lock; her watchdog renews it while she works.",
               "小安拿到锁，干活期间由看门狗续期。");
    actor_enter(ann);
    actor_read(ann);
    stage_tell(s, "The server hangs for longer than a lease.  No renewal gets through.",
               "服务器卡住了，卡得比租约还久，续期一次也没成功。");
    pause = stage_server_hurt(s, "server-stop", stage_lock_server(s, 0), 0);
    stage_pass_ms(s, stage_lease_ms(s));
    stage_server_end(s, pause);
    stage_need_in_time(s, !is_quorum || actor_is_protected(ann),
                       "four servers were to renew");
    if (actor_is_protected(ann)) {
        stage_tell(s, "The server goes on.  The other servers have renewed all the "
                      "while.  Bo asks.",
                   "服务器恢复了。其余几台一直在续期。小博来申请锁。");
        stage_need(s, is_quorum, "Ann's lease is to be over");
        actor_walk_in(bo, ann);
        return;
    }
    stage_tell(s, "The server goes on, and finds that Ann's lease is over.",
               "服务器恢复了，发现小安的租约已经到期。");
    actor_enter(bo);
    actor_buy(bo);
    stage_tell(s, "Ann never stopped, and writes as she had decided.",
               "小安从没停过，照原来的打算写了下去。");
    actor_buy(ann);
    actor_release(ann);
    actor_release(bo);
}

const struct scenario scenario_server_pause = {
    .name = "server-pause",
    .number = "S39",
    .title = "The server stands still",
    .title_zh = "服务器停摆",
    .source = "Jepsen's tests of etcd's locks, where the server is paused",
    .story = {"Ann holds the lock, which a watchdog renews; Ann's process never stops.",
              "The server stops: a snapshot of its machine, a swap, a busy host.",
              "Renewals wait in the server's socket, and the lease ends meanwhile.",
              "The server goes on, finds the lease over, and gives Bo the lock beside Ann.",
              "A pause of the server is as dangerous as a pause of the holder."},
    .story_zh = {"小安持有锁，由看门狗续期，小安的进程一刻没停。",
                 "服务器停了：做快照、换页，或者宿主机太忙。",
                 "续期请求堆在服务器的套接字里，租约就这样到期了。",
                 "服务器恢复后发现租约已过，把锁给了小博，小安还在干活。",
                 "服务器停顿，和持有者停顿一样危险。"},
    .breaks = SIGNS_TWO_INSIDE,
    .lease_ms = 600,
    .store_timeout_ms = 150,
    .needs_own_servers = true,
    .play = play,
};
