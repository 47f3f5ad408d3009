/* SPDX-License-Identifier: MIT */
/* groups.c -- groups the calls of each owner on each lock. */
#include "loadtest/check/groups.h"

#include <assert.h>
#include <stdlib.h>

#include "loadtest/kit/bisect.h"
#include "loadtest/kit/memory.h"

/* The calls of a group have the same key.  A group has its calls in the order of time. */
struct key {
    uint32_t name, process, mode, call;
    uint64_t owner;
};

_Static_assert(sizeof(struct hold) >= sizeof(struct key), "a key has room in a hold");

static int compare_keys(const void *left, const void *right)
{
    const struct key *a = left, *b = right;
    int order = COMPARE(a->name, b->name);

    order = order != 0 ? order : COMPARE(a->process, b->process);
    order = order != 0 ? order : COMPARE(a->owner, b->owner);
    order = order != 0 ? order : COMPARE(a->mode, b->mode);
    return order != 0 ? order : COMPARE(a->call, b->call);
}

/* Keys are closer together in memory than calls, which are read once.  The keys use the memory of
 * the holds, which are made later: new memory has to be cleared first. */
static void sort_by_owner(struct check *c)
{
    struct key *keys = (struct key *)c->holds;
    uint32_t group = 0;

    assert(c->hold_count == 0 && c->hold_room >= c->h->call_count);
    for (uint32_t i = 0; i < c->h->call_count; i++) {
        const struct history_call *call = &c->h->calls[i];

        keys[i] = (struct key){call->name, call->process, call->mode, i, call->owner};
    }
    qsort(keys, c->h->call_count, sizeof(*keys), compare_keys);
    for (size_t i = 0; i < c->h->call_count; i++) {
        const struct key *key = &keys[i], *before = i > 0 ? key - 1 : key;

        group += key->name != before->name || key->process != before->process ||
                 key->owner != before->owner || key->mode != before->mode;
        c->by_owner[i] = key->call;
        c->group_of[key->call] = group;
    }
}

/* In by_owner the calls of each lock are together, so each lock has the same places there. */
static void sort_by_name(struct check *c)
{
    uint32_t *next = memory_need(calloc(c->h->name_count, sizeof(*next)));

    for (size_t i = c->h->call_count; i-- > 0;)
        next[c->h->calls[c->by_owner[i]].name] = (uint32_t)i;
    for (uint32_t i = 0; i < c->h->call_count; i++)
        c->by_name[next[c->h->calls[i].name]++] = i;
    free(next);
}

static void need_calls(struct check *c)
{
    if (c->h->call_count <= c->call_room)
        return;
    c->call_room = c->h->call_count * 2;
    c->by_name = memory_grow(c->by_name, 0, c->call_room * sizeof(*c->by_name));
    c->by_owner = memory_grow(c->by_owner, 0, c->call_room * sizeof(*c->by_owner));
    c->group_of = memory_grow(c->group_of, 0, c->call_room * sizeof(*c->group_of));
}

void check_sort_calls(struct check *c)
{
    if (c->h->call_count == 0)
        return;
    need_calls(c);
    sort_by_owner(c);
    sort_by_name(c);
}

bool check_next_name(struct check *c)
{
    const struct history_call *calls = c->h->calls;

    c->name_first = c->name_end;
    if (c->name_first == c->h->call_count)
        return false;
    do
        c->name_end++;
    while (c->name_end < c->h->call_count &&
           calls[c->by_name[c->name_end]].name == calls[c->by_name[c->name_first]].name);
    return true;
}

void check_begin_groups(struct check *c)
{
    size_t count;

    c->group_first = c->group_of[c->by_owner[c->name_first]];
    count = c->group_of[c->by_owner[c->name_end - 1]] - c->group_first + 1;
    MEMORY_ROOM(c->groups, 0, count, c->group_room);
    for (size_t i = 0; i < count; i++)
        c->groups[i] = (struct check_group){.longest = NO_HOLD, .last_hold = NO_HOLD};
}

size_t check_group_place(const struct check *c, const struct history_call *call)
{
    uint32_t index = (uint32_t)check_index_of(c, call), group = c->group_of[index];
    const uint32_t *calls = c->by_owner;
    size_t at = c->name_first;

    BISECT(at, c->name_end, i,
           c->group_of[calls[i]] < group ||
               (c->group_of[calls[i]] == group && calls[i] < index));
    return at;
}

/* Does the group of the call come before that of the mark's owner? */
static bool is_before_mark(const struct history_call *call, const struct history_mark *mark,
                           int mode)
{
    if (call->process != mark->process)
        return call->process < mark->process;
    return call->owner != mark->owner ? call->owner < mark->owner : call->mode < mode;
}

struct check_group *check_group_of_mark(const struct check *c,
                                        const struct history_mark *mark, int mode)
{
    size_t at = c->name_first;
    const struct history_call *call;

    BISECT(at, c->name_end, i,
           is_before_mark(&c->h->calls[c->by_owner[i]], mark, mode));
    if (at == c->name_end)
        return NULL;
    call = &c->h->calls[c->by_owner[at]];
    return call->process == mark->process && call->owner == mark->owner &&
           call->mode == mode ? check_group_of(c, call) : NULL;
}
