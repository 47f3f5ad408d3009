/* SPDX-License-Identifier: MIT */
/* queue_forgotten.c -- orders wait in a Redis without an append-only file, which
 * restarts. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    static const char *const flags[] = {"--order-path=stream", "--lock-scope=voucher", NULL};

    stage_start_service(s, 1, flags);
    stage_queue_orders(s);
    stage_tell(s, "Redis restarts.  Redis has kept nothing on disk.",
               "Redis 重启了，它没有往磁盘上存任何东西。");
    stage_server_hurt(s, "redis-restart-empty", stage_lock_server(s, 0), 0);
    stage_let_service_go(s, 0, DLOCK_FAULT_BEFORE_COMMIT);
    stage_tell(s, "The writer had Ann's order in its hands.  "
               "Nobody knows of the other orders any more.",
               "写入线程手里只有小安的订单，其他人的订单再也没人知道了。");
    stage_drain_service(s, 0);
}

const struct scenario scenario_queue_forgotten = {
    .name = "queue-forgotten",
    .number = "S40",
    .title = "The queue that Redis forgot",
    .title_zh = "Redis 忘掉的队列",
    .source = "courses on flash sales: a Lua script and a Redis Stream instead of a transaction",
    .story = {"A script in Redis lets the orders in; rows are made later.",
              "Three are told that their orders are queued.",
              "Redis restarts without an append-only file, and is empty.",
              "The writer had one order in its hands; two promises are broken.",
              "No lock was late or lost too early: the queue was."},
    .story_zh = {"由 Redis 里的脚本放行，订单稍后落库。",
                 "三个人得到答复：订单已在排队。",
                 "Redis 没开 AOF，重启之后是空的。",
                 "一单正在写入线程手里，另外两个承诺落空。",
                 "锁没有出错，丢的是队列。"},
    .actors = {"Ann", "Bo", "Chu"},
    .breaks = SIGN_BROKEN_PROMISE,
    .guard = &guard_conditional,
    .stock = 10,
    .lease_ms = SCENARIO_LONG_MS,
    .needs_own_servers = true,
    .play = play,
};
