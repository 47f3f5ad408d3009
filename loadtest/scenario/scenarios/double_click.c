/* SPDX-License-Identifier: MIT */
/* double_click.c -- two requests of one user arrive at two processes of the service at
 * once. */
#include "loadtest/scenario/scenario.h"

#include <string.h>

/* A click that failed is no click that the lock refused. */
static void need_sold_or_refused(struct stage *s, const char *outcome)
{
    stage_need(s, strcmp(outcome, "accepted") == 0 || strcmp(outcome, "lock-busy") == 0,
               "each click is to be sold or refused");
}

static void play(struct stage *s)
{
    static const char *const flags[] = {"--lock-scope=user", "--lock-wait=0ms",
                                        "--stock-guard=conditional",
                                        "--duplicate-guard=count", NULL};
    struct actor *ann = stage_actor(s, 0);
    int first, second;

    stage_start_service(s, 2, flags);
    stage_tell(s, "Ann clicks.  Process 1 counts her earlier orders: none.",
               "小安点了一下。进程 1 数了小安已有的订单：没有。");
    stage_hold_service(s, 0, DLOCK_FAULT_AFTER_READ);
    first = actor_post(ann, 0, NULL);
    stage_await_service(s, 0, DLOCK_FAULT_AFTER_READ);
    stage_tell(s, "Ann clicks again before that order is written.",
               "那一单还没写下，小安又点了一下。");
    second = actor_post(ann, 1, NULL);
    need_sold_or_refused(s, stage_answer(s, second));
    stage_tell(s, "Process 1 goes on and writes: it has counted already.",
               "进程 1 接着写：它早就数过了。");
    stage_let_service_go(s, 0, DLOCK_FAULT_AFTER_READ);
    need_sold_or_refused(s, stage_answer(s, first));
}

const struct scenario scenario_double_click = {
    .name = "double-click",
    .number = "S38",
    .title = "The double click",
    .title_zh = "连点两下",
    .source = "the articles' one order per user, with two instances of the service",
    .story = {"Ann clicks twice; a load balancer sends each click to another process.",
              "Both processes look whether Ann has an order, before either has written one.",
              "Without a lock between processes both write: two orders.",
              "A lock with Ann's user number in its name lets one click in.",
              "A local lock does not help: it excludes the threads of one process only."},
    .story_zh = {"小安点了两下，负载均衡把两次请求分给两个进程。",
                 "两个进程都先查小安有没有订单，而谁都还没写。",
                 "没有跨进程的锁，两边都写：两单。",
                 "锁名里带着小安的用户号，两次点击只放行一次。",
                 "本地锁不行：它只管得住同一进程里的线程。"},
    .actors = {"Ann"},
    .breaks = SIGN_DUPLICATE,
    .stock = 10,
    .play = play,
};
