/* SPDX-License-Identifier: MIT */
/* test_lock_retry.c -- the policies for trying again: their texts and their pauses. */
#include <string.h>

#include "base/os/clock.h"
#include "lock/retry.h"
#include "tests/registered.h"

enum { DRAWS = 2000 };

static struct dlock_retry parse(const char *text)
{
    struct dlock_retry retry;

    if (dlock_retry_parse(text, &retry) != DLOCK_OK)
        fail_msg("\"%s\": %s", text, dlock_error());
    return retry;
}

static void assert_retry(const char *text, enum dlock_retry_kind kind, int first_ms,
                         int max_ms, unsigned tries_max, int jitter_percent)
{
    struct dlock_retry retry = parse(text);

    assert_int_equal(kind, retry.kind);
    assert_int_equal(first_ms, retry.first_ms);
    assert_int_equal(max_ms, retry.max_ms);
    assert_int_equal(tries_max, retry.tries_max);
    assert_int_equal(jitter_percent, retry.jitter_percent);
}

TEST(every_policy_is_read)
{
    assert_int_equal(DLOCK_RETRY_PUSH, parse(NULL).kind);
    assert_int_equal(DLOCK_RETRY_PUSH, parse("push").kind);
    assert_int_equal(DLOCK_RETRY_NONE, parse("none").kind);
    assert_retry("fixed:100ms", DLOCK_RETRY_FIXED, 100, 100, 0, 20);
    assert_retry("fixed:2s,x20", DLOCK_RETRY_FIXED, 2000, 2000, 20, 20);
    assert_retry("fixed:100ms,x20,jitter:50%", DLOCK_RETRY_FIXED, 100, 100, 20, 50);
    assert_retry("fixed:60m,jitter:0%,x1", DLOCK_RETRY_FIXED, 3600000, 3600000, 1, 0);
    assert_retry("exponential:10ms..1s", DLOCK_RETRY_EXPONENTIAL, 10, 1000, 0, 20);
    assert_retry("exponential:1ms..1ms,jitter:100%", DLOCK_RETRY_EXPONENTIAL, 1, 1, 0,
                 100);
}

TEST(a_text_that_is_no_policy_is_refused)
{
    static const struct {
        const char *text;
        const char *says;
    } bad[] = {
        {"", "no such policy"},
        {"sometimes", "no such policy"},
        {"Push", "no such policy"},
        {"push,x3", "no such policy"},
        {"none,x3", "no such policy"},
        {"fixed", "no such policy"},
        {"fixed:", "whole number"},
        {"fixed:0ms", "whole number"},
        {"fixed:100", "whole number"},
        {"fixed:-1ms", "whole number"},
        {"fixed:1.5s", "whole number"},
        {"fixed:61m", "whole number"},
        {"fixed:99999999999999999999s", "whole number"},
        {"fixed:1s..2s", "behind"},
        {"fixed:1s,", "behind"},
        {"fixed:1s x3", "behind"},
        {"fixed:1s,x", "tries"},
        {"fixed:1s,x0", "tries"},
        {"fixed:1s,x1000001", "tries"},
        {"fixed:1s,jitter:101%", "jitter"},
        {"fixed:1s,jitter:10", "jitter"},
        {"fixed:1s,jitter:%", "jitter"},
        {"exponential:10ms", "two times"},
        {"exponential:..1s", "whole number"},
        {"exponential:10ms..", "whole number"},
        {"exponential:1s..10ms", "shorter"},
    };
    struct dlock_retry retry;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(DLOCK_INVALID, dlock_retry_parse(bad[i].text, &retry));
        if (strstr(dlock_error(), bad[i].says) == NULL ||
            strstr(dlock_error(), "expected none, push, fixed:TIME") == NULL)
            fail_msg("%s: %s", bad[i].text, dlock_error());
    }
}

static void assert_pause(const struct dlock_retry *retry, unsigned nth, int64_t least_ms,
                         int64_t most_ms)
{
    int64_t shortest_ns = INT64_MAX;
    int64_t longest_ns = 0;

    for (int i = 0; i < DRAWS; i++) {
        int64_t ns = dlock_retry_pause_ns(retry, nth);

        shortest_ns = ns < shortest_ns ? ns : shortest_ns;
        longest_ns = ns > longest_ns ? ns : longest_ns;
    }
    assert_true(shortest_ns >= least_ms * DLOCK_NS_PER_MS);
    assert_true(longest_ns <= most_ms * DLOCK_NS_PER_MS);
    /* The random pauses use the whole range: some of 2000 are near each end. */
    assert_true(longest_ns - shortest_ns >= (most_ms - least_ms) * DLOCK_NS_PER_MS / 2);
}

TEST(pauses_follow_the_policy)
{
    struct dlock_retry retry = parse("fixed:100ms,jitter:0%");

    assert_pause(&retry, 1, 100, 100);
    assert_pause(&retry, 1000, 100, 100);
    retry = parse("fixed:100ms,jitter:50%");
    assert_pause(&retry, 1, 50, 100);
    retry = parse("fixed:100ms,jitter:100%");
    assert_pause(&retry, 7, 0, 100);
    retry = parse("exponential:10ms..1s,jitter:0%");
    assert_pause(&retry, 1, 10, 10);
    assert_pause(&retry, 2, 20, 20);
    assert_pause(&retry, 7, 640, 640);
    assert_pause(&retry, 8, 1000, 1000);
    assert_pause(&retry, 4000000000u, 1000, 1000);
    retry = parse("exponential:40ms..60m");
    assert_pause(&retry, 1, 32, 40);
    assert_pause(&retry, 50, 2880000, 3600000);
}
