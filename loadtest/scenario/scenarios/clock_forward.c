/* SPDX-License-Identifier: MIT */
/* clock_forward.c -- the clock of the server jumps ahead, and the lease is over. */
#include "loadtest/scenario/scenario.h"

enum { HOUR_MS = 3600000, MAJORITY = 3 };

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);
    int count = stage_store(s) == DLOCK_STORE_REDIS ? 1 : MAJORITY;
    int clocks[MAJORITY];

    for (int i = 0; i < count; i++)
        clocks[i] = stage_server_arm(s, "clock", stage_lock_server(s, i), HOUR_MS);
    stage_tell(s, "Ann takes the lock for twenty seconds, and reads the stock.",
               "小安拿到锁，租约二十秒，读了库存。");
    stage_need(s, actor_try_until_answered(ann) == DLOCK_OK, "Ann is to get in");
    actor_read(ann);
    stage_tell(s, "The server's wall clock is set an hour ahead.",
               "服务器的系统时钟被拨快了一小时。");
    stage_server_begin(s, clocks[0]);
    if (count > 1) {
        stage_need(s, actor_try_until_answered(bo) == DLOCK_BUSY,
                   "one clock of five is to harm nobody");
        stage_tell(s, "One clock of five did no harm.  Now three clocks are ahead.",
                   "五台里错一台没有害处。现在错了三台。");
    }
    for (int i = 1; i < count; i++)
        stage_server_begin(s, clocks[i]);
    stage_tell(s, "By the clock that jumped, Ann's lease is long over.  Bo asks for "
                  "the lock.",
               "按跳变后的时钟，小安的租约早就过了。小博来申请锁。");
    actor_walk_in(bo, ann);
}

const struct scenario scenario_clock_forward = {
    .name = "clock-forward",
    .number = "S14",
    .title = "The server's clock jumps ahead",
    .title_zh = "服务器时钟被拨快",
    .source = "Kleppmann 2016 on Redlock and clocks; Redis keeps ends as wall time",
    .story = {"Ann takes the lock for twenty seconds.",
              "The server's clock is set an hour ahead.",
              "Redis keeps the instant at which a key expires: it is long past.",
              "Bo gets the lock at once, while Ann has nineteen seconds left.",
              "Redlock survives one such clock of five, and does not survive three."},
    .story_zh = {"小安拿到锁，租约二十秒。",
                 "服务器的系统时钟被拨快了一小时。",
                 "Redis 记的是键到期的时刻：那早就过去了。",
                 "小博立刻拿到锁，而小安明明还剩十九秒。",
                 "五台里错一台，红锁撑得住；错三台就不行了。"},
    .breaks = SIGN_TWO_HOLDERS,
    .lease_ms = 20000,
    .needs_own_servers = true,
    .play = play,
};
