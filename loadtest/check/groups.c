/* SPDX-License-Identifier: MIT */
/* groups.c -- groups the calls of each owner on each lock. */
#include "loadtest/check/groups.h"

#include <assert.h>
#include <stdlib.h>

#include "loadtest/kit/bisect.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/radix.h"

/* The key that calls are sorted by. */
struct keys {
    uint64_t *modes, *owners, *places; /* a place: the name, and the process */
    uint32_t *spare;
};

_Static_assert(sizeof(struct hold) >= 3 * sizeof(uint64_t) + sizeof(uint32_t),
               "what a call is sorted by has room in a hold");

/* All groups are made in one pass, in the order of the array, since reading a million
 * calls takes longer than sorting their keys.  The keys use the memory of the holds, which
 * are made later: new memory has to be cleared first, which takes as long as sorting. */
static struct keys keys_of(const struct check *c)
{
    const struct history *h = c->h;
    size_t count = h->call_count;
    uint64_t *all = (uint64_t *)c->holds;
    struct keys keys = {all, all + count, all + 2 * count, (uint32_t *)(all + 3 * count)};

    assert(c->hold_count == 0 && c->hold_room >= count);
    for (size_t i = 0; i < count; i++) {
        keys.modes[i] = h->calls[i].mode;
        keys.owners[i] = h->calls[i].owner;
        keys.places[i] = (uint64_t)h->calls[i].name << 32 | h->calls[i].process;
    }
    return keys;
}

/* Number the groups.  The keys of the calls are compared, because keys are closer together in
 * memory than calls. */
static void number_groups(struct check *c, const struct keys *keys)
{
    uint32_t group = 0;

    for (size_t i = 0; i < c->h->call_count; i++) {
        uint32_t call = c->by_owner[i], before = i > 0 ? c->by_owner[i - 1] : call;

        group += keys->places[call] != keys->places[before] ||
                 keys->owners[call] != keys->owners[before] ||
                 keys->modes[call] != keys->modes[before];
        c->group_of[call] = group;
    }
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
    size_t count = c->h->call_count;
    struct keys keys;

    if (count == 0)
        return;
    keys = keys_of(c);
    need_calls(c);
    for (uint32_t i = 0; i < count; i++)
        c->by_name[i] = c->by_owner[i] = i;
    radix_sort(c->by_owner, keys.spare, count, keys.modes);
    radix_sort(c->by_owner, keys.spare, count, keys.owners);
    radix_sort(c->by_owner, keys.spare, count, keys.places);
    number_groups(c, &keys);
    for (size_t i = 0; i < count; i++)
        keys.places[i] >>= 32;
    radix_sort(c->by_name, keys.spare, count, keys.places);
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
