/* SPDX-License-Identifier: MIT */
/* expired_lease.c -- the holder stops for longer than its lease, and writes when it
 * wakes. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *anna = stage_actor(s, 0), *ben = stage_actor(s, 1);

    stage_tell(s, "Anna takes the lock and sees that one voucher is left.",
               "安娜拿到锁，看到还剩一张券。");
    actor_enter(anna);
    actor_read(anna);
    stage_tell(s, "Her process stops, for longer than her lease lasts.",
               "她的进程停住了，停得比租约还久。");
    actor_stop(anna);
    stage_tell(s, "Ben wants to buy too, and waits for the lock.",
               "本也想买，等着拿锁。");
    if (actor_outwait(ben) != DLOCK_OK) {
        stage_tell(s, "Nobody gets in while Anna stands still.",
                   "安娜停着的时候，谁也进不来。");
        actor_continue(anna);
        actor_buy(anna);
        actor_leave(anna);
        actor_enter(ben);
        actor_buy(ben);
        actor_leave(ben);
        return;
    }
    stage_tell(s, "Ben has it, while Anna believes that it is hers; he buys the last one.",
               "本拿到了锁，而安娜以为锁还是她的；本买走了最后一张。");
    actor_buy(ben);
    stage_tell(s, "Anna wakes, knows nothing of it, and writes what she had in mind.",
               "安娜醒来，对此一无所知，照原来的打算写了下去。");
    actor_continue(anna);
    actor_buy(anna);
    actor_release(anna);
    actor_release(ben);
}

const struct scenario scenario_expired_lease = {
    .name = "expired-lease",
    .number = "S1",
    .title = "The lock expires while the work goes on",
    .title_zh = "活还没干完，锁先过期了",
    .source = "the articles' oversold case of a blocked thread; Kleppmann 2016",
    .story = {"Anna takes the lock and reads the stock: one is left.",
              "Her whole process stops: a garbage collection, a swap, a busy host.",
              "Her lease ends.  Ben takes the lock and buys the last one.",
              "Anna wakes and writes, for she has looked at the stock already.",
              "A lock that ends by itself cannot stop her; only the database can."},
    .story_zh = {"安娜拿到锁，读了库存：还剩一张。",
                 "她的整个进程停住了：垃圾回收、换页，或者机器太忙。",
                 "她的租约到期，本拿到锁，买走了最后一张。",
                 "安娜醒来接着写，因为库存她早就看过了。",
                 "会自己过期的锁拦不住她，只有数据库拦得住。"},
    .actors = {"Anna", "Ben"},
    .breaks = SIGNS_TWO_INSIDE,
    .earlier_fences = 32,
    .play = play,
};
