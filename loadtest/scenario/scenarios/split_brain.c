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
    stage_tell(s, "The network parts.  Ann stays with the master; a replica rises.",
               "网络断成两半。小安留在主节点那边，从节点被提升了。");
    stage_server_begin(s, split);
    stage_tell(s, "Bo is on the other side, where the new master is.  He asks.",
               "小博在另一边，也就是新主节点那边。他来申请锁。");
    actor_wire_node(bo, 0, "cut to-server at split-brain"); /* a part of the name */
    is_in = actor_try_until_answered(bo) == DLOCK_OK;
    if (is_in)
        actor_buy(bo);
    if (stage_has(s, DLOCK_CAP_RENEW)) {
        stage_tell(s, "Ann renews.  Her master says yes: to it she is the only one.",
                   "小安续租。她的主节点说行：在它看来只有她一个人。");
        stage_need(s, actor_renew(ann) == DLOCK_OK, "the old master is to renew");
    }
    actor_buy(ann);
    stage_tell(s, "The network is whole again.  The old master gives in, and forgets.",
               "网络恢复。旧主节点认输，忘掉了它给出的一切。");
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
              "Bo gets the lock from the new one; Ann's still renews hers.",
              "When the network heals, the old master becomes a replica.",
              "All that it granted is forgotten; one is told so only when it is late."},
    .story_zh = {"小安拿着锁，服务器之间的网络断成两半。",
                 "另一边的从节点被提升：现在有两个主节点。",
                 "小博从新主节点拿到锁，小安那边照样给她续租。",
                 "网络恢复后，旧主节点变成从节点。",
                 "它给出的一切都作废，当事人知道时已经晚了。"},
    .actors = {"Ann", "Bo"},
    .breaks = SIGN_TWO_HOLDERS,
    .lease_ms = 20000,
    .needs_own_servers = true,
    .play = play,
};
