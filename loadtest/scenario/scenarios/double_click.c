/* SPDX-License-Identifier: MIT */
/* double_click.c -- two requests of one user arrive at two processes of the service at
 * once. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    static const char *const flags[] = {"--lock-scope=user", "--lock-wait=0ms",
                                        "--stock-guard=conditional",
                                        "--duplicate-guard=count", NULL};
    struct actor *ann = stage_actor(s, 0);
    int first, second;

    stage_start_service(s, 2, flags);
    stage_tell(s, "Ann clicks.  Process 1 counts her earlier orders: none.",
               "小安点了一下。进程 1 数了她已有的订单：没有。");
    stage_hold_service(s, 0, DLOCK_FAULT_AFTER_READ);
    first = actor_post(ann, 0, NULL);
    stage_await_service(s, 0, DLOCK_FAULT_AFTER_READ);
    stage_tell(s, "Before that order is written, she clicks again.",
               "那一单还没写下，她又点了一下。");
    second = actor_post(ann, 1, NULL);
    stage_answer(s, second);
    stage_tell(s, "Process 1 goes on: it has counted already.",
               "进程 1 接着写：它早就数过了。");
    stage_let_service_go(s, 0, DLOCK_FAULT_AFTER_READ);
    stage_answer(s, first);
}

const struct scenario scenario_double_click = {
    .name = "double-click",
    .number = "S38",
    .title = "The double click",
    .title_zh = "手快点了两下",
    .source = "the articles' one order per user, with two instances of the service",
    .story = {"Ann clicks twice; a balancer sends each click to another process.",
              "Both look whether she has an order, before either has written one.",
              "Without a lock between processes both write: two orders.",
              "A lock with her number in its name lets one click in.",
              "A mutex does not: it ends where the process does."},
    .story_zh = {"小安点了两下，负载均衡把两次请求分给两个进程。",
                 "两边都先查她有没有订单，而谁都还没写。",
                 "没有跨进程的锁，两边都写：两单。",
                 "锁名里带着她的用户号，只放一次进去。",
                 "进程里的互斥锁不行：出了进程它就管不着了。"},
    .actors = {"Ann"},
    .breaks = SIGN_DUPLICATE,
    .stock = 10,
    .play = play,
};
