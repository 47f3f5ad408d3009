/* SPDX-License-Identifier: MIT */
/* fence_kept.c -- Redis forgets the counter of fences, which goes on from an epoch that
 * the database has kept. */
#include "loadtest/scenario/scenario.h"

/* Redis forgets; `next` takes the lock, and has a higher fence than ever was given. */
static void forget_and_take(struct stage *s, struct actor *next, uint64_t *highest)
{
    stage_server_hurt(s, "redis-restart-empty", stage_lock_server(s, 0), 0);
    stage_need(s, actor_try_until_answered(next) == DLOCK_OK,
               "the next one is to get in");
    stage_need(s, actor_fence(next) > *highest, "the fence is to be the highest so far");
    *highest = actor_fence(next);
}

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1),
                 *chu = stage_actor(s, 2);
    uint64_t highest;

    stage_tell(s, "Ann takes the lock.  Its fence begins at an epoch of the database.",
               "小安拿到锁。栅栏令牌从数据库发的纪元起算。");
    actor_enter(ann);
    highest = actor_fence(ann);
    actor_read(ann);
    stage_tell(s, "Redis restarts empty.  For the next fence it needs a new epoch.",
               "Redis 清空重启。要发下一个栅栏令牌，得领一个新纪元。");
    forget_and_take(s, bo, &highest);
    actor_buy(bo);
    stage_tell(s, "Ann writes as she had decided, under the older fence.",
               "小安照原来的打算写库，用的是旧栅栏令牌。");
    actor_buy(ann);
    stage_tell(s, "Redis restarts empty once more.  Chu takes the lock, and is not "
                  "refused.",
               "Redis 再次清空重启。小楚拿到锁，没有被误拒。");
    forget_and_take(s, chu, &highest);
    stage_need(s, actor_buy(chu) == SALE_SOLD, "the holder's write is to be accepted");
    actor_leave(chu);
    actor_release(bo);
    actor_release(ann);
}

const struct scenario scenario_fence_kept = {
    .name = "fence-kept",
    .number = "S13b",
    .title = "The lock is lost, and the fence is kept",
    .title_zh = "锁丢了，栅栏令牌还在",
    .source = "the answer to a fence that is lost with the lock",
    .story = {"The counter in Redis begins at an epoch, drawn from PostgreSQL.",
              "Redis restarts empty: the lock is gone, and the counter too.",
              "The next holder draws a new epoch, above all fences given before.",
              "Ann still believes in her lease, and her write is refused; Bo's is accepted.",
              "Ann and Bo hold the lock at once all the same; the database prevents harm."},
    .story_zh = {"Redis 的计数器从一个纪元起算，纪元由 PostgreSQL 发。",
                 "Redis 清空重启：锁没了，计数器也没了。",
                 "下一个持有者领到新纪元，比发过的编号都大。",
                 "小安还以为租约有效，写入被拒绝；小博照常成交。",
                 "小安和小博仍然同时持有锁，是数据库避免了损害。"},
    .actors = {"Ann", "Bo", "Chu"},
    .breaks = SIGN_FENCE | SIGN_TWO_HOLDERS,
    .stock = 2,
    .guard = &guard_fence,
    .lease_ms = 20000,
    .has_fence_epochs = true,
    .needs_own_servers = true,
    .play = play,
};
