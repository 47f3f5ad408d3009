/* SPDX-License-Identifier: MIT */
/* queue_in_memory.c -- Redis admits the orders, which wait in the memory of one process,
 * as in the blocking queue of the courses; the process is killed. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0);

    stage_tell(s, "A counter in Redis lets three in.  Each is told at once that it "
                  "has an order.",
               "Redis 里的计数器放行三个人，立刻答复：下单成功。");
    for (int i = 0; i < 3; i++) {
        stage_need(s, actor_reserve(stage_actor(s, i)) == SALE_SOLD, "all three are to get in");
        actor_promise(stage_actor(s, i));
    }
    stage_tell(s, "The orders wait in the memory of the process.  Its thread writes the first.",
               "订单在进程的内存队列里等着，线程写好了第一单。");
    actor_enter(ann);
    stage_need(s, actor_buy(ann) == SALE_SOLD, "Ann's order is to be written");
    actor_leave(ann);
    stage_tell(s, "The process is killed.  The queue was only in its memory.",
               "进程被杀。队列只在进程的内存里。");
    actor_kill(ann);
}

const struct scenario scenario_queue_in_memory = {
    .name = "queue-in-memory",
    .number = "S41",
    .title = "The queue in the memory of one process",
    .title_zh = "内存里的阻塞队列",
    .source = "courses on flash sales: a Lua script and a BlockingQueue with one thread",
    .story = {"Redis decides who may buy; the orders wait in a queue in memory.",
              "Ann, Bo and Chu are told at once that their orders are made.",
              "A thread of the process writes one row after another.",
              "The process is killed: what was in its memory is gone.",
              "Only one of three rows is there; Redis counted the others as sold."},
    .story_zh = {"谁能买由 Redis 决定，订单放进内存里的队列。",
                 "小安、小博、小楚立刻得到答复：下单成功。",
                 "进程里的一个线程逐条落库。",
                 "进程被杀，内存里的订单都没了。",
                 "三单只有一单；另外两单在 Redis 里算作已售。"},
    .actors = {"Ann", "+Bo", "+Chu"},
    .breaks = SIGN_BROKEN_PROMISE,
    .guard = &guard_conditional,
    .stock = 10,
    .lease_ms = SCENARIO_LONG_MS,
    .play = play,
};
