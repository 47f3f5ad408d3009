/* SPDX-License-Identifier: MIT */
/* check_search.h -- decides whether a correct lock can have made a small history, by trying every
 * order in which its calls may have happened. For test_check_search.c alone. */
#ifndef TESTS_UNIT_CHECK_SEARCH_H
#define TESTS_UNIT_CHECK_SEARCH_H

#include <stdlib.h>

#include "loadtest/check/history.h"

enum {
    CALLS_MAX = 8,
    EVENTS_MAX = 2 * CALLS_MAX,
    NOBODY = 0,
    GHOST = UINT8_MAX, /* the holder after an unanswered acquire that happened */
    SEEN_SIZE = 1 << 14,
};

struct event {
    int64_t at;
    int call;
    bool is_answer;
};

/* The state of the lock, and the set of calls that have happened. */
struct state {
    uint8_t at;        /* the number of events that have passed */
    uint8_t happened;  /* a set of calls */
    uint8_t holder, depth;
    int64_t deadline;
    uint64_t fence, highest;
};

struct search {
    const struct history *h;
    unsigned caps;
    uint32_t name;
    struct event events[EVENTS_MAX];
    int event_count;
    struct state seen[SEEN_SIZE];
    uint32_t seen_in[SEEN_SIZE];
    uint32_t round;
};

static struct search search;

static int compare_events(const void *left, const void *right)
{
    const struct event *a = left, *b = right;

    return (a->at > b->at) - (a->at < b->at);
}

/* Was the state not met before? If so, remember it. */
static bool is_new(const struct state *s)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    uint64_t words[] = {(uint64_t)s->at << 24 | (uint64_t)s->happened << 16 |
                            (uint64_t)s->holder << 8 | s->depth,
                        (uint64_t)s->deadline, s->fence, s->highest};

    for (size_t i = 0; i < 4; i++)
        hash = (hash ^ words[i]) * UINT64_C(1099511628211);
    for (size_t at = hash % SEEN_SIZE;; at = (at + 1) % SEEN_SIZE) {
        struct state *seen = &search.seen[at];

        if (search.seen_in[at] != search.round) {
            search.seen_in[at] = search.round;
            *seen = *s;
            return true;
        }
        if (seen->at == s->at && seen->happened == s->happened &&
            seen->holder == s->holder && seen->depth == s->depth &&
            seen->deadline == s->deadline && seen->fence == s->fence &&
            seen->highest == s->highest)
            return false;
    }
}

static bool is_unsure(const struct history_call *call)
{
    return !call->is_answered || call->status == DLOCK_UNKNOWN;
}

/* Is an acquire of another owner under way, between the events at - 1 and at? */
static bool is_contended(const struct history_call *call, int64_t now)
{
    for (size_t i = 0; i < search.h->call_count; i++) {
        const struct history_call *other = &search.h->calls[i];

        if (other->kind == DLOCK_EVENT_ACQUIRE && other->name == call->name &&
            other->owner != call->owner && other->invoke_ns <= now &&
            other->answer_ns > now)
            return true;
    }
    return false;
}

static bool grant(struct state *s, const struct history_call *call)
{
    bool is_fenced = search.caps & DLOCK_CAP_FENCED;

    if (call->level > 1) {
        if (!(search.caps & DLOCK_CAP_REENTRANT) || s->holder != call->owner ||
            s->depth != call->level - 1 ||
            (call->fence != 0 && call->fence != s->fence))
            return false;
        s->depth++;
        if (call->deadline_ns > s->deadline)
            s->deadline = call->deadline_ns;
        return true;
    }
    if (s->holder != NOBODY || (is_fenced && call->fence <= s->highest))
        return false;
    s->holder = (uint8_t)call->owner;
    s->depth = 1;
    s->deadline = call->deadline_ns;
    s->fence = call->fence;
    if (is_fenced)
        s->highest = call->fence;
    return true;
}

static void free_it(struct state *s)
{
    s->holder = NOBODY;
    s->depth = 0;
    s->deadline = 0;
    s->fence = 0;
}

static bool acquire(struct state *s, const struct history_call *call, int64_t now)
{
    bool is_mine = s->holder == call->owner && (search.caps & DLOCK_CAP_REENTRANT);

    if (is_unsure(call)) {
        if (s->holder != NOBODY)
            return false;
        s->holder = GHOST;
        return true;
    }
    if (call->status == DLOCK_OK)
        return grant(s, call);
    /* Only with a quorum can two callers be refused because of each other. */
    return !is_mine && (s->holder != NOBODY ||
                        ((search.caps & DLOCK_CAP_QUORUM) && is_contended(call, now)));
}

/* Can the call happen now? If so, change the state. */
static bool happen(struct state *s, const struct history_call *call, int64_t now)
{
    bool is_holder = s->holder == call->owner;

    if (call->kind == DLOCK_EVENT_ACQUIRE)
        return acquire(s, call, now);
    if (!is_unsure(call) && call->status == DLOCK_LOST)
        return !is_holder;
    if (call->kind == DLOCK_EVENT_RENEW) {
        if (is_unsure(call))
            return true;
        if (is_holder && call->deadline_ns > s->deadline)
            s->deadline = call->deadline_ns;
        return is_holder;
    }
    if (call->kind == DLOCK_EVENT_ABANDON)
        return true;
    if (!is_holder)
        return !(search.caps & DLOCK_CAP_OWNED) && !is_unsure(call);
    if (--s->depth == 0)
        free_it(s);
    return true;
}

static bool explain(struct state s);

/* Try everything that may happen before the next event. */
static bool explain_now(const struct state *s)
{
    int64_t now = s->at > 0 ? search.events[s->at - 1].at : 0;
    int64_t next = search.events[s->at].at;

    if (s->holder == GHOST || (s->holder != NOBODY && s->deadline < next)) {
        struct state then = *s;

        free_it(&then);
        if (explain(then))
            return true;
    }
    for (size_t i = 0; i < search.h->call_count; i++) {
        const struct history_call *call = &search.h->calls[i];
        struct state then = *s;

        if (call->name != search.name || call->invoke_ns > now ||
            (s->happened & 1u << i) || (!is_unsure(call) && call->answer_ns <= now))
            continue;
        then.happened = (uint8_t)(s->happened | 1u << i);
        if (happen(&then, call, now) && explain(then))
            return true;
    }
    return false;
}

static bool explain(struct state s)
{
    const struct event *event;

    if (s.at == search.event_count)
        return true;
    if (!is_new(&s))
        return false;
    event = &search.events[s.at];
    if (!event->is_answer || (s.happened & 1u << event->call) ||
        is_unsure(&search.h->calls[event->call])) {
        struct state then = s;

        then.at++;
        if (explain(then))
            return true;
    }
    return explain_now(&s);
}

static bool search_explains(const struct history *h)
{
    search.h = h;
    search.caps = h->processes[0].caps;
    for (search.name = 0; search.name < h->name_count; search.name++) {
        search.event_count = 0;
        search.round++;
        for (size_t i = 0; i < h->call_count; i++) {
            const struct history_call *call = &h->calls[i];

            if (call->name != search.name)
                continue;
            search.events[search.event_count++] =
                (struct event){call->invoke_ns, (int)i, false};
            if (call->is_answered)
                search.events[search.event_count++] =
                    (struct event){call->answer_ns, (int)i, true};
        }
        qsort(search.events, (size_t)search.event_count, sizeof(search.events[0]),
              compare_events);
        if (!explain((struct state){0}))
            return false;
    }
    return true;
}

#endif /* TESTS_UNIT_CHECK_SEARCH_H */
