/* SPDX-License-Identifier: MIT */
/* test_background_blame.c -- the cause of a background load that was not clean. */
#include <string.h>

#include "base/os/clock.h"
#include "loadtest/scenario/background/blame.h"
#include "tests/registered.h"

static const char clean[] = "10 p1 t1 acquire a -> 11 ok until=4000\n"
                            "20 p1 t1 release a -> 21 ok\n"
                            "30 p2 t2 acquire a -> 31 ok until=4000\n"
                            "40 p2 t2 release a -> 41 ok\n";

/* Both owners have a lease of the lock for the same time. */
static const char both[] = "10 p1 t1 acquire a -> 11 ok until=4000\n"
                           "30 p2 t2 acquire a -> 31 ok until=4000\n"
                           "40 p2 t2 release a -> 41 ok\n"
                           "50 p1 t1 release a -> 51 ok\n";

/* The first owner works on after the end of its lease. */
static const char late[] = "10 p1 t1 acquire a -> 11 ok until=400\n"
                           "600 p2 t2 acquire a -> 610 ok until=4000\n"
                           "700 p1 t1 release a -> 710 lost\n"
                           "800 p2 t2 release a -> 810 ok\n";

static const char lost_data[] = "25 fault redis-restart happened store\n";
static const char its_own[] = "25 fault process-stop happened process pid=41\n";
static const char elsewhere[] = "25 fault process-kill happened store pid=999\n";

/* The result for `calls` with the faults of `faults`, in milliseconds. */
static enum background_blame blame(const char *calls, const char *faults, unsigned caps,
                                   char why[300])
{
    struct check_options options = check_options_default();
    struct history h = {0}, story = {0};
    struct check_verdict verdict;
    struct check *check = check_new();
    enum background_blame blame;
    char error[200];

    assert_true(history_parse(&h, calls, error, sizeof error));
    assert_true(history_parse(&story, faults, error, sizeof error));
    history_scale(&h, DLOCK_NS_PER_MS);
    history_scale(&story, DLOCK_NS_PER_MS);
    background_add_faults(&h, &story);
    check_judge(check, &h, &options, &verdict);
    why[0] = '\0';
    blame = background_blame_of(&h, &verdict, caps, why, 300);
    check_free(check);
    history_free(&h);
    history_free(&story);
    return blame;
}

TEST(test_a_clean_background_is_clean)
{
    char why[300];

    assert_int_equal(blame(clean, "", HISTORY_TEXT_CAPS, why), BACKGROUND_CLEAN);
    assert_string_equal(why, "");
    assert_int_equal(blame(clean, lost_data, HISTORY_TEXT_CAPS, why), BACKGROUND_CLEAN);
}

TEST(test_two_holders_are_the_lock_s_doing)
{
    char why[300];

    assert_int_equal(blame(both, "", HISTORY_TEXT_CAPS, why), BACKGROUND_LOCK);
    assert_non_null(strstr(why, "the background load: "));
}

TEST(test_a_fault_of_the_server_explains_them)
{
    char why[300];

    assert_int_equal(blame(both, lost_data, HISTORY_TEXT_CAPS, why), BACKGROUND_CLEAN);
}

/* The fault came before both holds. Without owners, a delete that is too late can free the lock of
 * any later holder. */
TEST(test_without_owners_it_explains_what_comes_later)
{
    static const char earlier[] = "5 fault redis-restart happened store\n";
    char why[300];

    assert_int_equal(blame(both, earlier, DLOCK_CAP_OWNED, why), BACKGROUND_LOCK);
    assert_int_equal(blame(both, earlier, 0, why), BACKGROUND_CLEAN);
}

TEST(test_a_fault_of_an_actor_explains_nothing)
{
    char why[300];

    assert_int_equal(blame(both, elsewhere, HISTORY_TEXT_CAPS, why), BACKGROUND_LOCK);
}

