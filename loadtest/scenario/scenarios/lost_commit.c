/* SPDX-License-Identifier: MIT */
/* lost_commit.c -- the order is committed, the answer is lost, and the client orders
 * once more. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0);

    stage_tell(s, "Ann buys under the lock.  Her COMMIT is done, its answer is lost.",
               "小安在锁内下单。COMMIT 已完成，应答却丢了。");
    actor_enter(ann);
    actor_wire(ann, WIRE_SHOP, "cut to-client at to-server COMMIT");
    stage_need(s, actor_buy(ann) == SALE_UNSURE, "nobody is to know what became of it");
    actor_release(ann);
    stage_tell(s, "Ann is told of an error, and orders again: a new request.",
               "小安只看到出错，于是再下一单：一个新的请求。");
    actor_enter(ann);
    stage_need(s, actor_buy(ann) == SALE_SOLD, "the second order is to be taken");
    actor_release(ann);
}

const struct scenario scenario_lost_commit = {
    .name = "lost-commit",
    .number = "S26",
    .title = "The answer to COMMIT is lost, and the client tries again",
    .title_zh = "COMMIT 的应答丢了，客户端重试",
    .source = "PostgreSQL's manual: a COMMIT without an answer may have happened",
    .story = {"Ann holds the lock and sends COMMIT, which is done.",
              "The answer is lost; Ann is told of an error.",
              "Ann takes the lock again, and orders once more.",
              "Ann has two orders now, and nobody held the lock beside her.",
              "No lock helps: the two requests are one after the other."},
    .story_zh = {"小安持有锁，发出 COMMIT，数据库提交了。",
                 "应答丢失，小安只看到一个错误。",
                 "小安再次拿到锁，又下了一单。",
                 "于是小安有了两单，而锁自始至终只有小安持有。",
                 "什么锁都没用：两个请求本来就是一前一后。"},
    .actors = {"Ann"},
    .breaks = SIGN_DUPLICATE,
    .stock = 10,
    .lease_ms = 20000,
    .play = play,
};
