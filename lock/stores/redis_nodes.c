/* SPDX-License-Identifier: MIT */
/* redis_nodes.c -- one question to several independent Redis servers. */
#include "lock/stores/redis_nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/dlock_variant.h"

static uint64_t bit(int node)
{
    return UINT64_C(1) << node;
}

static dlock_status add_node(struct redis_nodes *nodes, const char *url, int timeout_ms)
{
    struct redis_link *link;
    dlock_status st;

    if (nodes->count == REDIS_NODES_MAX)
        return dlock_fail(DLOCK_INVALID, "there are over %d nodes",
                          (int)REDIS_NODES_MAX);
    st = nodes->count == 0
             ? redis_link_open(&link, url, timeout_ms, true)
             : redis_link_open_beside(nodes->links[0], &link, url, timeout_ms, true);
    if (st != DLOCK_OK)
        return st;
    for (int i = 0; i < nodes->count; i++)
        if (strcmp(redis_link_label(nodes->links[i]), redis_link_label(link)) == 0) {
            st = dlock_fail(DLOCK_INVALID, "%s is named twice; each node has one vote",
                            redis_link_label(link));
            redis_link_close(link);
            return st;
        }
    nodes->links[nodes->count++] = link;
    return DLOCK_OK;
}

dlock_status redis_nodes_open(struct redis_nodes *nodes, const char *urls,
                              int timeout_ms, bool sequential)
{
    char *copy = NULL;
    char *rest;
    dlock_status st = DLOCK_OK;

    memset(nodes, 0, sizeof(*nodes));
    nodes->sequential = sequential;
    if (urls == NULL || urls[0] == '\0')
        return dlock_fail(DLOCK_INVALID, "the URLs of the nodes are missing");
    copy = strdup(urls);
    if (copy == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for the URLs");
    if (strstr(copy, "-sentinel://") != NULL || strstr(copy, "-cluster://") != NULL)
        st = dlock_fail(DLOCK_INVALID, "a node cannot be an address of Sentinels or of a "
                        "cluster, since the votes of Redlock need servers that fail one by "
                        "one; name the servers, as redis://host:port");
    rest = copy;
    while (st == DLOCK_OK && rest != NULL)
        st = add_node(nodes, strsep(&rest, ","), timeout_ms);
    free(copy);
    nodes->quorum = nodes->count / 2 + 1;
    if (st != DLOCK_OK)
        redis_nodes_close(nodes);
    return st;
}

void redis_nodes_close(struct redis_nodes *nodes)
{
    for (int i = 0; i < nodes->count; i++)
        redis_link_close(nodes->links[i]);
    nodes->count = 0;
}

static void exchange(struct redis_leg *legs, size_t leg_count,
                     const struct redis_question *question, int64_t give_up_ns)
{
    if (question->command != NULL)
        redis_exchange(legs, leg_count, question->command, give_up_ns);
    else
        redis_script_exchange(legs, leg_count, question->script, give_up_ns);
}

static bool is_yes(enum redis_yes yes, const struct redis_answer *answer)
{
    if (yes == REDIS_YES_IS_NIL)
        return answer->kind == REDIS_NIL;
    if (yes == REDIS_YES_IS_INTEGER)
        return answer->kind == REDIS_INTEGER;
    return answer->kind == REDIS_STATUS ||
           (answer->kind == REDIS_INTEGER && answer->integer == 1);
}

static bool is_no(enum redis_yes yes, const struct redis_answer *answer)
{
    if (yes == REDIS_YES_IS_NIL)
        return answer->kind == REDIS_INTEGER;
    return answer->kind == REDIS_NIL || (yes == REDIS_YES_IS_ONE &&
                                         answer->kind == REDIS_INTEGER &&
                                         answer->integer == 0);
}

/* Count the answer of the node that `node` is the bit of. */
static void count(struct redis_vote *vote, uint64_t node, enum redis_yes what,
                  const struct redis_answer *answer)
{
    bool yes = is_yes(what, answer);
    bool no = is_no(what, answer);

    if (answer->outcome == REDIS_ANSWERED && yes) {
        vote->yes++;
        vote->agreed |= node;
        vote->answered |= node;
    } else if (answer->outcome == REDIS_ANSWERED && no) {
        vote->no++;
        vote->answered |= node;
    } else {
        dlock_status st = answer->outcome == REDIS_ANSWERED ? DLOCK_PROTOCOL
                                                            : redis_status(answer->outcome);

        vote->failed++;
        vote->unknown += st == DLOCK_UNKNOWN;
        vote->refused += st == DLOCK_PROTOCOL;
        if (vote->failure != DLOCK_IO)
            vote->failure = st;
        if (vote->unknown > 0)
            vote->failure = DLOCK_UNKNOWN;
        snprintf(vote->why, sizeof(vote->why), "%s", answer->text);
    }
}

/* Ask the nodes in `who`, without waiting for those in `unawaited`. */
static struct redis_vote ask(struct redis_nodes *nodes, uint64_t who, uint64_t unawaited,
                             const struct redis_question *question, int64_t give_up_ns)
{
    struct redis_leg legs[REDIS_NODES_MAX] = {0};
    struct redis_vote vote = {.asked = who};
    size_t leg_count = 0;

    for (int i = 0; i < nodes->count; i++)
        if (who & bit(i)) {
            legs[leg_count].link = nodes->links[i];
            legs[leg_count].despite_failure = true; /* the caller decides about resting nodes */
            legs[leg_count].unawaited = unawaited & bit(i);
            leg_count++;
        }
    if (nodes->sequential)
        for (size_t i = 0; i < leg_count; i++)
            exchange(&legs[i], 1, question, give_up_ns);
    else
        exchange(legs, leg_count, question, give_up_ns);
    leg_count = 0;
    for (int i = 0; i < nodes->count; i++)
        if (who & bit(i))
            count(&vote, bit(i), question->yes, &legs[leg_count++].answer);
    return vote;
}

/* The nodes of `who` that are left alone now; none if the others are not a majority. */
static uint64_t resting_nodes(struct redis_nodes *nodes, uint64_t who)
{
    uint64_t down = 0;
    int up_count = 0;

    for (int i = 0; i < nodes->count; i++) {
        if (!(who & bit(i)))
            continue;
        if (redis_link_is_left_alone(nodes->links[i]))
            down |= bit(i);
        else
            up_count++;
    }
    return up_count >= nodes->quorum ? down : 0;
}

struct redis_vote redis_nodes_ask(struct redis_nodes *nodes,
                                  const struct redis_question *question,
                                  int64_t give_up_ns)
{
    uint64_t all = bit(nodes->count) - 1;

    return ask(nodes, all & ~resting_nodes(nodes, all), 0, question, give_up_ns);
}

struct redis_vote redis_nodes_ask_again(struct redis_nodes *nodes, uint64_t who,
                                        const struct redis_question *question,
                                        int64_t give_up_ns)
{
    return ask(nodes, who, resting_nodes(nodes, who), question, give_up_ns);
}

void redis_vote_works_once(struct redis_vote *vote)
{
    if (vote->yes > 0 && vote->failure == DLOCK_IO)
        vote->failure = DLOCK_UNKNOWN;
}

dlock_status redis_nodes_taken_back(uint64_t granted, const struct redis_vote *release,
                                    dlock_status st)
{
    if ((granted & ~release->answered) == 0)
        return st;
    return dlock_fail(DLOCK_UNKNOWN, "a node that had granted the lock may still hold it; %s",
                      release->why);
}

dlock_status redis_nodes_failed(const struct redis_nodes *nodes,
                                const struct redis_vote *vote)
{
    bool is_hopeless = vote->refused > nodes->count - nodes->quorum;

    return dlock_fail(is_hopeless && vote->failure == DLOCK_IO ? DLOCK_PROTOCOL : vote->failure,
                      "%d of %d nodes answered, %d are needed; %s",
                      vote->yes + vote->no, nodes->count, nodes->quorum, vote->why);
}

dlock_status redis_nodes_check(struct redis_nodes *nodes, struct redis_rights rights)
{
    struct redis_script_call call = redis_rights_call(&rights);
    struct redis_question question = {.script = &call};
    struct redis_vote vote =
        ask(nodes, bit(nodes->count) - 1, 0, &question, INT64_MAX);

    if (vote.yes >= nodes->quorum)
        return DLOCK_OK;
    if (vote.failure == DLOCK_UNKNOWN)
        vote.failure = DLOCK_IO; /* the question changes nothing */
    return redis_nodes_failed(nodes, &vote);
}

dlock_status redis_nodes_load(struct redis_nodes *nodes, struct redis_script *script)
{
    dlock_status st = DLOCK_IO;

    for (int i = 0; i < nodes->count && st != DLOCK_OK; i++)
        st = redis_script_load(nodes->links[i], script);
    return st;
}
