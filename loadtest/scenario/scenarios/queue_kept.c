/* SPDX-License-Identifier: MIT */
/* queue_kept.c -- as queue_forgotten, but Redis writes each entry to disk before it
 * answers. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    static const char *const flags[] = {"--order-path=stream", "--lock-scope=voucher", NULL};
    int restart;

    stage_start_service(s, 1, flags);
    restart = stage_server_arm(s, "redis-restart-kept", stage_lock_server(s, 0), 0);
    stage_queue_orders(s);
    stage_tell(s, "Redis restarts, and reads its append-only file.",
               "Redis 重启，并读回它的 AOF 文件。");
    stage_server_begin(s, restart);
    stage_let_service_go(s, 0, DLOCK_FAULT_BEFORE_COMMIT);
    stage_tell(s, "The writer goes on with what waits in the stream.",
               "写入线程接着写消息流里的订单。");
    stage_drain_service(s, 0);
}

const struct scenario scenario_queue_kept = {
    .name = "queue-kept",
    .number = "S40b",
    .title = "The queue that was on disk",
    .title_zh = "落了盘的队列",
    .source = "Redis' documentation on persistence: appendonly yes, appendfsync always",
    .story = {"The same queue, in a Redis with appendonly yes and appendfsync always.",
              "Ann, Bo and Chu are told that their orders are queued.",
              "Redis is killed and starts again with its append-only file.",
              "The stream, the buyers and the stock are as they were.",
              "All three orders get their rows, since Redis had the queue on disk."},
    .story_zh = {"同样的队列，但 Redis 开了 appendonly yes 和 appendfsync always。",
                 "小安、小博、小楚得到答复：订单已在排队。",
                 "Redis 被杀，重启后读回 AOF 文件。",
                 "消息流、买家、库存都和原来一样。",
                 "三单全部落库，因为 Redis 的队列存在磁盘上。"},
    .actors = {"Ann", "Bo", "Chu"},
    .breaks = SIGN_BROKEN_PROMISE,
    .guard = &guard_conditional,
    .stock = 10,
    .lease_ms = SCENARIO_LONG_MS,
    .needs_own_servers = true,
    .play = play,
};
