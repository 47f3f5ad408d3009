/* SPDX-License-Identifier: MIT */
/* client_gone.c -- a client disconnects after its POST, and orders again under another
 * number. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    static const char *const flags[] = {"--lock-scope=user", "--lock-wait=5s",
                                        "--stock-guard=conditional",
                                        "--duplicate-guard=none", NULL};
    struct actor *ann = stage_actor(s, 0);
    int request;

    stage_start_service(s, 1, flags);
    stage_tell(s, "Ann posts an order.  The service has the lock, and is at work.",
               "小安下单。服务拿到锁，正在处理。");
    stage_hold_service(s, 0, DLOCK_FAULT_BEFORE_COMMIT);
    request = actor_post(ann, 0, NULL);
    stage_await_service(s, 0, DLOCK_FAULT_BEFORE_COMMIT);
    stage_tell(s, "She closes the page.  Nobody tells the service; it commits.",
               "她关掉了页面。服务并不知道，照样提交。");
    stage_hang_up(s, request);
    stage_let_service_go(s, 0, DLOCK_FAULT_BEFORE_COMMIT);
    stage_tell(s, "She opens the page again and clicks: a new request.",
               "她重新打开页面，又点了一下：一个新的请求。");
    stage_answer(s, actor_post(ann, 0, NULL));
}

const struct scenario scenario_client_gone = {
    .name = "client-gone",
    .number = "S38c",
    .title = "The client goes away after its POST",
    .title_zh = "客户端发完 POST 就走了",
    .source = "HTTP: a request goes on when its client has gone",
    .story = {"Ann posts an order and closes the page.",
              "The service does not learn of it, and sells her one.",
              "She comes back, sees no order yet, and clicks again.",
              "Two orders: the lock was free again, and the two requests have no name.",
              "A lock keeps requests apart; it cannot tell that two are one."},
    .story_zh = {"小安下单后关掉页面。",
                 "服务不知道，照样卖给了她一件。",
                 "她回来没看到订单，又点了一下。",
                 "两单：锁早已释放，两个请求也没有名字可以对上。",
                 "锁能把请求隔开，却认不出两个请求其实是一个。"},
    .actors = {"Ann"},
    .breaks = SIGN_DUPLICATE,
    .stock = 10,
    .play = play,
};
