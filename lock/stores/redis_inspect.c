/* SPDX-License-Identifier: MIT */
/* redis_inspect.c -- looking at locks in Redis, and freeing them by force. */
#include "lock/stores/redis_inspect.h"

#include <stdio.h>
#include <string.h>

#include "gen/lua_scripts.h"
#include "lock/info.h"

static const struct redis_script STRING_INSPECT = {.text = LUA_STRING_INSPECT};
static const struct redis_script STRING_FORCE = {.text = LUA_STRING_FORCE};

static bool read_answer(const struct redis_answer *answer, dlock_info *out)
{
    *out = dlock_info_nothing();
    return answer->kind == REDIS_NIL || dlock_info_read(answer->text, out);
}

dlock_status redis_inspect_by(struct redis_link *link,
                              const struct redis_script_call *call, dlock_info *out)
{
    struct redis_answer answer;
    dlock_status st = redis_script_run(link, call, INT64_MAX, &answer);

    if (st != DLOCK_OK)
        return st;
    if (!read_answer(&answer, out))
        return dlock_fail(DLOCK_PROTOCOL, "%s: the key of this name is no lock of this variant",
                          redis_link_label(link));
    return DLOCK_OK;
}

struct redis_script_call redis_string_call(const char *name)
{
    struct redis_script_call call = {&STRING_INSPECT, true, 1, 1, {name},
                                     REDIS_SHAPE_INSPECT_OR_NIL};

    return call;
}

dlock_status redis_string_inspect(void *link, const char *name, dlock_info *out)
{
    struct redis_script_call call = redis_string_call(name);

    return redis_inspect_by(link, &call, out);
}

struct redis_script_call redis_string_force_call(const char *name)
{
    struct redis_script_call call = {&STRING_FORCE, true, 1, 1, {name}, REDIS_SHAPE_YES_NO};

    return call;
}

dlock_status redis_string_force(void *link, const char *name)
{
    struct redis_script_call call = redis_string_force_call(name);

    return redis_script_ask(link, &call, INT64_MAX);
}

/* Count the entries of `seen` with the same owner as the nth.  *left_ms is the
 * `quorum`th longest of their times left: after that time the owner has no majority any
 * more. */
static int count_same(const dlock_info *seen, int count, int nth, int quorum,
                      int64_t *left_ms)
{
    int same = 0;

    for (int i = 0; i < count; i++) {
        int longer = 0;

        if (!seen[i].locked || strcmp(seen[i].owner, seen[nth].owner) != 0)
            continue;
        same++;
        for (int k = 0; k < count; k++)
            if (seen[k].locked && strcmp(seen[k].owner, seen[nth].owner) == 0 &&
                (seen[k].left_ms > seen[i].left_ms ||
                 (k < i && seen[k].left_ms == seen[i].left_ms)))
                longer++;
        if (longer == quorum - 1)
            *left_ms = seen[i].left_ms;
    }
    return same;
}

/* The facts that a majority of `node_count` agrees on. */
static dlock_info majority(const dlock_info *seen, int count, int node_count)
{
    int quorum = node_count / 2 + 1;

    for (int i = 0; i < count; i++) {
        int64_t left_ms = 0;

        if (seen[i].locked &&
            count_same(seen, count, i, quorum, &left_ms) >= quorum) {
            dlock_info info = seen[i];

            info.left_ms = left_ms;
            return info;
        }
    }
    return dlock_info_nothing();
}

/* The state if every server that answered has some holder: that of the first server,
 * with the shortest time left, because after that time the lock is not held on all
 * servers. */
static dlock_info all_held(const dlock_info *seen, int count)
{
    dlock_info info = seen[0];

    for (int i = 0; i < count; i++) {
        if (!seen[i].locked)
            return dlock_info_nothing();
        if (seen[i].left_ms < info.left_ms)
            info.left_ms = seen[i].left_ms;
    }
    return info;
}

dlock_status redis_nodes_inspect(struct redis_nodes *nodes,
                                 const struct redis_script_call *call,
                                 enum redis_owner owner, dlock_info *out)
{
    struct redis_leg legs[REDIS_NODES_MAX] = {0};
    dlock_info seen[REDIS_NODES_MAX];
    struct redis_vote vote = {.failure = DLOCK_IO};
    int count = 0;

    for (int i = 0; i < nodes->count; i++) {
        legs[i].link = nodes->links[i];
        legs[i].despite_failure = true;
    }
    redis_script_exchange(legs, (size_t)nodes->count, call, INT64_MAX);
    for (int i = 0; i < nodes->count; i++) {
        const struct redis_answer *answer = &legs[i].answer;

        if (answer->outcome == REDIS_ANSWERED && read_answer(answer, &seen[count])) {
            count++;
            continue;
        }
        vote.refused += redis_status(answer->outcome) == DLOCK_PROTOCOL;
        snprintf(vote.why, sizeof(vote.why), "%s", answer->text);
    }
    vote.yes = count;
    if (count < nodes->count / 2 + 1)
        return redis_nodes_failed(nodes, &vote);
    *out = majority(seen, count, nodes->count);
    if (!out->locked && owner == REDIS_OWNER_OF_EACH)
        *out = all_held(seen, count);
    return DLOCK_OK;
}

dlock_status redis_nodes_force(struct redis_nodes *nodes,
                               const struct redis_question *question)
{
    uint64_t all = (UINT64_C(1) << nodes->count) - 1;
    struct redis_vote vote = redis_nodes_ask_again(nodes, all, question, INT64_MAX);

    if (vote.yes + vote.no < nodes->quorum)
        return redis_nodes_failed(nodes, &vote);
    return vote.yes > 0 ? DLOCK_OK : DLOCK_LOST;
}
