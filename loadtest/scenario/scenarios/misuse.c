/* SPDX-License-Identifier: MIT */
/* misuse.c -- a thread releases another's lease, and a holder releases twice. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1),
                 *chu = stage_actor(s, 2), *dee = stage_actor(s, 3);
    bool refuses;

    stage_tell(s, "Ann takes the lock, and lets another thread release her lease.",
               "小安拿到锁，让另一个线程去释放。");
    actor_enter(ann);
    refuses = actor_release_for(bo, ann) == DLOCK_INVALID;
    if (!stage_keeps_out(s, ann, chu))
        return;
    if (stage_has(s, DLOCK_CAP_REENTRANT)) {
        stage_tell(s, "The lock is re-entrant: Ann takes it once more, and releases "
                      "it twice.",
                   "这把锁可重入，小安再拿一次，共释放两次。");
        actor_enter(ann);
        actor_leave(ann);
    }
    actor_leave(ann);
    stage_tell(s, "The lock is Chu's now.  Ann releases once more.",
               "锁归小楚了。小安又释放了一次。");
    actor_enter(chu);
    refuses = actor_release_again(ann) == DLOCK_INVALID && refuses;
    refuses = actor_release(ann) == DLOCK_INVALID && refuses;
    if (!stage_keeps_out(s, chu, dee))
        return;
    actor_leave(chu);
    if (refuses)
        stage_sign(s, SIGN_CALL_REFUSED, "every wrong call was answered: invalid");
}

const struct scenario scenario_misuse = {
    .name = "misuse",
    .number = "S36b",
    .title = "Released by another, and once too often",
    .title_zh = "别人来释放，以及多释放一次",
    .source = "users of Redisson: IllegalMonitorStateException, and what leads to it",
    .story = {"Ann passes her lease to another thread, which releases it.",
              "The call is refused, and Ann still holds the lock.",
              "Ann releases, and Chu takes the lock; then Ann releases once more.",
              "A DEL at that moment would free Chu's lock.",
              "The library knows what it has granted, and sends nothing."},
    .story_zh = {"小安把租约交给另一个线程去释放。",
                 "调用被拒绝，锁还在小安手里。",
                 "小安释放后小楚拿到锁，小安却又释放了一次。",
                 "这时若发出 DEL，删掉的就是小楚的锁。",
                 "库记得自己给出过什么，于是什么也不发。"},
    .actors = {"Ann", "+Bo", "Chu", "Dee"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_FOREIGN | SIGN_LOST_EARLY,
    .lease_ms = 20000,
    .play = play,
};
