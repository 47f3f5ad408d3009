/* SPDX-License-Identifier: MIT */
/* queue_forgotten.c -- orders wait in a Redis without an append-only file, which
 * restarts. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    static const char *const flags[] = {"--order-path=stream", "--lock-scope=voucher", NULL};

    stage_start_service(s, 1, flags);
    stage_queue_orders(s);
    stage_tell(s, "Redis restarts, and has kept nothing on disk.",
               "Redis 重启了，磁盘上什么也没存。");
    stage_server_hurt(s, "redis-restart-empty", stage_lock_server(s, 0), 0);
    stage_let_service_go(s, 0, DLOCK_FAULT_BEFORE_COMMIT);
    stage_tell(s, "The writer had taken Ann's order before.  The other two orders are "
                  "lost.",
               "写入线程早已取走小安的订单，另外两单丢了。");
    stage_drain_service(s, 0);
}

const struct scenario scenario_queue_forgotten = {
    .name = "queue-forgotten",
    .number = "S40",
    .title = "The queue that Redis lost",
    .title_zh = "Redis 丢掉的队列",
    .source = "courses on flash sales: a Lua script and a Redis Stream instead of a transaction",
    .story = {"A script in Redis lets the orders in; rows are made later.",
              "Ann, Bo and Chu are told that their orders are queued.",
              "Redis restarts without an append-only file, and is empty.",
              "The writer had taken one order; the other two promises are broken.",
              "No lock was late or lost too early: the queue was lost."},
    .story_zh = {"由 Redis 里的脚本放行，订单稍后落库。",
                 "小安、小博、小楚得到答复：订单已在排队。",
                 "Redis 没开 AOF，重启之后是空的。",
                 "写入线程早已取走一单，另外两个承诺落空。",
                 "锁没有出错，丢的是队列。"},
    .actors = {"Ann", "Bo", "Chu"},
    .breaks = SIGN_BROKEN_PROMISE,
    .guard = &guard_conditional,
    .stock = 10,
    .lease_ms = SCENARIO_LONG_MS,
    .needs_own_servers = true,
    .play = play,
};
