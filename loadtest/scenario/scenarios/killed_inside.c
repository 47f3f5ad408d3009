/* SPDX-License-Identifier: MIT */
/* killed_inside.c -- the holder is killed in its transaction: the stock is counted down,
 * nothing is committed, the lock is not released. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);
    enum sale_answer sale;

    stage_tell(s, "Ann has the lock, and has taken the last voucher from the stock.",
               "小安拿着锁，已经扣掉了最后一张券的库存。");
    actor_enter(ann);
    actor_arm(ann, DLOCK_FAULT_BEFORE_COMMIT, DLOCK_FAULT_KILL);
    actor_begin_buy(ann);
    stage_tell(s, "Ann's process is killed before it commits.",
               "还没提交，小安的进程就被杀死了。");
    actor_await_point(ann, DLOCK_FAULT_BEFORE_COMMIT);
    stage_tell(s, "The database rolls Ann's order back.  Bo asks for the lock.",
               "数据库回滚了小安没提交的订单。小博来申请锁。");
    if (stage_store_hears_of_death(s)) {
        actor_enter(bo);
    } else {
        stage_need_in_time(s, actor_try(bo) == DLOCK_BUSY, "Ann's lease was to last");
        stage_tell(s, "Bo has to wait until Ann's lease or session ends.",
                   "小博只好等小安的租约或会话结束。");
        actor_enter(bo);
        stage_sign(s, SIGN_LEASE_WAITED, "nothing tells the store that Ann is dead");
    }
    stage_tell(s, "Bo has the lock, and the voucher is still in stock.",
               "小博拿到了锁，那张券还在库存里。");
    sale = actor_buy(bo);
    stage_need_in_time(s, sale != SALE_FAILED, "the database was to answer Bo");
    stage_need(s, sale == SALE_SOLD, "what Ann wrote was to be undone");
    actor_release(bo);
}

const struct scenario scenario_killed_inside = {
    .name = "killed-inside",
    .number = "S2",
    .title = "The holder is killed at its work",
    .title_zh = "持有者干活时被杀死",
    .source = "the articles' reason for a time to live: a server that dies with the lock",
    .story = {"Ann has the lock and takes the last voucher from the stock.",
              "Ann's process is killed before it commits.",
              "The database rolls Ann's order back at once.",
              "The lock stays: its store cannot tell a dead holder from a silent one.",
              "Bo waits for one lease or session at most, and can buy then."},
    .story_zh = {"小安拿着锁，扣掉了最后一张券。",
                 "还没提交，小安的进程就被杀死。",
                 "数据库立刻回滚了小安的订单。",
                 "锁却还在：存储分不清持有者是死了还是没出声。",
                 "小博要等，但最多等一个租约或会话，之后便能买到。"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_OVERSOLD | SIGN_LOST_UPDATE,
    .play = play,
};