/* The scenario stops no process, so only a fault of a server is an excuse. */
TEST(test_a_fault_of_its_own_process_is_no_excuse)
{
    char calls[600], why[300];

    snprintf(calls, sizeof calls,
             "system p1 pid=41 variant=lua caps=exclusive,expires,owned lease=4000\n%s",
             both);
    assert_int_equal(blame(calls, its_own, HISTORY_TEXT_CAPS, why), BACKGROUND_MACHINE);
}

/* The checker gives no reason for a grant that breaks the order of the queue. */
TEST(test_only_an_earlier_fault_explains_an_order)
{
    struct check_verdict v = {.findings[CHECK_fairness] = {
                                  .valid = VERDICT_INVALID,
                                  .example_count = 1,
                                  .examples[0] = {.to_ns = 30,
                                                  .assumption = DLOCK_ASSUMES_LOCK,
                                                  .text = "overtaken"}}};
    struct history h = {0};
    char error[200], why[300];

    assert_true(history_parse(&h, lost_data, error, sizeof error)); /* a fault at 25 */
    assert_int_equal(background_blame_of(&h, &v, 0, why, sizeof why), BACKGROUND_CLEAN);
    v.findings[CHECK_fairness].examples[0].to_ns = 20;
    assert_int_equal(background_blame_of(&h, &v, 0, why, sizeof why), BACKGROUND_LOCK);
    assert_string_equal(why, "the background load: fairness: overtaken");
    history_free(&h);
}

/* A read hold may come back with old data; the step of a clock does not bring its lease back. */
TEST(test_only_lost_data_explains_a_refusal)
{
    static const char refused[] =
        "system p1 caps=exclusive,expires,owned,reentrant,shared lease=4000\n"
        "system p2 caps=exclusive,expires,owned,reentrant,shared lease=4000\n"
        "10 p1 t1 acquire a -> 11 ok until=4000 level=1 shared\n"
        "20 p1 t1 release a -> 21 ok shared\n"
        "30 p2 t2 acquire a -> 31 ok until=4000 level=1 shared\n"
        "40 p2 t2 release a -> 41 ok shared\n"
        "50 p2 t2 acquire a -> 51 busy\n";
    static const char clock[] = "25 fault clock happened clock\n";
    char why[300];

    assert_int_equal(blame(refused, "", HISTORY_TEXT_CAPS, why), BACKGROUND_LOCK);
    assert_int_equal(blame(refused, clock, HISTORY_TEXT_CAPS, why), BACKGROUND_LOCK);
    assert_int_equal(blame(refused, lost_data, HISTORY_TEXT_CAPS, why), BACKGROUND_CLEAN);
}

/* One of five nodes comes back with a lock that was released while it was away, and another node is
 * away. */
TEST(test_an_outage_since_the_last_hold_explains_a_refusal)
{
    static const char refused[] = "10 p1 t1 acquire a -> 11 ok until=4000\n"
                                  "20 p1 t1 release a -> 21 ok\n"
                                  "50 p2 t2 acquire a -> 61 busy\n";
    static const char outage[] = "40 fault restart begun network\n"
                                 "60 fault restart ended network\n";
    static const char before[] = "1 fault restart begun network\n"
                                 "2 fault restart ended network\n";
    char why[300];

    assert_int_equal(blame(refused, "", HISTORY_TEXT_CAPS, why), BACKGROUND_LOCK);
    assert_int_equal(blame(refused, before, HISTORY_TEXT_CAPS, why), BACKGROUND_LOCK);
    assert_int_equal(blame(refused, outage, HISTORY_TEXT_CAPS, why), BACKGROUND_CLEAN);
}

TEST(test_lateness_is_the_machine_s)
{
    char why[300];

    assert_int_equal(blame(late, "", HISTORY_TEXT_CAPS, why), BACKGROUND_MACHINE);
    assert_non_null(strstr(why, "the background load: "));
}
