/* SPDX-License-Identifier: MIT */
/* expired_lease.c -- the holder's process stops for longer than the lease, and the holder
 * writes when the process continues. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);

    stage_open_sale(s, ann);
    stage_tell(s, "Ann's process stops for longer than her lease lasts.",
               "小安的进程停住了，停得比租约还久。");
    actor_stop(ann);
    stage_tell(s, "Bo wants to buy too, and waits for the lock.",
               "小博也想买，等着拿锁。");
    if (actor_outwait(bo) != DLOCK_OK) {
        stage_tell(s, "Nobody gets the lock while Ann's process stands still.",
                   "小安的进程停着的时候，谁也拿不到锁。");
        actor_continue(ann);
        actor_buy(ann);
        actor_leave(ann);
        actor_enter(bo);
        actor_buy(bo);
        actor_leave(bo);
        return;
    }
    stage_tell(s, "Bo has the lock, while Ann believes that it is hers.  Bo buys the "
                  "last one.",
               "小博拿到了锁，而小安以为锁还是自己的。小博买走了最后一张。");
    actor_buy(bo);
    stage_tell(s, "Ann's process goes on, knows nothing of Bo, and writes as it had "
                  "decided.",
               "小安的进程恢复，不知道小博来过，照原来的打算写了下去。");
    actor_continue(ann);
    actor_buy(ann);
    actor_release(ann);
    actor_release(bo);
}

const struct scenario scenario_expired_lease = {
    .name = "expired-lease",
    .number = "S1",
    .title = "The lock expires while the work goes on",
    .title_zh = "活还没干完，锁先过期了",
    .source = "the articles' oversold case of a blocked thread; Kleppmann 2016",
    .story = {"Ann takes the lock and reads the stock: one is left.",
              "Ann's whole process stops: a garbage collection, a swap, a busy host.",
              "Ann's lease ends.  Bo takes the lock and buys the last one.",
              "Ann has read the stock already, and writes when her process goes on.",
              "A lock that expires cannot stop Ann's write; only the database can."},
    .story_zh = {"小安拿到锁，读了库存：还剩一张。",
                 "小安的整个进程停住了：垃圾回收、换页，或者机器太忙。",
                 "小安的租约到期，小博拿到锁，买走了最后一张。",
                 "小安早就读过库存，进程一恢复就接着写。",
                 "会过期的锁拦不住小安的写入，只有数据库拦得住。"},
    .breaks = SIGNS_TWO_INSIDE,
    .earlier_fences = 32,
    .play = play,
};
