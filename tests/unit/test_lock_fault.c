/* SPDX-License-Identifier: MIT */
/* test_lock_fault.c -- arming, catching and releasing at fault points. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lock/fault.h"
#include "tests/registered.h"

static dlock_fault_state look(dlock_fault_point point)
{
    dlock_fault_state fault;

    dlock_fault_look(point, &fault);
    return fault;
}

static atomic_int passed_count;

static void *pass(void *key)
{
    DLOCK_FAULT(BEFORE_COMMIT, key);
    atomic_fetch_add(&passed_count, 1);
    return NULL;
}

static pthread_t start_passing(const char *key)
{
    pthread_t id;

    assert_int_equal(0, pthread_create(&id, NULL, pass, (void *)key));
    return id;
}

static void wait_until_held(void)
{
    const struct timespec ms = {.tv_nsec = 1000000};

    for (int i = 0; i < 5000 && !look(DLOCK_FAULT_BEFORE_COMMIT).holding; i++)
        nanosleep(&ms, NULL);
    assert_true(look(DLOCK_FAULT_BEFORE_COMMIT).holding);
}

static int allow(void **state)
{
    (void)state;
    dlock_fault_allow();
    return 0;
}

TEST(nothing_is_armed_before_it_is_allowed)
{
    assert_false(dlock_fault_is_allowed());
    assert_false(dlock_fault_arm(DLOCK_FAULT_BEFORE_COMMIT, DLOCK_FAULT_KILL, NULL));
    DLOCK_FAULT(BEFORE_COMMIT, "k");
    dlock_fault_allow();
    assert_true(dlock_fault_is_allowed());
}

TEST(names_go_both_ways)
{
    for (int i = 0; i < DLOCK_FAULT_POINT_COUNT; i++) {
        const char *name = dlock_fault_point_name((dlock_fault_point)i);

        assert_int_equal(i, dlock_fault_point_find(name));
        assert_true(strlen(dlock_fault_point_where((dlock_fault_point)i)) > 0);
    }
    for (int i = 0; i < DLOCK_FAULT_ACTION_COUNT; i++)
        assert_int_equal(
            i, dlock_fault_action_find(dlock_fault_action_name((dlock_fault_action)i)));
    assert_int_equal(-1, dlock_fault_point_find("nowhere"));
    assert_int_equal(-1, dlock_fault_point_find(NULL));
    assert_int_equal(-1, dlock_fault_action_find(""));
}

TEST_WITH(allow, NULL, one_fitting_thread_is_held)
{
    uint64_t caught = look(DLOCK_FAULT_BEFORE_COMMIT).caught;
    pthread_t id;

    atomic_store(&passed_count, 0);
    assert_true(dlock_fault_arm(DLOCK_FAULT_BEFORE_COMMIT, DLOCK_FAULT_HOLD, "mine"));
    assert_false(dlock_fault_arm(DLOCK_FAULT_BEFORE_COMMIT, DLOCK_FAULT_HOLD, "mine"));
    pass((void *)"other"); /* calls with another key, or at another point, pass */
    DLOCK_FAULT(AFTER_COMMIT, "mine");
    id = start_passing("mine");
    wait_until_held();
    assert_false(look(DLOCK_FAULT_BEFORE_COMMIT).armed);
    assert_string_equal("mine", look(DLOCK_FAULT_BEFORE_COMMIT).key);
    assert_int_equal(caught + 1, look(DLOCK_FAULT_BEFORE_COMMIT).caught);
    assert_false(dlock_fault_arm(DLOCK_FAULT_BEFORE_COMMIT, DLOCK_FAULT_HOLD, NULL));
    pass((void *)"mine"); /* one call for each arming */
    assert_int_equal(2, atomic_load(&passed_count));
    assert_true(dlock_fault_release(DLOCK_FAULT_BEFORE_COMMIT));
    pthread_join(id, NULL);
    assert_int_equal(3, atomic_load(&passed_count));
    assert_false(look(DLOCK_FAULT_BEFORE_COMMIT).holding);
    assert_false(dlock_fault_release(DLOCK_FAULT_BEFORE_COMMIT));
}

