/* SPDX-License-Identifier: MIT */
/* test_redis_shape.c -- the shapes of replies: which replies each command accepts. */
#include <string.h>

#include "base/os/number.h"
#include "base/redis/reader.h"
#include "lock/stores/redis_shapes.h"
#include "tests/registered.h"

/* All shapes without ANY. */
#define SHAPES(X)                                                                      \
    X(PING) X(DONE) X(QUEUED) X(EXEC) X(SHA) X(SET) X(TEXT) X(NUMBER) X(TIME) X(PTTL)  \
    X(YES_NO) X(COUNT) X(REPLICAS) X(BALANCE) X(ACQUIRE) X(ACQUIRE_MORE) X(READ_MORE) X(PERMIT)    \
    X(FENCE) X(FENCE_MORE) X(EPOCH) X(EPOCH_MORE) X(RELEASE) X(RELEASE_TOLD)           \
    X(RELEASE_MORE) X(READ_RELEASE) X(INSPECT) X(INSPECT_OR_NIL)

enum {
#define X(name) name,
    SHAPES(X)
#undef X
    SHAPE_COUNT
};

static const struct redis_shape *shape_at(int at)
{
    const struct redis_shape *const all[] = {
#define X(name) REDIS_SHAPE_##name,
        SHAPES(X)
#undef X
    };

    return all[at];
}

/* Read `len` bytes of a reply as a connection does, and compare the reply with the shape. */
static bool fits(const struct redis_shape *shape, const char *bytes, size_t len,
                 int64_t *number)
{
    struct redis_reading reading;
    struct redis_answer answer;
    struct redis_reader *reader = redis_reader_open(redis_reading_part, &reading);
    bool fit;

    assert_non_null(reader);
    redis_reading_begin(&reading, "label");
    assert_true(redis_reader_feed(reader, bytes, len));
    assert_true(redis_reader_next(reader));
    redis_reading_take(&reading, &answer);
    redis_reader_close(reader);
    fit = answer.outcome == REDIS_ANSWERED && redis_shape_check(shape, "label", &answer);
    if (!fit)
        assert_int_equal(REDIS_PROTOCOL, answer.outcome);
    *number = answer.integer;
    return fit;
}

/* The reply must have exactly these of all shapes. */
static void check(const char *bytes, size_t len, uint64_t shapes)
{
    for (int shape = 0; shape < SHAPE_COUNT; shape++) {
        int64_t number;
        bool fit = fits(shape_at(shape), bytes, len, &number);

        if (fit != (shapes >> shape & 1))
            print_error("shape %d: %s\n", shape, bytes);
        assert_int_equal(shapes >> shape & 1, fit);
    }
}

#define S(name) (UINT64_C(1) << (name))
#define ACQUIRES (S(ACQUIRE) | S(READ_MORE) | S(PERMIT))
#define FENCES (S(FENCE) | S(FENCE_MORE) | S(EPOCH) | S(EPOCH_MORE))
#define NILS                                                                           \
    (S(SET) | S(TEXT) | S(NUMBER) | S(TIME) | ACQUIRES | S(ACQUIRE_MORE) | S(RELEASE) | \
     S(RELEASE_TOLD) | S(RELEASE_MORE) | S(READ_RELEASE) | S(INSPECT_OR_NIL))
#define TEXTS (S(TEXT) | S(INSPECT) | S(INSPECT_OR_NIL))
#define CHECK(bytes, shapes) check((bytes), sizeof(bytes) - 1, (shapes))

TEST(a_status_is_the_one_text)
{
    CHECK("+OK\r\n", S(DONE) | S(SET));
    CHECK("+PONG\r\n", S(PING));
    CHECK("+QUEUED\r\n", S(QUEUED));
    CHECK("+\r\n", 0);
    CHECK("+ok\r\n", 0);
    CHECK("+OK \r\n", 0);
    CHECK("+OK\0\r\n", 0);
    CHECK("+OK\0more\r\n", 0);
    CHECK("$2\r\nOK\r\n", TEXTS);
}

