/* SPDX-License-Identifier: MIT */
/* shape.c -- the shapes of the answers to Redis' own commands. */
#include "base/redis/shape.h"

#include <stdio.h>
#include <string.h>

#include "base/os/number.h"

/* A server has at most as many replicas as there are ports. */
enum { SHA_LEN = 40, REPLICAS_MOST = 65535 };

redis_shape_name REDIS_SHAPE_ANY = {{.what = "a command", .kinds = REDIS_MAY_BE_ALL,
                                     .least = INT64_MIN, .most = INT64_MAX}};
redis_shape_name REDIS_SHAPE_PING = {
    {.what = "PING", .kinds = REDIS_MAY_BE_STATUS, .status = "PONG"}};
redis_shape_name REDIS_SHAPE_DONE = {
    {.what = "a command that is only done", .kinds = REDIS_MAY_BE_STATUS, .status = "OK"}};
redis_shape_name REDIS_SHAPE_QUEUED = {{.what = "a command in a transaction",
                                        .kinds = REDIS_MAY_BE_STATUS,
                                        .status = "QUEUED"}};
redis_shape_name REDIS_SHAPE_EXEC = {
    {.what = "EXEC", .kinds = REDIS_MAY_BE_SINGLE | REDIS_MAY_BE_NIL_ARRAY, .most = 1}};
redis_shape_name REDIS_SHAPE_SHA = {
    {.what = "SCRIPT LOAD", .kinds = REDIS_MAY_BE_BULK, .bulk = REDIS_BULK_IS_SHA}};
redis_shape_name REDIS_SHAPE_SET = {
    {.what = "SET", .kinds = REDIS_MAY_BE_STATUS | REDIS_MAY_BE_NIL, .status = "OK"}};
redis_shape_name REDIS_SHAPE_TEXT = {
    {.what = "GET", .kinds = REDIS_MAY_BE_BULK | REDIS_MAY_BE_NIL}};
redis_shape_name REDIS_SHAPE_NUMBER = {{.what = "GET of a number",
                                        .kinds = REDIS_MAY_BE_BULK | REDIS_MAY_BE_NIL,
                                        .bulk = REDIS_BULK_IS_NUMBER,
                                        .number_least = INT64_MIN,
                                        .number_most = INT64_MAX}};
redis_shape_name REDIS_SHAPE_TIME = {{.what = "GET of a time",
                                      .kinds = REDIS_MAY_BE_BULK | REDIS_MAY_BE_NIL,
                                      .bulk = REDIS_BULK_IS_NUMBER,
                                      .number_most = INT64_MAX}};
redis_shape_name REDIS_SHAPE_PTTL = {
    {.what = "PTTL", .kinds = REDIS_MAY_BE_INTEGER, .least = -2, .most = REDIS_MS_MOST}};
redis_shape_name REDIS_SHAPE_YES_NO = {
    {.what = "a question of yes or no", .kinds = REDIS_MAY_BE_INTEGER, .most = 1}};
redis_shape_name REDIS_SHAPE_COUNT = {
    {.what = "a count", .kinds = REDIS_MAY_BE_INTEGER, .most = INT64_MAX}};
redis_shape_name REDIS_SHAPE_REPLICAS = {
    {.what = "WAIT", .kinds = REDIS_MAY_BE_INTEGER, .most = REPLICAS_MOST}};
redis_shape_name REDIS_SHAPE_BALANCE = {{.what = "a count",
                                         .kinds = REDIS_MAY_BE_INTEGER,
                                         .least = INT64_MIN,
                                         .most = INT64_MAX}};

static bool is_sha(const struct redis_answer *answer)
{
    return answer->len == SHA_LEN &&
           strspn(answer->text, "0123456789abcdef") == SHA_LEN;
}

static bool fits_integer(const struct redis_shape *shape, int64_t integer)
{
    if (integer >= shape->least && integer <= shape->most)
        return true;
    return integer < 0 && integer > -32 && (shape->negatives >> -integer & 1);
}

static bool fits(const struct redis_shape *shape, struct redis_answer *answer)
{
    if (!(shape->kinds >> answer->kind & 1))
        return false;
    switch (answer->kind) {
    case REDIS_INTEGER:
    case REDIS_SINGLE:
        return fits_integer(shape, answer->integer);
    case REDIS_STATUS:
        return shape->status == NULL || redis_answer_is(answer, shape->status);
    case REDIS_BULK:
        if (shape->bulk == REDIS_BULK_IS_NUMBER)
            return answer->len < sizeof(answer->text) &&
                   dlock_number_read(answer->text, answer->len, shape->number_least,
                                     shape->number_most, &answer->integer);
        return shape->bulk == REDIS_BULK_IS_ANYTHING || is_sha(answer);
    default:
        return true; /* a kind that the shape allows, without a value to check */
    }
}

bool redis_shape_check(const struct redis_shape *shape, const char *label,
                       struct redis_answer *answer)
{
    char why[REDIS_TEXT_SIZE];

    if (fits(shape, answer))
        return true;
    snprintf(why, sizeof(why), "%.60s: an answer that %s cannot have", label,
             shape->what);
    redis_answer_fail(answer, REDIS_PROTOCOL, why);
    return false;
}
