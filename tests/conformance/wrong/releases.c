/* SPDX-License-Identifier: MIT */
/* releases.c -- releases that free too much, or answer what is not so. */
#include <stdio.h>
#include <string.h>

#include "lock/fault.h"
#include "tests/conformance/wrong.h"

static dlock_status releases_anybody_release(void *link, const dlock_claim *claim)
{
    return redis_delete(link, claim->name);
}

/* A release that does not check the owner. */
void wrong_releases_anybody(dlock_variant *it)
{
    wrong_be_plain(it);
    it->release = releases_anybody_release;
}

static dlock_status checks_then_deletes_release(void *link, const dlock_claim *claim)
{
    struct redis_answer found;
    dlock_status st = redis_get(link, claim->name, REDIS_SHAPE_TEXT, &found);

    if (st != DLOCK_OK)
        return st;
    if (strcmp(found.text, claim->token) != 0)
        return DLOCK_LOST;
    DLOCK_FAULT(BETWEEN_CHECK_AND_DELETE, claim->name);
    return redis_delete(link, claim->name);
}

/* The release of `owner`, whose check and delete are two commands, in a lock that promises one
 * step. */
void wrong_checks_then_deletes(dlock_variant *it)
{
    wrong_be_plain(it);
    it->release = checks_then_deletes_release;
}

static dlock_status forgets_to_watch_release(void *link, const dlock_claim *claim)
{
    static const struct redis_command multi = {1, {"MULTI"}, REDIS_SHAPE_ANY};
    static const struct redis_command exec = {1, {"EXEC"}, REDIS_SHAPE_ANY};
    struct redis_command get = {2, {"GET", claim->name}, REDIS_SHAPE_ANY};
    struct redis_command del = {2, {"DEL", claim->name}, REDIS_SHAPE_ANY};
    struct redis_talk talk = {.link = link};
    struct redis_answer answer;
    dlock_status st = redis_talk_say(&talk, &get, INT64_MAX, &answer);

    if (st == DLOCK_OK &&
        (answer.kind != REDIS_BULK || strcmp(answer.text, claim->token) != 0))
        st = DLOCK_LOST;
    if (st == DLOCK_OK) {
        DLOCK_FAULT(BETWEEN_CHECK_AND_DELETE, claim->name);
        st = redis_talk_say(&talk, &multi, INT64_MAX, &answer);
    }
    if (st == DLOCK_OK)
        st = redis_talk_say(&talk, &del, INT64_MAX, &answer);
    if (st == DLOCK_OK)
        st = redis_talk_say(&talk, &exec, INT64_MAX, &answer);
    redis_talk_end(&talk, !dlock_is_failure(st));
    return st;
}

/* MULTI and EXEC without WATCH: EXEC deletes the key although it changed after the GET. */
void wrong_forgets_to_watch(dlock_variant *it)
{
    it->release = forgets_to_watch_release;
}

static dlock_status owner_is_a_thread_number_acquire(void *link, dlock_claim *claim)
{
    claim->token = claim->number;
    return wrong_plain_acquire(link, claim);
}

static dlock_status owner_is_a_thread_number_release(void *link, const dlock_claim *claim)
{
    dlock_claim numbered = *claim;

    numbered.token = claim->number;
    return wrong_plain_release(link, &numbered);
}

/* An owner text that is unique within one process only. */
void wrong_owner_is_a_thread_number(dlock_variant *it)
{
    wrong_be_plain(it);
    it->try_acquire = owner_is_a_thread_number_acquire;
    it->release = owner_is_a_thread_number_release;
}

static dlock_status says_ok_of_an_expired_lock_release(void *link, const dlock_claim *claim)
{
    dlock_status st = wrong_plain_release(link, claim);

    return st == DLOCK_LOST ? DLOCK_OK : st;
}

/* A release that answers OK although the lock was lost, as redsync #38 did. */
void wrong_says_ok_of_an_expired_lock(dlock_variant *it)
{
    wrong_be_plain(it);
    it->release = says_ok_of_an_expired_lock_release;
}

static dlock_status takes_no_answer_for_lost_release(void *link, const dlock_claim *claim)
{
    dlock_status st = wrong_plain_release(link, claim);

    return st == DLOCK_UNKNOWN ? DLOCK_LOST : st;
}

/* A release without an answer counts as LOST. */
void wrong_takes_no_answer_for_lost(dlock_variant *it)
{
    wrong_be_plain(it);
    it->release = takes_no_answer_for_lost_release;
}

static dlock_status deletes_by_its_stale_clock_release(void *link, const dlock_claim *claim)
{
    return redis_delete(link, claim->name);
}

/* The DEL of `getset` without the check before it: a late release frees the lock of the next
 * holder. */
void wrong_deletes_by_its_stale_clock(dlock_variant *it)
{
    it->release = deletes_by_its_stale_clock_release;
}

static char releases_last_name[DLOCK_NAME_MAX + 1];

static dlock_status releases_with_its_close_acquire(void *link, dlock_claim *claim)
{
    dlock_status st = wrong_plain_acquire(link, claim);

    if (st == DLOCK_OK)
        snprintf(releases_last_name, sizeof(releases_last_name), "%s", claim->name);
    return st;
}

static void releases_with_its_close_close(void *link)
{
    (void)redis_delete(link, releases_last_name);
    redis_link_close(link);
}

/* A close that frees the held locks at once, although their holders were promised a lease. */
void wrong_releases_with_its_close(dlock_variant *it)
{
    wrong_be_plain(it);
    it->try_acquire = releases_with_its_close_acquire;
    it->close = releases_with_its_close_close;
}