TEST(an_integer_is_in_its_range)
{
    uint64_t any = S(BALANCE);
    uint64_t waits = ACQUIRES | S(FENCE) | S(EPOCH) | S(PTTL);

    CHECK(":1\r\n", any | waits | S(YES_NO) | S(COUNT) | S(REPLICAS) | S(RELEASE) |
                       S(RELEASE_TOLD) | S(READ_RELEASE));
    CHECK(":0\r\n",
          any | waits | S(YES_NO) | S(COUNT) | S(REPLICAS) | S(RELEASE_MORE) | S(READ_RELEASE));
    CHECK(":2\r\n", any | waits | S(COUNT) | S(REPLICAS) | S(RELEASE_TOLD));
    CHECK(":65535\r\n", any | waits | S(COUNT) | S(REPLICAS) | S(RELEASE_TOLD));
    CHECK(":65536\r\n", any | waits | S(COUNT) | S(RELEASE_TOLD));
    CHECK(":-1\r\n", any | waits);
    CHECK(":-2\r\n", any | S(PTTL));
    CHECK(":-3\r\n", any | S(ACQUIRE_MORE) | S(READ_MORE) | S(FENCE_MORE) |
                         S(EPOCH_MORE));
    CHECK(":-4\r\n", any | S(EPOCH) | S(EPOCH_MORE));
    CHECK(":-5\r\n", any);
    CHECK(":-64\r\n", any);
    CHECK(":922337203685478\r\n", any | (waits & ~S(PERMIT)) | S(COUNT));
    CHECK(":9223372036854775807\r\n", any | S(COUNT));
    CHECK(":-9223372036854775808\r\n", any);
}

TEST(nil_is_a_string_that_is_none)
{
    CHECK("$-1\r\n", NILS);
    CHECK("*-1\r\n", S(EXEC));
}

TEST(a_number_is_nothing_else)
{
    uint64_t numbers = TEXTS | S(NUMBER) | S(TIME);
    int64_t number = 0;

    CHECK("$1\r\n1\r\n", numbers | (FENCES & ~S(EPOCH)));
    CHECK("$1\r\n0\r\n", numbers);
    CHECK("$2\r\n-1\r\n", TEXTS | S(NUMBER));
    CHECK("$10\r\n4294967296\r\n", numbers | (FENCES & ~S(EPOCH)));
    CHECK("$10\r\n4294967297\r\n", numbers | FENCES);
    CHECK("$19\r\n9223372036854775807\r\n", numbers | FENCES);
    CHECK("$19\r\n9223372036854775808\r\n", TEXTS);
    CHECK("$20\r\n18446744073709551615\r\n", TEXTS);
    CHECK("$2\r\n01\r\n", TEXTS);
    CHECK("$2\r\n+1\r\n", TEXTS);
    CHECK("$2\r\n 1\r\n", TEXTS);
    CHECK("$2\r\n1 \r\n", TEXTS);
    CHECK("$2\r\n1\0\r\n", TEXTS);
    CHECK("$2\r\n-0\r\n", TEXTS);
    CHECK("$1\r\n-\r\n", TEXTS);
    CHECK("$0\r\n\r\n", TEXTS);
    assert_true(fits(REDIS_SHAPE_FENCE, "$2\r\n42\r\n", 8, &number));
    assert_int_equal(42, number);
}

TEST(a_hash_is_forty_digits)
{
    CHECK("$40\r\n0123456789abcdef0123456789abcdef01234567\r\n", TEXTS | S(SHA));
    CHECK("$40\r\n0123456789abcdef0123456789abcdef0123456g\r\n", TEXTS);
    CHECK("$41\r\n0123456789abcdef0123456789abcdef012345678\r\n", TEXTS);
    CHECK("+0123456789abcdef0123456789abcdef01234567\r\n", 0);
}

TEST(arrays_and_errors_are_nothing)
{
    CHECK("*1\r\n:1\r\n", S(EXEC));
    CHECK("*1\r\n:0\r\n", S(EXEC));
    CHECK("*1\r\n:2\r\n", 0);
    CHECK("*1\r\n$1\r\n1\r\n", 0);
    CHECK("*1\r\n-ERR\r\n", 0);
    CHECK("*0\r\n", 0);
    CHECK("*2\r\n:1\r\n:1\r\n", 0);
    CHECK("*1\r\n*1\r\n:1\r\n", 0);
    CHECK("-ERR no\r\n", 0);
}

TEST(a_number_has_a_range)
{
    int64_t number = 7;

    assert_true(dlock_number_read("-9223372036854775808", 20, INT64_MIN, INT64_MAX,
                                  &number));
    assert_true(number == INT64_MIN);
    assert_false(dlock_number_read("-9223372036854775809", 20, INT64_MIN, INT64_MAX,
                                   &number));
    assert_false(dlock_number_read("5", 1, 6, 9, &number));
    assert_false(dlock_number_read("", 0, 0, 9, &number));
    assert_true(number == INT64_MIN); /* unchanged */
}
