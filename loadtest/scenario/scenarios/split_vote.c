/* SPDX-License-Identifier: MIT */
/* split_vote.c -- three ask five servers at once, and nobody gets a majority. */
#include <string.h>

#include "loadtest/probe/redis_connection.h"
#include "loadtest/scenario/scenario.h"

enum { CLIENTS = 3, NODES = 5, TOKEN_MAX = 80, LOOK_MS = 5 };

/* The client that is heard first at each server. */
static const int first_at[NODES] = {0, 0, 1, 1, 2};

/* The owner of the token on that server; false: the server has no token yet. */
static bool read_vote(struct stage *s, int node, char token[TOKEN_MAX])
{
    const struct lab_server *server =
        lab_find_server(stage_lab(s), stage_lock_server(s, node));
    struct redis_side *side = redis_side_open(stage_lab(s), server, REDIS_SIDE_MS);
    bool there = redis_side_ask(side, "GET %s", stage_lock_name(s)) == REDIS_SAID;

    snprintf(token, TOKEN_MAX, "%s", redis_side_text(side));
    redis_side_close(side);
    return there;
}

/* Every server has voted, and the votes are 2, 2 and 1. */
static void need_split(struct stage *s)
{
    int64_t by_ms = stage_now_ms(s) + SCENARIO_STEP_MS;
    char votes[NODES][TOKEN_MAX];

    for (int node = 0; node < NODES; node++)
        while (!read_vote(s, node, votes[node])) {
            stage_need(s, stage_now_ms(s) < by_ms, "every server is to vote");
            stage_pass_ms(s, LOOK_MS);
        }
    for (int a = 0; a < NODES; a++)
        for (int b = 0; b < a; b++)
            stage_need(s,
                       (strcmp(votes[a], votes[b]) == 0) == (first_at[a] == first_at[b]),
                       "the votes are to be split");
}

/* The next client that gets in buys and leaves. */
static void serve_one(struct stage *s, bool is_served[CLIENTS])
{
    for (;; stage_pass_ms(s, LOOK_MS))
        for (int i = 0; i < CLIENTS; i++) {
            struct actor *a = stage_actor(s, i);

            if (is_served[i] || !actor_has_ended(a))
                continue;
            is_served[i] = true;
            stage_need(s, actor_end(a) == DLOCK_OK, "everybody is to be served");
            actor_buy(a);
            actor_leave(a);
            return;
        }
}

static void play(struct stage *s)
{
    bool is_served[CLIENTS] = {false};

    stage_tell(s, "Ann, Bo and Chu ask at once.  Each is heard first at some of the "
                  "servers.",
               "小安、小博、小楚同时申请，各自先到了其中几台。");
    for (int i = 0; i < CLIENTS; i++)
        for (int node = 0; node < NODES; node++)
            if (first_at[node] != i)
                actor_wire_node(stage_actor(s, i), node, "hold to-server");
    for (int i = 0; i < CLIENTS; i++)
        actor_begin_acquire(stage_actor(s, i), SCENARIO_STEP_MS / 2);
    need_split(s);
    stage_tell(s, "All five have voted: two for Ann, two for Bo, one for Chu.",
               "五台都投了票：小安两票，小博两票，小楚一票。");
    for (int i = 0; i < CLIENTS; i++)
        for (int node = 0; node < NODES; node++)
            if (first_at[node] != i)
                actor_wire_node(stage_actor(s, i), node, "release to-server");
    stage_tell(s, "Nobody has three votes.  Each gives back what it got, and waits a "
                  "while.",
               "谁也没凑够三票。各自退回已得的票，等一会儿再来。");
    for (int i = 0; i < CLIENTS; i++)
        serve_one(s, is_served);
}

const struct scenario scenario_split_vote = {
    .name = "split-vote",
    .number = "S18",
    .title = "Nobody has a majority",
    .title_zh = "谁也没过半",
    .source = "Redis' specification of Redlock: why to retry after a random delay",
    .story = {"Ann, Bo and Chu ask five servers at the same moment.",
              "Two vote for Ann, two for Bo, one for Chu: no majority.",
              "Each has to give its votes back, or nobody gets the lock within that lease.",
              "If all three asked again at once, the votes would be split again.",
              "So each waits for a random time, and soon all three get the lock."},
    .story_zh = {"小安、小博、小楚同一刻向五台服务器申请。",
                 "小安两票，小博两票，小楚一票：谁也没过半。",
                 "各自都得把票退回去，否则这个租约内谁也拿不到锁。",
                 "若三个又同时来，只会再一次谁也没过半。",
                 "所以各自随机等一会儿，很快都拿到了锁。"},
    .actors = {"Ann", "Bo", "Chu"},
    .breaks = SIGNS_TWO_INSIDE,
    .stock = CLIENTS,
    .lease_ms = SCENARIO_LONG_MS,
    .store_timeout_ms = 9000,
    .play = play,
};
