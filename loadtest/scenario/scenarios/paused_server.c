/* SPDX-License-Identifier: MIT */
/* paused_server.c -- the server stops for longer than a lease, and then carries out all
 * waiting requests at once. */
#include "loadtest/scenario/scenario.h"

enum { LEASES = 2 };

/* Silent for so many leases. */
static int begin_silence(struct stage *s)
{
    bool is_redis = stage_store(s) == DLOCK_STORE_REDIS ||
                    stage_store(s) == DLOCK_STORE_REDIS_NODES;

    return stage_server_hurt(s, is_redis ? "client-pause" : "server-stop",
                             stage_lock_server(s, 0),
                             is_redis ? LEASES * (int64_t)stage_lease_ms(s) : 0);
}

/* A run in which this machine was later than a lease says nothing of the lock. */
static void four_renew(struct stage *s, struct actor *ann, struct actor *bo, bool is_in)
{
    stage_need_in_time(s, actor_is_protected(ann), "four servers were to renew");
    stage_tell(s, "The four others went on renewing: Bo stays outside.",
               "另外四台一直在续期：小博还在外面。");
    if (is_in)
        actor_buy(bo);
    actor_buy(ann);
    actor_release(ann);
    if (is_in)
        actor_release(bo);
}

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);
    int silence;
    bool is_in;

    stage_tell(s, "Ann has the lock; her watchdog renews it.", "小安拿着锁，看门狗在续期。");
    actor_enter(ann);
    actor_read(ann);
    stage_tell(s, "A server falls silent, for two leases.  Bo asks meanwhile.",
               "一台服务器沉默了两个租约之久。其间小博来申请锁。");
    silence = begin_silence(s);
    actor_begin_acquire(bo, 2 * LEASES * (int64_t)stage_lease_ms(s));
    stage_pass_ms(s, LEASES * (int64_t)stage_lease_ms(s));
    stage_server_end(s, silence);
    is_in = actor_end(bo) == DLOCK_OK;
    if (stage_has(s, DLOCK_CAP_QUORUM)) {
        four_renew(s, ann, bo, is_in);
        return;
    }
    stage_need_in_time(s, is_in, "Bo was to be let in");
    stage_tell(s, "The server goes on: the renewal is refused, and Bo is let in.  He buys.",
               "它恢复了：续期被拒，小博被放行。他买走一张。");
    actor_buy(bo);
    stage_tell(s, "Ann, who was at work all the time, writes as well.",
               "一直在干活的小安也写了下去。");
    actor_buy(ann);
    actor_release(ann);
    actor_release(bo);
}

const struct scenario scenario_paused_server = {
    .name = "paused-server",
    .number = "S8",
    .title = "The server is silent for longer than a lease",
    .title_zh = "服务器沉默得比租约还久",
    .source = "Jepsen's pauses; CLIENT PAUSE, a fork to save, a slow script",
    .story = {"Ann is at work, and her watchdog renews in time.",
              "The server is silent: it carries out nothing, but its clock goes on.",
              "When it speaks again her lease is over, and the renewal is refused.",
              "Bo, whose request was next in line, is let in that very moment.",
              "No client stopped.  A majority of servers would not have been silent."},
    .story_zh = {"小安在干活，看门狗按时续期。",
                 "服务器沉默了：什么都不执行，它的钟却在走。",
                 "等它再开口，租约已过，续期被拒。",
                 "排在后面的小博，同一刻就被放了进来。",
                 "没有哪个客户端停过。若问的是多数派，它们不会一起沉默。"},
    .actors = {"Ann", "Bo"},
    .breaks = SIGNS_TWO_INSIDE,
    .lease_ms = 600,
    .store_timeout_ms = 8000,
    .node_timeout_ms = 150,
    .needs_own_servers = true,
    .play = play,
};
