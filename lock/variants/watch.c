/* SPDX-License-Identifier: MIT */
/* watch.c -- SETNX and EXPIRE; released by WATCH, GET, MULTI, DEL, EXEC.
 *
 * Promises    one holder while work ends within the lease; never frees another's lock,
 *             without any script.  A waiter gives a lease to a lock that has none.
 * Breaks      when work outlives the lease: there are two holders.  If the holder dies
 *             between its two commands and there is no waiter, the lock stays.  If a
 *             waiter finds no lease and sets one too late, it changes the lease of the
 *             next holder.
 * Described   the articles' lock with Jedis, whose value is a random identifier.
 *
 * EXEC does nothing if the key changed after WATCH, so what GET saw is what DEL
 * deletes.  All five commands need the same connection. */
#include <string.h>

#include "lock/stores/redis_fault.h"
#include "lock/stores/redis_inspect.h"

/* A release begins anew if the key has changed meanwhile.  While this owner holds the
 * lock, only a waiter that sets a lease changes the key. */
enum { TRIES_MAX = 16 };

#define COMMANDS "SETNX PEXPIRE PTTL WATCH GET MULTI DEL EXEC UNWATCH"

static dlock_status open_state(const dlock_options *opts, void **state)
{
    return redis_single_open(opts, COMMANDS, (struct redis_link **)state);
}

static void close_state(void *state)
{
    redis_link_close(state);
}

static dlock_status check(void *state)
{
    return redis_single_check(state, COMMANDS);
}

/* The lock of another owner: make sure that the lock has an end. */
static dlock_status heal(struct redis_link *link, const dlock_claim *claim)
{
    struct redis_command pttl = {2, {"PTTL", claim->name}, REDIS_SHAPE_PTTL};
    struct redis_answer answer;
    dlock_status st = redis_call(link, &pttl, INT64_MAX, &answer);

    if (st == DLOCK_OK && answer.integer == -1)
        st = redis_expire(link, claim->name, claim->lease_ms);
    /* This client has written nothing, so the answer is IO and not UNKNOWN. */
    if (st == DLOCK_UNKNOWN)
        return DLOCK_IO;
    return st == DLOCK_LOST ? DLOCK_OK : st;
}

static dlock_status try_acquire(void *state, dlock_claim *claim)
{
    dlock_status st = redis_set_first(state, claim->name, claim->token);

    if (st == DLOCK_BUSY) {
        st = heal(state, claim);
        return st == DLOCK_OK ? DLOCK_BUSY : st;
    }
    if (st != DLOCK_OK)
        return st;
    st = redis_fault_before(state, DLOCK_FAULT_BETWEEN_SETNX_AND_EXPIRE, claim->name);
    if (st == DLOCK_OK)
        st = redis_expire_grant(state, claim->name, claim->lease_ms);
    if (st == DLOCK_LOST) /* the lock has ended meanwhile, because another waiter had
                           * set a lease */
        return DLOCK_BUSY;
    return st == DLOCK_IO ? DLOCK_UNKNOWN : st; /* the first command was executed */
}

/* MULTI, DEL, EXEC.  OK; BUSY if the key changed; LOST if it has just ended; or a
 * failure. */
static dlock_status delete_unchanged(struct redis_talk *talk, const char *name)
{
    static const struct redis_command multi = {1, {"MULTI"}, REDIS_SHAPE_DONE};
    static const struct redis_command exec = {1, {"EXEC"}, REDIS_SHAPE_EXEC};
    struct redis_command del = {2, {"DEL", name}, REDIS_SHAPE_QUEUED};
    struct redis_answer answer;
    dlock_status st = redis_talk_say(talk, &multi, INT64_MAX, &answer);

    if (st == DLOCK_OK)
        st = redis_talk_say(talk, &del, INT64_MAX, &answer);
    if (st == DLOCK_OK)
        st = redis_talk_say(talk, &exec, INT64_MAX, &answer);
    if (st != DLOCK_OK)
        return st;
    if (answer.kind == REDIS_NIL_ARRAY)
        return DLOCK_BUSY;
    return answer.integer == 1 ? DLOCK_OK : DLOCK_LOST;
}

/* Try once to release.  BUSY: begin anew. */
static dlock_status try_release(struct redis_talk *talk, const dlock_claim *claim)
{
    static const struct redis_command unwatch = {1, {"UNWATCH"}, REDIS_SHAPE_DONE};
    struct redis_command watch = {2, {"WATCH", claim->name}, REDIS_SHAPE_DONE};
    struct redis_command get = {2, {"GET", claim->name}, REDIS_SHAPE_TEXT};
    struct redis_answer answer;
    dlock_status st = redis_talk_say(talk, &watch, INT64_MAX, &answer);

    if (st == DLOCK_OK)
        st = redis_talk_say(talk, &get, INT64_MAX, &answer);
    if (st != DLOCK_OK)
        return st;
    if (answer.kind == REDIS_BULK && redis_answer_is(&answer, claim->token)) {
        st = redis_fault_talk(talk, DLOCK_FAULT_BETWEEN_CHECK_AND_DELETE, claim->name);
        return st == DLOCK_OK ? delete_unchanged(talk, claim->name) : st;
    }
    st = redis_talk_say(talk, &unwatch, INT64_MAX, &answer);
    return st == DLOCK_OK ? DLOCK_LOST : st;
}

static dlock_status release(void *state, const dlock_claim *claim)
{
    struct redis_talk talk = {.link = state};
    dlock_status st = DLOCK_BUSY;

    for (int i = 0; i < TRIES_MAX && st == DLOCK_BUSY; i++)
        st = try_release(&talk, claim);
    redis_talk_end(&talk, !dlock_is_failure(st));
    if (st == DLOCK_BUSY)
        return dlock_fail(DLOCK_IO, "%s: the key changed with every try to release it",
                          redis_link_label(state));
    return st;
}

extern const dlock_variant dlock_variant_watch;

const dlock_variant dlock_variant_watch = {
    .info =
        {
            .name = "watch",
            .store = "redis",
            .promises = "one holder while work ends in its lease; frees only its own",
            .breaks = "work that outlives the lease; a crash while no client waits",
            .source = "the articles' WATCH and MULTI",
            .caps = DLOCK_CAP_EXCLUSIVE | DLOCK_CAP_LOCAL | DLOCK_CAP_EXPIRES |
                    DLOCK_CAP_OWNED,
        },
    .drift_per_mille = 1,
    .open = open_state,
    .close = close_state,
    .check = check,
    .era = redis_single_era,
    .try_acquire = try_acquire,
    .release = release,
    .inspect = redis_string_inspect,
    .force = redis_string_force,
};
