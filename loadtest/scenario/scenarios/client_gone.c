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
    stage_tell(s, "Ann posts an order.  The service has the lock, and has not "
                  "committed yet.",
               "小安下单。服务已拿到锁，还没提交。");
    stage_hold_service(s, 0, DLOCK_FAULT_BEFORE_COMMIT);
    request = actor_post(ann, 0, NULL);
    stage_await_service(s, 0, DLOCK_FAULT_BEFORE_COMMIT);
    stage_tell(s, "Ann closes the page.  The service does not learn of that, and "
                  "commits.",
               "小安关掉了页面。服务并不知道，照样提交。");
    stage_hang_up(s, request);
    stage_let_service_go(s, 0, DLOCK_FAULT_BEFORE_COMMIT);
    stage_tell(s, "Ann opens the page again and orders: a new request.",
               "小安重新打开页面，又下一单：一个新的请求。");
    stage_answer(s, actor_post(ann, 0, NULL));
}

const struct scenario scenario_client_gone = {
    .name = "client-gone",
    .number = "S38c",
    .title = "The client goes away after its POST",
    .title_zh = "客户端发完 POST 就走了",
    .source = "HTTP: a request goes on when its client has gone",
    .story = {"Ann posts an order and closes the page.",
              "The service does not learn of that, and sells Ann one.",
              "Ann comes back, was never told of that order, and orders again.",
              "Ann has two orders: the lock was free again, and no key joins the requests.",
              "A lock lets requests in one by one; it cannot tell that two are one order."},
    .story_zh = {"小安下单后关掉页面。",
                 "服务不知道，照样卖给小安一张。",
                 "小安回来，不知道那一单已成交，又下了一单。",
                 "小安有了两单：锁早已释放，两个请求也没有幂等键可以对上。",
                 "锁让请求逐个进来，却认不出两个请求其实是同一单。"},
    .actors = {"Ann"},
    .breaks = SIGN_DUPLICATE,
    .stock = 10,
    .play = play,
};
