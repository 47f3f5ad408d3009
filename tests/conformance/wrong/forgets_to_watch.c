/* SPDX-License-Identifier: MIT */
/* forgets_to_watch.c -- MULTI and EXEC without WATCH: EXEC deletes the key although it changed
 * after the GET. */
#include <string.h>

#include "lock/fault.h"
#include "tests/conformance/wrong.h"

static dlock_status release(void *link, const dlock_claim *claim)
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

void wrong_forgets_to_watch(dlock_variant *it)
{
    it->release = release;
}
