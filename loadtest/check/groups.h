/* SPDX-License-Identifier: MIT */
/* groups.h -- the calls of one owner on one lock in one mode are a group.  The calls of a group
 * come one after the other, except the watchdog's renewals, which may overlap them.
 *
 * Groups are made name by name.  All functions but check_sort_calls() work on the calls of one
 * name: those from c->name_first to c->name_end, in c->by_name and in c->by_owner. */
#ifndef LOADTEST_CHECK_GROUPS_H
#define LOADTEST_CHECK_GROUPS_H

#include "loadtest/check/checks/checks.h"

enum { NO_HOLD = -1 };

/* A group, as far as its calls have been read. */
struct check_group {
    const struct history_call *last_call; /* answered last, of those its owner made itself */
    const struct history_call *last_acquire; /* made last                                  */
    int64_t longest_ns;                   /* until when that hold was kept                 */
    int32_t longest;                      /* index of the hold that was kept longest       */
    int32_t last_hold;                    /* index of the hold that was begun last         */
};

/* Sort c->by_name by name and c->by_owner by group, both in the order of time, and number the
 * groups in that order.  There are no holds yet: their memory is used. */
void check_sort_calls(struct check *c);

/* Set c->name_first and c->name_end to the next name.  False: there is no further name. */
bool check_next_name(struct check *c);

/* Make the groups of the name, without holds. */
void check_begin_groups(struct check *c);

/* Inline, since it is asked of each call. */
static inline struct check_group *check_group_of(const struct check *c,
                                                 const struct history_call *call)
{
    return &c->groups[c->group_of[check_index_of(c, call)] - c->group_first];
}

static inline bool check_is_same_group(const struct check *c, const struct history_call *a,
                                       const struct history_call *b)
{
    return c->group_of[check_index_of(c, a)] == c->group_of[check_index_of(c, b)];
}

/* The index of the call in c->by_owner. */
size_t check_group_place(const struct check *c, const struct history_call *call);

/* The group of a mark's owner in that mode; NULL: the owner made no call. */
struct check_group *check_group_of_mark(const struct check *c,
                                        const struct history_mark *mark, int mode);

/* End the belief of each owner of the name that was told of a loss.  All holds of the name must be
 * finished.  last_hold of each group is changed.  `*mark_at` is the place of the marks of the next
 * name in c->marks, 0 at first. */
void check_apply_losses(struct check *c, size_t *mark_at);

#endif /* LOADTEST_CHECK_GROUPS_H */