TEST_WITH(allow, NULL, any_key_fits_when_none_was_named)
{
    pthread_t id;

    assert_true(dlock_fault_arm(DLOCK_FAULT_BEFORE_COMMIT, DLOCK_FAULT_HOLD, ""));
    id = start_passing("whatever");
    wait_until_held();
    assert_string_equal("whatever", look(DLOCK_FAULT_BEFORE_COMMIT).key);
    assert_true(dlock_fault_release(DLOCK_FAULT_BEFORE_COMMIT));
    pthread_join(id, NULL);
}

TEST_WITH(allow, NULL, an_unused_arming_is_taken_back)
{
    assert_true(dlock_fault_arm(DLOCK_FAULT_BEFORE_COMMIT, DLOCK_FAULT_KILL, NULL));
    assert_true(look(DLOCK_FAULT_BEFORE_COMMIT).armed);
    assert_int_equal(1, atomic_load(&dlock_fault_armed_count));
    assert_true(dlock_fault_release(DLOCK_FAULT_BEFORE_COMMIT));
    assert_int_equal(0, atomic_load(&dlock_fault_armed_count));
    DLOCK_FAULT(BEFORE_COMMIT, "still alive");
}

TEST_WITH(allow, NULL, a_point_does_only_what_it_can)
{
    for (int i = 0; i < DLOCK_FAULT_POINT_COUNT; i++) {
        for (int action = 0; action < DLOCK_FAULT_ACTION_COUNT; action++) {
            bool can =
                dlock_fault_can((dlock_fault_point)i, (dlock_fault_action)action);

            assert_true(can || action == DLOCK_FAULT_FAIL || action == DLOCK_FAULT_CUT);
            assert_int_equal(can, dlock_fault_arm((dlock_fault_point)i,
                                                  (dlock_fault_action)action, "k"));
            assert_int_equal(can, dlock_fault_release((dlock_fault_point)i));
        }
    }
    assert_true(dlock_fault_can(DLOCK_FAULT_AFTER_COMMIT, DLOCK_FAULT_FAIL));
    assert_false(dlock_fault_can(DLOCK_FAULT_BEFORE_RELEASE, DLOCK_FAULT_FAIL));
    assert_false(dlock_fault_can(DLOCK_FAULT_WATCHDOG_TICK, DLOCK_FAULT_CUT));
}

TEST_WITH(allow, NULL, a_failure_is_left_to_who_reaches_the_point)
{
    assert_true(dlock_fault_arm(DLOCK_FAULT_BEFORE_REQUEST, DLOCK_FAULT_CUT, "k"));
    assert_int_equal(DLOCK_FAULT_NOTHING,
                     DLOCK_FAULT_ASK(DLOCK_FAULT_BEFORE_REQUEST, "other"));
    assert_int_equal(DLOCK_FAULT_CUT, DLOCK_FAULT_ASK(DLOCK_FAULT_BEFORE_REQUEST, "k"));
    assert_int_equal(DLOCK_FAULT_NOTHING,
                     DLOCK_FAULT_ASK(DLOCK_FAULT_BEFORE_REQUEST, "k"));
    assert_true(dlock_fault_arm(DLOCK_FAULT_WATCHDOG_TICK, DLOCK_FAULT_FAIL, NULL));
    assert_int_equal(DLOCK_FAULT_FAIL, DLOCK_FAULT_ASK(DLOCK_FAULT_WATCHDOG_TICK, "k"));
    assert_int_equal(1, look(DLOCK_FAULT_WATCHDOG_TICK).caught);
}

/* Fork a child that reaches an armed point. Returns how it ended or stopped. */
static int child_status(dlock_fault_action action)
{
    int status = 0;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        if (!dlock_fault_arm(DLOCK_FAULT_BEFORE_COMMIT, action, "k"))
            _exit(1);
        DLOCK_FAULT(BEFORE_COMMIT, "k");
        _exit(0);
    }
    assert_int_equal(pid, waitpid(pid, &status, WUNTRACED));
    if (WIFSTOPPED(status)) {
        int after = 0;

        kill(pid, SIGCONT);
        assert_int_equal(pid, waitpid(pid, &after, 0));
        assert_true(WIFEXITED(after) && WEXITSTATUS(after) == 0);
    }
    return status;
}

TEST_WITH(allow, NULL, whole_processes_stop_and_die)
{
    int status = child_status(DLOCK_FAULT_KILL);

    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    status = child_status(DLOCK_FAULT_STOP);
    assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
}
