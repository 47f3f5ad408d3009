/* SPDX-License-Identifier: MIT */
/* etcd_turns.c -- the waiters of this process for one lock, and when each has to wake
 * up. */
#include "lock/stores/etcd_turns.h"

#include <utlist.h>

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

enum etcd_told etcd_turns_news(const struct etcd_turns *turns, const struct etcd_turn *turn)
{
    const struct etcd_stand *stand = &turn->stand;
    bool is_gone = turn->gone_at > stand->revision;

    if (!is_gone && stand->created != 0 &&
        (stand->ahead == 0 || stand->created == turns->first_created))
        return ETCD_IS_FIRST;
    if (is_gone || turns->ends.complete > stand->revision ||
        etcd_ends_have(&turns->ends, stand->before, stand->revision))
        return ETCD_MAY_HAVE_MOVED;
    return ETCD_TOLD_NOTHING;
}

static void tell(const struct etcd_turns *turns)
{
    struct etcd_turn *turn;

    DL_FOREACH(turns->waiters, turn)
        if (turn->sleeps && etcd_turns_news(turns, turn) != ETCD_TOLD_NOTHING)
            dlock_condition_signal(&turn->told);
}

/* Count a deletion for a waiter. */
static void count_end(struct etcd_turn *turn, const struct etcd_end *end)
{
    struct etcd_stand *stand = &turn->stand;

    if (end->lease == stand->lease)
        turn->gone_at = later(turn->gone_at, end->revision);
    if (stand->ahead > 0 && end->revision > turn->counted_from && end->created != 0 &&
        end->created < stand->created)
        stand->ahead--;
}

void etcd_turns_told(struct etcd_turns *turns, const struct etcd_end *ends, size_t count,
                     uint64_t revision)
{
    struct etcd_turn *turn;

    for (size_t i = 0; i < count; i++) {
        etcd_ends_note(&turns->ends, &ends[i], true);
        if (ends[i].revision > turns->seen) /* earlier ones were counted already */
            DL_FOREACH(turns->waiters, turn)
                count_end(turn, &ends[i]);
    }
    turns->seen = later(turns->seen, revision);
    turns->known = later(turns->known, revision);
    tell(turns);
}

void etcd_turns_note(struct etcd_turns *turns, const struct etcd_end *end,
                     uint64_t first_created)
{
    etcd_ends_note(&turns->ends, end, false);
    turns->known = later(turns->known, end->revision);
    turns->first_created = later(turns->first_created, first_created);
    tell(turns);
}

void etcd_turns_begin(struct etcd_turns *turns, uint64_t revision)
{
    turns->seen = revision;
    turns->known = later(turns->known, revision);
    etcd_ends_begin(&turns->ends, revision);
}

/* The counts of all waiters are invalid from here on. */
void etcd_turns_forget(struct etcd_turns *turns, uint64_t revision)
{
    struct etcd_turn *turn;

    etcd_turns_begin(turns, revision);
    DL_FOREACH(turns->waiters, turn) {
        turn->stand.ahead = -1;
        turn->gone_at = 0;
    }
    tell(turns);
}

bool etcd_turns_restart(struct etcd_turns *turns, uint64_t revision)
{
    if (turns->known <= revision)
        return false;
    turns->known = turns->first_created = 0;
    etcd_turns_forget(turns, revision);
    return true;
}

void etcd_turns_add(struct etcd_turns *turns, struct etcd_turn *turn)
{
    DL_APPEND(turns->waiters, turn);
}

void etcd_turns_remove(struct etcd_turns *turns, struct etcd_turn *turn)
{
    DL_DELETE(turns->waiters, turn);
}

/* Keep the count of the waiter if `stand` is of the same key. */
void etcd_turns_place(const struct etcd_turns *turns, struct etcd_turn *turn,
                      const struct etcd_stand *stand)
{
    int64_t ended = etcd_ends_before(&turns->ends, stand->created, stand->revision);
    int64_t ahead = turn->stand.ahead;
    bool is_new = turn->stand.created != stand->created;

    if (is_new || ahead < 0) {
        ahead = stand->ahead < 0 || ended < 0 ? -1
                : stand->ahead > ended        ? stand->ahead - ended
                                              : 0;
        turn->counted_from = stand->revision;
    }
    if (is_new)
        turn->gone_at = etcd_ends_last(&turns->ends, stand->lease);
    turn->stand = *stand;
    turn->stand.ahead = ahead;
}
