/* SPDX-License-Identifier: MIT */
/* shape.c -- what a server can answer to each question that we ask it. */
#include "base/redis/shape.h"

#include <stdio.h>
#include <string.h>

#include "base/os/number.h"

enum {
    SHA_LEN = 40,
    /* Kinds, as a set. */
    NIL = 1u << REDIS_NIL,
    NIL_ARRAY = 1u << REDIS_NIL_ARRAY,
    INTEGER = 1u << REDIS_INTEGER,
    STATUS = 1u << REDIS_STATUS,
    BULK = 1u << REDIS_BULK,
    SINGLE = 1u << REDIS_SINGLE,
};

/* What a BULK says. */
enum bulk_rule { ANYTHING, IS_NUMBER, IS_SHA };

/* A server refuses an end that no int64_t of milliseconds since 1970 holds, so what is
 * left until one is less than that by the time since then: by thirty years, at least. */
#define MS_MOST (INT64_MAX - INT64_C(1000000000000))

/* The first epoch, which fences that have one are above: see lua/fenced_acquire.lua. */
#define EPOCH (INT64_C(1) << 32)

/* As lua/permits_acquire.lua answers at most. */
#define PERMIT_MS_MOST INT64_C(922337203685477)

/* Numbers that mean something else than how many. */
#define NO_END -1   /* held without an end */
#define NO_LEVELS (1u << 3) /* -3: the levels below are not held, as a set of -n */
#define NO_EPOCH (1u << 4)  /* -4: an epoch is needed */

struct rule {
    const char *what;    /* the command, or what the script does */
    unsigned kinds;
    const char *status;  /* of a STATUS */
    enum bulk_rule bulk;
    int64_t least, most; /* of an INTEGER or SINGLE                */
    unsigned negatives;  /* bit n: an INTEGER may be -n, too       */
    int64_t number_least, number_most; /* of a BULK that is one    */
};

/* No integer at all but the negatives. */
#define NO_INTEGER .least = 0, .most = -1
#define NUMBER(from, to) .bulk = IS_NUMBER, .number_least = (from), .number_most = (to)

