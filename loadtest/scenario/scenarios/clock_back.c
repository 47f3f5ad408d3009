/* SPDX-License-Identifier: MIT */
/* clock_back.c -- the clock of the server is set back, and the lock of the dead stays. */
#include "loadtest/scenario/scenario.h"

enum { HOUR_MS = 3600000 };

/* True: a waiter would wait far longer than a lease.  A single server can be asked for the
 * time that is left; with several servers, only a wait shows it. */
static bool is_stuck(struct stage *s, struct actor *bo)
{
    if (stage_store(s) == DLOCK_STORE_REDIS) {
        int64_t left_ms = actor_inspect(bo).left_ms;

        stage_need_in_time(s, left_ms > 0, "Ann's lease was to last");
        return left_ms > HOUR_MS / 2;
    }
    if (actor_acquire(bo, 2 * stage_lease_ms(s)) != DLOCK_OK)
        return true;
    actor_release(bo);
    return false;
}

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);
    int clock = stage_server_arm(s, "clock", stage_lock_server(s, 0), -HOUR_MS);

    stage_tell(s, "Ann takes the lock, with a lease of two seconds, and dies.",
               "小安拿到锁，租约两秒，随后死去。");
    stage_need(s, actor_try_until_answered(ann) == DLOCK_OK, "Ann is to get in");
    actor_kill(ann);
    stage_tell(s, "The server's wall clock is set back by an hour.",
               "服务器的系统时钟被回拨了一小时。");
    stage_server_begin(s, clock);
    stage_tell(s, "Ann is dead.  Bo finds out when her lock ends.",
               "小安已死。小博来看这把锁什么时候到期。");
    if (!is_stuck(s, bo))
        return;
    stage_sign(s, SIGN_LEASE_WAITED, "a lease of two seconds has an hour to go");
    stage_tell(s, "Nobody could get the lock for an hour.  The clock is put right.",
               "一小时内谁也拿不到锁。时钟被拨回正确的时间。");
    stage_server_end(s, clock);
    stage_need(s, actor_inspect(bo).left_ms <= stage_lease_ms(s),
               "the lock is to end within a lease again");
}

const struct scenario scenario_clock_back = {
    .name = "clock-back",
    .number = "S14b",
    .title = "The server's clock is set back",
    .title_zh = "服务器时钟回拨",
    .source = "reports of locks that do not end after a clock was corrected",
    .story = {"Ann takes the lock for two seconds and dies.",
              "The server's clock is set back by an hour.",
              "Redis keeps the instant at which a key expires: an hour away now.",
              "Nobody holds the lock, and nobody can have it for that hour.",
              "Redlock needs a majority, and does not wait for one server with a wrong clock."},
    .story_zh = {"小安拿到锁，租约两秒，随后死去。",
                 "服务器的系统时钟被回拨了一小时。",
                 "Redis 记的是键到期的时刻：现在还差一小时。",
                 "没有人持有锁，这一小时里也没人拿得到。",
                 "红锁只要多数派，不会去等时钟出错的那一台。"},
    .breaks = SIGNS_TWO_INSIDE,
    .lease_ms = 2000,
    .needs_own_servers = true,
    .play = play,
};
