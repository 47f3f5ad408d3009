/* SPDX-License-Identifier: MIT */
/* queue_claimed.c -- the process that writes queued orders is killed, and a writer of
 * another process claims the orders. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    static const char *const flags[] = {"--order-path=stream", "--lock-scope=user",
                                        "--stream-claim=100ms", "--lock-lease=1s",
                                        NULL};

    stage_start_service(s, 1, flags);
    stage_queue_orders(s);
    stage_tell(s, "The process is killed before it has committed Ann's order.",
               "小安的订单还没提交，进程就被杀了。");
    stage_restart_service(s, 0);
    stage_tell(s, "The next process claims Ann's order, and writes all three.",
               "下一个进程认领了小安的订单，三单都写完了。");
    stage_drain_service(s, 0);
}

const struct scenario scenario_queue_claimed = {
    .name = "queue-claimed",
    .number = "S40c",
    .title = "The writer is killed, and another one claims its orders",
    .title_zh = "写入进程被杀，另一个认领它的订单",
    .source = "Redis Streams: a consumer group's pending entries, XAUTOCLAIM",
    .story = {"Ann, Bo and Chu are told that their orders are queued.",
              "The process is killed before it commits the first one.",
              "The stream still has all three: nothing was acknowledged.",
              "Another process claims the order that the dead process had taken.",
              "Three rows: an order is acknowledged after its COMMIT, never before."},
    .story_zh = {"小安、小博、小楚得到答复：订单已在排队。",
                 "第一单提交之前，进程被杀。",
                 "消息流里三单都在：没有一条被确认过。",
                 "另一个进程认领死去的进程取走的那一单。",
                 "三单都在：先 COMMIT，后确认，从不颠倒。"},
    .actors = {"Ann", "Bo", "Chu"},
    .breaks = SIGN_BROKEN_PROMISE,
    .guard = &guard_conditional,
    .stock = 10,
    .lease_ms = SCENARIO_LONG_MS,
    .play = play,
};
