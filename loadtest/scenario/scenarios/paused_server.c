/* SPDX-License-Identifier: MIT */
/* paused_server.c -- the server stops for longer than a lease, and then carries out all
 * waiting requests at once. */
#include "loadtest/scenario/scenario.h"

enum { LEASES = 2, ETCD_LATE_MS = 2000 };

/* Longer than the lease at the server: etcd counts in whole seconds, and ends a lease up to two
 * seconds later than its holder does. */
static int64_t silence_ms(const struct stage *s)
{
    return LEASES * (int64_t)stage_lease_ms(s) +
           (stage_store(s) == DLOCK_STORE_ETCD ? ETCD_LATE_MS : 0);
}

static int begin_silence(struct stage *s)
{
    bool is_redis = stage_store(s) == DLOCK_STORE_REDIS ||
                    stage_store(s) == DLOCK_STORE_REDIS_NODES;

    return stage_server_hurt(s, is_redis ? "client-pause" : "server-stop",
                             stage_lock_server(s, 0),
                             is_redis ? silence_ms(s) : 0);
}

/* A run in which this machine was later than a lease says nothing of the lock. */
static void four_renew(struct stage *s, struct actor *ann, struct actor *bo, bool is_in)
{
    stage_need_in_time(s, actor_is_protected(ann), "four servers were to renew");
    stage_tell(s, "The four other servers went on renewing: Bo does not get the lock.",
               "另外四台一直在续期：小博拿不到锁。");
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
    stage_tell(s, "A server falls silent, for at least two leases.  Bo asks meanwhile.",
               "一台服务器沉默了至少两个租约之久。其间小博来申请锁。");
    silence = begin_silence(s);
    actor_begin_acquire(bo, 2 * silence_ms(s));
    stage_pass_ms(s, silence_ms(s));
    stage_server_end(s, silence);
    is_in = actor_end(bo) == DLOCK_OK;
    if (stage_has(s, DLOCK_CAP_QUORUM)) {
        four_renew(s, ann, bo, is_in);
        return;
    }
    stage_need_in_time(s, is_in, "Bo was to be let in");
    stage_tell(s, "The server goes on: Ann's renewal is refused, and Bo gets the lock "
                  "and buys.",
               "服务器恢复：小安的续期被拒绝，小博拿到锁，买走一张。");
    actor_buy(bo);
    stage_tell(s, "Ann was at work all the time, and writes as well.",
               "小安一直在干活，也写了下去。");
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
              "When the server goes on, Ann's lease is over, and the renewal is refused.",
              "Bo's request waited at the server, and gets the lock at that moment.",
              "No client stopped.  With Redlock, four of five servers would have renewed."},
    .story_zh = {"小安在干活，看门狗按时续期。",
                 "服务器沉默了：什么都不执行，时钟却在走。",
                 "等服务器恢复，小安的租约已过，续期被拒绝。",
                 "小博的申请一直排在服务器上，这一刻拿到了锁。",
                 "没有哪个客户端停过。若是红锁，五台中有四台会照常续期。"},
    .breaks = SIGNS_TWO_INSIDE,
    .lease_ms = 600,
    .store_timeout_ms = 8000,
    .node_timeout_ms = 150,
    .needs_own_servers = true,
    .play = play,
};
