/* SPDX-License-Identifier: MIT */
/* marks.c -- sorts the events that are no calls: the marks of a lock by their owner, and the
 * faults in an array of their own. */
#include <stdlib.h>

#include "loadtest/check/groups.h"
#include "loadtest/kit/bisect.h"
#include "loadtest/kit/memory.h"

static void note_fault(struct check *c, const struct history_mark *fault)
{
    if (history_takes_effect(fault))
        c->first_fault_ns = least(c->first_fault_ns, fault->at_ns);
    if (fault->detail != DLOCK_FAULT_IS_ARMED)
        c->last_fault_ns = fault->at_ns;
}

/* Of marks that are in the order of time. */
static int by_owner(const void *left, const void *right, void *all)
{
    const uint32_t *x = left, *y = right;
    const struct history_mark *a = &((const struct history_mark *)all)[*x];
    const struct history_mark *b = &((const struct history_mark *)all)[*y];
    int order = COMPARE(a->name, b->name);

    order = order != 0 ? order : COMPARE(a->process, b->process);
    order = order != 0 ? order : COMPARE(a->owner, b->owner);
    return order != 0 ? order : COMPARE(*x, *y);
}

void check_sort_marks(struct check *c)
{
    size_t count = c->h->mark_count;

    MEMORY_ROOM(c->marks, 0, count, c->mark_room);
    MEMORY_ROOM(c->faults, 0, count, c->fault_room);
    c->mark_count = c->fault_count = 0;
    c->first_fault_ns = HISTORY_NEVER;
    c->last_fault_ns = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct history_mark *mark = &c->h->marks[i];

        if (mark->kind == DLOCK_EVENT_FAULT) {
            c->faults[c->fault_count++] = i;
            note_fault(c, mark);
        } else if (mark->kind == DLOCK_EVENT_WAIT || mark->kind == DLOCK_EVENT_WAKE ||
                   mark->kind == DLOCK_EVENT_LOST) {
            c->marks[c->mark_count++] = i;
        }
    }
    if (c->mark_count > 0)
        qsort_r(c->marks, c->mark_count, sizeof(*c->marks), by_owner, c->h->marks);
}

/* Does the mark come before the first of that owner at from_ns? */
static bool is_before(const struct history_mark *mark, uint32_t process, uint64_t owner,
                      int64_t from_ns)
{
    if (mark->process != process)
        return mark->process < process;
    return mark->owner != owner ? mark->owner < owner : mark->at_ns < from_ns;
}

size_t check_marks_of(const struct check *c, uint32_t process, uint64_t owner,
                      int64_t from_ns, int64_t until_ns, const uint32_t **first)
{
    size_t at = 0, end;

    BISECT(at, c->lock.mark_count, i,
           is_before(&c->h->marks[c->lock.marks[i]], process, owner, from_ns));
    *first = c->lock.mark_count > 0 ? c->lock.marks + at : NULL;
    for (end = at; end < c->lock.mark_count; end++) {
        const struct history_mark *mark = &c->h->marks[c->lock.marks[end]];

        if (mark->process != process || mark->owner != owner || mark->at_ns > until_ns)
            break;
    }
    return end - at;
}

/* Note that the owner was told of the loss of the lock.  The latest marks of an owner come
 * first, so the search can end at a hold that was granted later. */
static void apply_loss(struct check *c, struct check_group *g, int64_t at_ns)
{
    int32_t at = g->last_hold;

    while (at != NO_HOLD && c->holds[at].granted_ns > at_ns)
        at = c->holds[at].previous;
    g->last_hold = at;
    for (; at != NO_HOLD && c->holds[at].worked_ns >= at_ns; at = c->holds[at].previous)
        if (at_ns < c->holds[at].believed_ns)
            c->holds[at].believed_ns = at_ns;
}

void check_apply_losses(struct check *c, size_t *mark_at)
{
    const struct history_mark *marks = c->h->marks;
    uint32_t name = c->h->calls[c->by_name[c->name_first]].name;
    size_t first;

    while (*mark_at < c->mark_count && marks[c->marks[*mark_at]].name < name)
        ++*mark_at;
    first = *mark_at;
    while (*mark_at < c->mark_count && marks[c->marks[*mark_at]].name == name)
        ++*mark_at;
    for (size_t i = *mark_at; i-- > first;) {
        const struct history_mark *mark = &marks[c->marks[i]];

        for (int mode = 0; mode < 2 && mark->kind == DLOCK_EVENT_LOST; mode++) {
            struct check_group *g = check_group_of_mark(c, mark, mode);

            if (g != NULL)
                apply_loss(c, g, mark->at_ns);
        }
    }
}
