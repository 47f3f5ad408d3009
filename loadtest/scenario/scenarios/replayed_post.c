/* SPDX-License-Identifier: MIT */
/* replayed_post.c -- a client whose POST was not answered repeats the POST under the same
 * idempotency key. */
#include <string.h>

#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    static const char *const flags[] = {"--lock-scope=user", "--lock-wait=5s",
                                        "--stock-guard=conditional",
                                        "--duplicate-guard=none", NULL};
    struct actor *ann = stage_actor(s, 0);
    int request;

    stage_start_service(s, 2, flags);
    stage_tell(s, "Ann posts an order under a key of her own.  The order is committed.",
               "小安带着自己的幂等键下单，订单已提交。");
    stage_hold_service(s, 0, DLOCK_FAULT_AFTER_COMMIT);
    request = actor_post(ann, 0, "first");
    stage_await_service(s, 0, DLOCK_FAULT_AFTER_COMMIT);
    stage_tell(s, "Ann's phone loses the network before the answer comes.",
               "应答还没到，小安的手机断网了。");
    stage_hang_up(s, request);
    stage_let_service_go(s, 0, DLOCK_FAULT_AFTER_COMMIT);
    stage_tell(s, "The phone posts the same again, to another process, under the same key.",
               "手机带着同一个键，把同样的请求发给另一个进程。");
    stage_need_in_time(s, strcmp(stage_answer(s, actor_post(ann, 1, "first")), "accepted") == 0,
                       "Ann was to be told of the first order");
}

const struct scenario scenario_replayed_post = {
    .name = "replayed-post",
    .number = "S38b",
    .title = "The same POST again, with its Idempotency-Key",
    .title_zh = "带着幂等键重发的 POST",
    .source = "HTTP clients that retry; the Idempotency-Key header",
    .story = {"Ann's order is committed, and Ann's phone is cut off before the answer.",
              "Ann's phone posts again, with the same Idempotency-Key.",
              "Another process takes the request, under a lock that is free by now.",
              "The key is a unique column: it finds the order, and answers with that.",
              "Ann has one order, with no other guard, under any lock or none."},
    .story_zh = {"小安的订单已提交，没等到答复就掉线了。",
                 "小安的手机带着第一次的幂等键重发。",
                 "另一个进程接手，这时锁早已空闲。",
                 "幂等键是唯一列：查到那一单，就拿它作答。",
                 "没有别的兜底，小安也只有一单，什么锁都一样，没有锁也一样。"},
    .actors = {"Ann"},
    .breaks = SIGN_DUPLICATE | SIGN_OVERSOLD | SIGN_LOST_UPDATE,
    .stock = 10,
    .play = play,
};
