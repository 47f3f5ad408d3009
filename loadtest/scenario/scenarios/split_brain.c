/* SPDX-License-Identifier: MIT */
/* split_brain.c -- two primaries grant locks for a while; then the old primary becomes a
 * replica. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);
    int split = stage_server_arm(s, "redis-split-brain", stage_lock_server(s, 0), 0);
    bool is_in;

    stage_tell(s, "Ann takes the lock on the master.", "小安在主节点上拿到锁。");
    actor_enter(ann);
    actor_read(ann);
    stage_tell(s, "The network parts.  Ann stays with the master; the replica is "
                  "promoted.",
               "网络断成两半。小安留在主节点那边，从节点被提升了。");
    stage_server_begin(s, split);
    stage_tell(s, "Bo is on the side of the new master, and asks for the lock there.",
               "小博在新主节点那边，在那里申请锁。");
    actor_wire_node(bo, 0, "cut to-server at split-brain"); /* a part of the name */
    is_in = actor_try_until_answered(bo) == DLOCK_OK;
    actor_await_wire(bo, WIRE_LOCK);
    if (is_in)
        actor_buy(bo);
    if (stage_has(s, DLOCK_CAP_RENEW)) {
        stage_tell(s, "Ann renews.  The old master agrees: it knows of no other holder.",
                   "小安续期。旧主节点同意：在它看来只有小安一个持有者。");
        stage_need(s, actor_renew(ann) == DLOCK_OK, "the old master is to renew");
    }
    actor_buy(ann);
    stage_tell(s, "The network is whole again.  The old master becomes a replica, and "
                  "drops its locks.",
               "网络恢复。旧主节点变成从节点，它给出的锁全部作废。");
    stage_server_end(s, split);
    if (is_in)
        actor_leave(bo);
    actor_release(ann);
}

const struct scenario scenario_split_brain = {
    .name = "split-brain",
    .number = "S35",
    .title = "Two masters, and the old one returns",
    .title_zh = "脑裂：两个主节点，旧的又回来了",
    .source = "the articles on split brain; Redis on what a failover loses",
    .story = {"Ann has the lock, and the network parts between the servers.",
              "On the other side the replica is promoted: there are two masters.",
              "Bo gets the lock from the new master; the old master still renews Ann's.",
              "When the network heals, the old master becomes a replica.",
              "All locks of the old master are lost, and Ann learns of it too late."},
    .story_zh = {"小安拿着锁，服务器之间的网络断成两半。",
                 "另一边的从节点被提升：现在有两个主节点。",
                 "小博从新主节点拿到锁，旧主节点照样给小安续期。",
                 "网络恢复后，旧主节点变成从节点。",
                 "旧主节点给出的锁都作废，小安得知时已经晚了。"},
    .breaks = SIGN_TWO_HOLDERS,
    .lease_ms = 20000,
    .needs_own_servers = true,
    .play = play,
};