static const struct rule RULES[REDIS_SHAPE_COUNT_ALL] = {
    [REDIS_SHAPE_PING] = {"PING", STATUS, .status = "PONG"},
    [REDIS_SHAPE_DONE] = {"a command that is only done", STATUS, .status = "OK"},
    [REDIS_SHAPE_QUEUED] = {"a command in a transaction", STATUS, .status = "QUEUED"},
    [REDIS_SHAPE_EXEC] = {"EXEC", SINGLE | NIL_ARRAY, .least = 0, .most = 1},
    [REDIS_SHAPE_SHA] = {"SCRIPT LOAD", BULK, .bulk = IS_SHA},
    [REDIS_SHAPE_SET] = {"SET", STATUS | NIL, .status = "OK"},
    [REDIS_SHAPE_TEXT] = {"GET", BULK | NIL, .bulk = ANYTHING},
    [REDIS_SHAPE_NUMBER] = {"GET of a number", BULK | NIL, NUMBER(INT64_MIN, INT64_MAX)},
    [REDIS_SHAPE_TIME] = {"GET of a time", BULK | NIL, NUMBER(0, INT64_MAX)},
    [REDIS_SHAPE_PTTL] = {"PTTL", INTEGER, .least = -2, .most = MS_MOST},
    [REDIS_SHAPE_YES_NO] = {"a question of yes or no", INTEGER, .least = 0, .most = 1},
    [REDIS_SHAPE_COUNT] = {"a count", INTEGER, .least = 0, .most = INT64_MAX},
    [REDIS_SHAPE_BALANCE] = {"a count", INTEGER, .least = INT64_MIN, .most = INT64_MAX},
    [REDIS_SHAPE_ACQUIRE] = {"an acquire", NIL | INTEGER, .least = NO_END,
                             .most = MS_MOST},
    [REDIS_SHAPE_ACQUIRE_MORE] = {"an acquire", NIL | INTEGER, NO_INTEGER,
                                  .negatives = NO_LEVELS},
    [REDIS_SHAPE_READ_MORE] = {"an acquire", NIL | INTEGER, .least = NO_END,
                               .most = MS_MOST, .negatives = NO_LEVELS},
    [REDIS_SHAPE_PERMIT] = {"an acquire", NIL | INTEGER, .least = NO_END,
                            .most = PERMIT_MS_MOST},
    [REDIS_SHAPE_FENCE] = {"an acquire", BULK | INTEGER, .least = NO_END,
                           .most = MS_MOST, NUMBER(1, INT64_MAX)},
    [REDIS_SHAPE_FENCE_MORE] = {"an acquire", BULK | INTEGER, NO_INTEGER,
                                .negatives = NO_LEVELS, NUMBER(1, INT64_MAX)},
    [REDIS_SHAPE_EPOCH] = {"an acquire", BULK | INTEGER, .least = NO_END,
                           .most = MS_MOST, .negatives = NO_EPOCH,
                           NUMBER(EPOCH + 1, INT64_MAX)},
    [REDIS_SHAPE_EPOCH_MORE] = {"an acquire", BULK | INTEGER, NO_INTEGER,
                                .negatives = NO_LEVELS | NO_EPOCH,
                                NUMBER(1, INT64_MAX)},
    [REDIS_SHAPE_RELEASE] = {"a release", NIL | INTEGER, .least = 1, .most = 1},
    [REDIS_SHAPE_RELEASE_TOLD] = {"a release", NIL | INTEGER, .least = 1,
                                  .most = INT32_MAX},
    [REDIS_SHAPE_RELEASE_MORE] = {"a release", NIL | INTEGER, .least = 0, .most = 0},
    [REDIS_SHAPE_READ_RELEASE] = {"a release", NIL | INTEGER, .least = 0, .most = 1},
    [REDIS_SHAPE_INSPECT] = {"an inspect", BULK, .bulk = ANYTHING},
    [REDIS_SHAPE_INSPECT_OR_NIL] = {"an inspect", NIL | BULK, .bulk = ANYTHING},
};

static bool is_sha(const struct redis_answer *answer)
{
    return answer->len == SHA_LEN &&
           strspn(answer->text, "0123456789abcdef") == SHA_LEN;
}

static bool fits_integer(const struct rule *rule, int64_t integer)
{
    if (integer >= rule->least && integer <= rule->most)
        return true;
    return integer < 0 && integer > -32 && (rule->negatives >> -integer & 1);
}

static bool fits(const struct rule *rule, struct redis_answer *answer)
{
    if (!(rule->kinds >> answer->kind & 1))
        return false;
    switch (answer->kind) {
    case REDIS_INTEGER:
    case REDIS_SINGLE:
        return fits_integer(rule, answer->integer);
    case REDIS_STATUS:
        return redis_answer_is(answer, rule->status);
    case REDIS_BULK:
        if (rule->bulk == IS_NUMBER)
            return answer->len < sizeof(answer->text) &&
                   dlock_number_read(answer->text, answer->len, rule->number_least,
                                     rule->number_most, &answer->integer);
        return rule->bulk == ANYTHING || is_sha(answer);
    default:
        return true; /* a nil, which the kinds allow */
    }
}

bool redis_shape_check(enum redis_shape shape, const char *label,
                       struct redis_answer *answer)
{
    const struct rule *rule = &RULES[shape];
    char why[REDIS_TEXT_SIZE];

    if (shape == REDIS_SHAPE_ANY || fits(rule, answer))
        return true;
    snprintf(why, sizeof(why), "%.60s: an answer to %s that it never gives", label,
             rule->what);
    redis_answer_fail(answer, DLOCK_PROTOCOL, why);
    return false;
}
