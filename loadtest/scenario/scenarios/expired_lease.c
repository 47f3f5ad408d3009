/* SPDX-License-Identifier: MIT */
/* expired_lease.c -- the holder's process stops for longer than the lease, and the holder
 * writes when the process continues. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);

    stage_tell(s, "Ann takes the lock and sees that one voucher is left.",
               "小安拿到锁，看到还剩一张券。");
    actor_enter(ann);
    actor_read(ann);
    stage_tell(s, "Her process stops, for longer than her lease lasts.",
               "小安的进程停住了，停得比租约还久。");
    actor_stop(ann);
    stage_tell(s, "Bo wants to buy too, and waits for the lock.",
               "小博也想买，等着拿锁。");
    if (actor_outwait(bo) != DLOCK_OK) {
        stage_tell(s, "Nobody gets in while Ann stands still.",
                   "小安停着的时候，谁也进不来。");
        actor_continue(ann);
        actor_buy(ann);
        actor_leave(ann);
        actor_enter(bo);
        actor_buy(bo);
        actor_leave(bo);
        return;
    }
    stage_tell(s, "Bo has it, while Ann believes that it is hers; he buys the last one.",
               "小博拿到了锁，而小安以为锁还是自己的；小博买走了最后一张。");
    actor_buy(bo);
    stage_tell(s, "Ann wakes, knows nothing of it, and writes what she had in mind.",
               "小安醒来，对此一无所知，照原来的打算写了下去。");
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
              "Her whole process stops: a garbage collection, a swap, a busy host.",
              "Her lease ends.  Bo takes the lock and buys the last one.",
              "Ann wakes and writes, for she has looked at the stock already.",
              "A lock that ends by itself cannot stop her; only the database can."},
    .story_zh = {"小安拿到锁，读了库存：还剩一张。",
                 "她的整个进程停住了：垃圾回收、换页，或者机器太忙。",
                 "小安的租约到期，小博拿到锁，买走了最后一张。",
                 "小安醒来接着写，因为库存她早就看过了。",
                 "会自己过期的锁拦不住小安，只有数据库拦得住。"},
    .actors = {"Ann", "Bo"},
    .breaks = SIGNS_TWO_INSIDE,
    .earlier_fences = 32,
    .play = play,
};
