/* SPDX-License-Identifier: MIT */
/* dies_at_level_two.c -- the holder of a re-entrant lock dies with a hold count of 2. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);

    stage_tell(s, "Ann takes the lock, and takes it again in an inner call.",
               "小安拿到锁，又在内层调用里再拿一次。");
    actor_enter(ann);
    stage_need_in_time(s, actor_try(ann) == DLOCK_OK, "Ann is let in again");
    stage_tell(s, "Ann dies holding two levels, which nobody will release.",
               "小安死了：还占着两层，没人会来释放。");
    actor_kill(ann);
    stage_need_in_time(s, actor_try(bo) == DLOCK_BUSY, "Ann's lease was to last");
    stage_need_in_time(s, actor_outwait(bo) == DLOCK_OK, "Bo is to get in after Ann's lease");
    stage_sign(s, SIGN_LEASE_WAITED, "nothing tells the store that Ann is dead");
    actor_leave(bo);
}

const struct scenario scenario_dies_at_level_two = {
    .name = "dies-at-level-two",
    .number = "S36c",
    .title = "The holder dies while it has the lock twice",
    .title_zh = "重入两层时持有者死了",
    .source = "the articles on re-entry: what becomes of the count",
    .story = {"Ann holds the lock twice: an outer and an inner call.",
              "Ann dies before either call releases the lock.",
              "The store still counts two.",
              "The lock has one lease, whatever the count: it ends for both levels.",
              "Bo gets the lock after one lease, with a count that begins at one."},
    .story_zh = {"小安两次持有锁：外层一次，内层一次。",
                 "两层都没释放，小安就死了。",
                 "存储里的重入次数还是二。",
                 "但不管几层，租约只有一个：到期时两层一起结束。",
                 "一个租约之后小博拿到锁，重入次数从一开始。"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_TWICE,
    .lease_ms = 800,
    .play = play,
};
