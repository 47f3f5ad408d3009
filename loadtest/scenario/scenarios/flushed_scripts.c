/* SPDX-License-Identifier: MIT */
/* flushed_scripts.c -- the server has forgotten the scripts when they are needed. */
#include "loadtest/scenario/scenario.h"

static void flush(struct stage *s)
{
    const char *first = stage_lock_server(s, 0), *server = first;

    for (int node = 0; server != NULL && (node == 0 || server != first);
         server = stage_lock_server(s, ++node))
        stage_server_hurt(s, "script-flush", server, 0);
}

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);

    stage_tell(s, "Ann and Bo have used the lock: their scripts are loaded.",
               "小安和小博都用过这把锁：脚本已经加载。");
    actor_enter(bo);
    actor_leave(bo);
    actor_enter(ann);
    if (stage_has(s, DLOCK_CAP_RENEW))
        stage_need(s, actor_renew(ann) == DLOCK_OK, "Ann can renew");
    stage_tell(s, "The server drops all scripts.  Ann does not know that.",
               "服务器清掉了所有脚本，小安并不知道。");
    flush(s);
    if (stage_has(s, DLOCK_CAP_RENEW) && actor_renew(ann) != DLOCK_OK)
        stage_sign(s, SIGN_CALL_REFUSED, "a renewal failed for want of its script");
    stage_tell(s, "Ann releases the lock, and Bo asks for it at once.",
               "小安释放锁，小博马上来申请。");
    if (actor_release(ann) == DLOCK_OK && actor_try(bo) == DLOCK_OK) {
        actor_leave(bo);
        return;
    }
    actor_enter(bo);
    stage_sign(s, SIGN_LEASE_WAITED, "the release came to nothing");
    actor_leave(bo);
}

const struct scenario scenario_flushed_scripts = {
    .name = "flushed-scripts",
    .number = "S20",
    .title = "The server drops the scripts",
    .title_zh = "服务器清掉了 Lua 脚本",
    .source = "Redis manual: the script cache is always volatile",
    .story = {"Ann's release is a script, which the server knows by its hash.",
              "After SCRIPT FLUSH, a restart or a fail-over, the server knows no script.",
              "The server answers NOSCRIPT to Ann's renewal and to her release.",
              "A library that gives up at NOSCRIPT leaves the lock to its lease.",
              "A library that then sends the script itself loses nothing."},
    .story_zh = {"小安的释放是一段脚本，服务器凭哈希认得它。",
                 "SCRIPT FLUSH、重启或换主之后，服务器一个脚本都不认得。",
                 "小安续期、释放，得到的都是 NOSCRIPT。",
                 "库若就此放弃，锁只能等租约到期。",
                 "库若随即把脚本全文发过去，就什么也没耽误。"},
    .breaks = SIGNS_TWO_INSIDE,
    .lease_ms = 10000,
    .needs_own_servers = true,
    .play = play,
};
