/* SPDX-License-Identifier: MIT */
/* client_clock.c -- the wall clock of one client jumps; the servers' clocks do not. */
#include "loadtest/scenario/scenario.h"

enum { HOUR_MS = 3600 * 1000 };

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);

    stage_open_sale(s, ann);
    stage_tell(s, "Bo's wall clock jumps an hour ahead.  Bo asks for the lock.",
               "小博的系统时钟突然快了一小时。小博来申请锁。");
    actor_shift_clock(bo, HOUR_MS);
    if (actor_try_until_answered(bo) == DLOCK_OK) {
        stage_tell(s, "By Bo's clock Ann's lease is long over: Bo takes the lock, and "
                      "buys.",
                   "按小博的钟，小安的租约早过了：小博接管了锁，买走一张。");
        actor_buy(bo);
        stage_need_in_time(s, actor_is_protected(ann), "Ann's lease was to last");
        actor_buy(ann);
        actor_release(ann);
        actor_release(bo);
        return;
    }
    stage_tell(s, "This lock does not read Bo's clock.  Now Ann's clock jumps an hour "
                  "ahead.",
               "这把锁不看小博的时钟。现在小安的时钟也快了一小时。");
    actor_shift_clock(ann, HOUR_MS);
    stage_need_in_time(s, actor_is_protected(ann), "Ann's lease was to last");
    actor_buy(ann);
    actor_leave(ann);
    stage_tell(s, "Bo's clock is an hour behind now.  Bo does not wait an hour for "
                  "the lock.",
               "小博的时钟改为慢一小时。小博拿锁并不用等一小时。");
    actor_shift_clock(bo, -HOUR_MS);
    actor_enter(bo);
    actor_buy(bo);
    actor_leave(bo);
}

const struct scenario scenario_client_clock = {
    .name = "client-clock",
    .number = "S15",
    .title = "A client's clock jumps",
    .title_zh = "客户端时钟跳变",
    .source = "the articles on GETSET: \"the clocks of all clients have to agree\"",
    .story = {"Ann holds the lock, and its value is the time at which it ends.",
              "Bo's clock is set an hour ahead.",
              "Bo reads that time, finds it long past, and takes the lock over.",
              "Ann and Bo are both at work, and the last voucher is sold twice.",
              "A lease that the store counts by its own clock does not depend on Bo's."},
    .story_zh = {"小安拿着锁，锁的值就是它到期的时刻。",
                 "小博的时钟被拨快了一小时。",
                 "小博读出那个时刻，觉得早过了，便接管了锁。",
                 "小安和小博同时在干活，最后一张券卖了两次。",
                 "租约若由存储按自己的时钟计算，就与小博的时钟无关。"},
    .breaks = SIGNS_TWO_INSIDE,
    .lease_ms = 5000,
    .play = play,
};
