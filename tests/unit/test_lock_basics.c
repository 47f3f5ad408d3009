/* SPDX-License-Identifier: MIT */
/* test_lock_basics.c -- tokens, owners, statuses, clocks, forks: the small files. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "lock/dlock_variant.h"
#include "base/os/fork.h"
#include "lock/owner.h"
#include "base/os/random.h"
#include "lock/status.h"
#include "lock/token.h"
#include "tests/registered.h"

enum { TOKENS = 2000, THREADS = 8, DRAWS = 20000 };

static char tokens[TOKENS][DLOCK_TOKEN_LEN + 1];

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

TEST(tokens_are_hex_and_never_repeat)
{
    for (int i = 0; i < TOKENS; i++) {
        dlock_token_make(tokens[i]);
        assert_int_equal(DLOCK_TOKEN_LEN, strlen(tokens[i]));
        assert_int_equal(DLOCK_TOKEN_LEN, strspn(tokens[i], "0123456789abcdef"));
    }
    qsort(tokens, TOKENS, sizeof(tokens[0]), compare);
    for (int i = 1; i < TOKENS; i++)
        assert_string_not_equal(tokens[i - 1], tokens[i]);
}

TEST(parent_and_child_draw_different_tokens)
{
    char mine[DLOCK_TOKEN_LEN + 1];
    char theirs[DLOCK_TOKEN_LEN + 1] = "";
    int ends[2];
    pid_t pid;

    dlock_token_make(mine); /* so that the child inherits a buffer of random bytes */
    assert_int_equal(0, pipe(ends));
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dlock_token_make(theirs);
        _exit(write(ends[1], theirs, DLOCK_TOKEN_LEN) == DLOCK_TOKEN_LEN ? 0 : 1);
    }
    assert_int_equal(DLOCK_TOKEN_LEN, read(ends[0], theirs, DLOCK_TOKEN_LEN));
    waitpid(pid, NULL, 0);
    dlock_token_make(mine);
    assert_string_not_equal(mine, theirs);
    close(ends[0]);
    close(ends[1]);
}

TEST(jitter_stays_below_its_bound)
{
    bool seen[3] = {false, false, false};

    for (int i = 0; i < DRAWS; i++) {
        uint32_t number = dlock_random_below(3);

        assert_true(number < 3);
        seen[number] = true;
        assert_int_equal(0, dlock_random_below(1));
    }
    assert_true(seen[0] && seen[1] && seen[2]);
}

static void *tell_number(void *arg)
{
    strcpy(arg, dlock_owner_here()->number);
    return NULL;
}

TEST(owners_are_never_reused)
{
    char numbers[THREADS + 2][DLOCK_NUMBER_SIZE];
    uint64_t thread = dlock_owner_here()->thread;

    strcpy(numbers[0], dlock_owner_here()->number);
    assert_string_equal(numbers[0], dlock_owner_here()->number);
    dlock_owner_retire();
    strcpy(numbers[1], dlock_owner_here()->number);
    assert_true(thread == dlock_owner_here()->thread);
    /* One after the other, so that their pthread_t is often the same. */
    for (int i = 0; i < THREADS; i++) {
        pthread_t id;

        assert_int_equal(0, pthread_create(&id, NULL, tell_number, numbers[i + 2]));
        pthread_join(id, NULL);
    }
    qsort(numbers, THREADS + 2, sizeof(numbers[0]), compare);
    for (int i = 1; i < THREADS + 2; i++)
        assert_string_not_equal(numbers[i - 1], numbers[i]);
}

TEST(statuses_have_texts)
{
    static const dlock_status all[] = {
#define X(name, value, id, text) DLOCK_##name,
        DLOCK_STATUS_MAP(X)
#undef X
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        assert_string_not_equal("?", dlock_status_id(all[i]));
        assert_true(strlen(dlock_status_text(all[i])) > 1);
    }
    assert_string_equal("busy", dlock_status_id(DLOCK_BUSY));
    assert_string_equal("?", dlock_status_id((dlock_status)99));
    assert_non_null(dlock_status_text((dlock_status)99));
    assert_false(dlock_is_failure(DLOCK_LOST));
    assert_true(dlock_is_failure(DLOCK_UNKNOWN));
}

static void *fail_elsewhere(void *arg)
{
    (void)arg;
    (void)dlock_fail(DLOCK_IO, "elsewhere");
    return NULL;
}

TEST(failures_belong_to_their_thread)
{
    pthread_t id;

    assert_int_equal(DLOCK_IO, dlock_fail(DLOCK_IO, "%s:%d", "h", 1));
    assert_string_equal("h:1", dlock_error());
    assert_int_equal(0, pthread_create(&id, NULL, fail_elsewhere, NULL));
    pthread_join(id, NULL);
    assert_string_equal("h:1", dlock_error());
    dlock_error_clear();
    assert_string_equal("", dlock_error());
}

TEST(instants_do_not_overflow)
{
    assert_true(dlock_clock_after(5, 1) == 5 + DLOCK_NS_PER_MS);
    assert_true(dlock_clock_after(INT64_MAX - 5, 1) == INT64_MAX);
    assert_true(dlock_clock_after(dlock_clock_ns(), INT64_MAX) == INT64_MAX);
    assert_int_equal(INT_MAX, dlock_clock_poll_ms(INT64_MAX));
    assert_int_equal(0, dlock_clock_poll_ms(0));
    assert_true(dlock_clock_poll_ms(dlock_clock_ns() + 5) == 0 ||
                dlock_clock_poll_ms(dlock_clock_ns() + DLOCK_NS_PER_MS) == 1);
}

TEST(forks_are_counted)
{
    unsigned before;
    int status = 0;
    pid_t pid;

    dlock_fork_watch();
    before = dlock_fork_generation();
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(dlock_fork_generation() == before ? 1 : 0);
    waitpid(pid, &status, 0);
    assert_int_equal(0, WEXITSTATUS(status));
    assert_int_equal(before, dlock_fork_generation());
}
