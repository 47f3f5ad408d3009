/* SPDX-License-Identifier: MIT */
/* test_service_ends.c -- the processes of a run that ended by a bug, and the exit status. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "loadtest/sale/ends.h"
#include "tests/registered.h"

static struct service ended_with(int status)
{
    return (struct service){.name = "p1", .log = "a.log", .status = W_EXITCODE(status, 0)};
}

static struct service ended_by(int number)
{
    return (struct service){.name = "p1", .log = "a.log", .status = W_EXITCODE(0, number)};
}

TEST(a_crash_and_an_error_are_bugs)
{
    static const int SIGNALS[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSYS};
    static const int STATUSES[] = {1, 23, EXIT_UNAVAILABLE, EXIT_CANNOT_WRITE, 66};

    for (size_t i = 0; i < sizeof SIGNALS / sizeof SIGNALS[0]; i++) {
        struct service s = ended_by(SIGNALS[i]);

        assert_true(ends_by_bug(&s));
    }
    for (size_t i = 0; i < sizeof STATUSES / sizeof STATUSES[0]; i++) {
        struct service s = ended_with(STATUSES[i]);

        assert_true(ends_by_bug(&s));
    }
}

TEST(an_end_from_outside_is_none)
{
    static const int SIGNALS[] = {SIGKILL, SIGTERM, SIGINT, SIGHUP};
    static const int STATUSES[] = {0, EXIT_BUG, 128 + SIGTERM, 128 + SIGINT, 128 + SIGHUP};
    struct service unknown = {.died = true, .status = -1};

    for (size_t i = 0; i < sizeof SIGNALS / sizeof SIGNALS[0]; i++) {
        struct service s = ended_by(SIGNALS[i]);

        assert_false(ends_by_bug(&s));
    }
    for (size_t i = 0; i < sizeof STATUSES / sizeof STATUSES[0]; i++) {
        struct service s = ended_with(STATUSES[i]);

        assert_false(ends_by_bug(&s));
    }
    assert_false(ends_by_bug(&unknown));
}

TEST(the_text_says_which_process_and_how)
{
    struct service services[] = {ended_with(0), ended_by(SIGKILL), ended_with(23)};
    struct service front = ended_by(SIGSEGV);
    struct run_result result = {0};
    char why[WHY_MAX] = "";

    ends_look(&result, services, 1, NULL, why);
    assert_string_equal(why, "");
    assert_string_equal(result.bug, "");
    services[1].died = true;
    front.died = true;
    ends_look(&result, services, 2, NULL, why);
    assert_string_equal(
        why, "seckilld (p1) died in the middle of the run by signal 9 (Killed); its log is a.log");
    assert_string_equal(result.bug, "");
    ends_look(&result, services, 3, &front, why);
    assert_memory_equal(why, "seckilld (p1) died", 18);
    assert_string_equal(result.bug,
                        "seckilld (p1) was stopped and ended with status 23; its log is a.log");
    result = (struct run_result){0};
    ends_look(&result, services, 1, &front, why);
    assert_memory_equal(result.bug, "HAProxy died in the middle of the run by signal 11 (", 52);
}

TEST(only_a_violation_counts_more_than_a_bug)
{
    struct run_result result = {.bug = "seckilld (p1) died"};

    assert_int_equal(ends_exit(&result, EXIT_VALID), EXIT_BUG);
    assert_int_equal(ends_exit(&result, EXIT_UNKNOWN), EXIT_BUG);
    assert_int_equal(ends_exit(&result, EXIT_THRESHOLD), EXIT_BUG);
    assert_int_equal(ends_exit(&result, EXIT_INTERRUPTED), EXIT_INTERRUPTED);
    assert_int_equal(ends_exit(&result, EXIT_CANNOT_WRITE), EXIT_CANNOT_WRITE);
    result.verdict.valid = VERDICT_INVALID;
    assert_int_equal(ends_exit(&result, EXIT_INVALID), EXIT_INVALID);
    assert_int_equal(ends_exit(&result, EXIT_THRESHOLD), EXIT_THRESHOLD);
    result = (struct run_result){0};
    assert_int_equal(ends_exit(&result, EXIT_VALID), EXIT_VALID);
    assert_int_equal(ends_exit(&result, EXIT_UNKNOWN), EXIT_UNKNOWN);
}
