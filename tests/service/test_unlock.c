/* SPDX-License-Identifier: MIT */
/* test_unlock.c -- --unlock=later answers without waiting for Redis, and still releases
 * every lock. */
#include <signal.h>
#include <string.h>

#include "tests/service/batch.h"

enum { ORDERS = 50 };

static struct rig_service service, other;

static void buy(const struct rig_service *at, int64_t user, const char *outcome)
{
    static struct rig_answer answer;

    assert_true(rig_order(at->orders_port, rig_voucher(1), user, &answer));
    assert_string_equal(answer.outcome, outcome);
}

static double owed(void)
{
    return rig_metric(&service, "seckill_dlock_debts_owed{");
}

static bool owes_nothing(void *ignored)
{
    (void)ignored;
    return owed() == 0;
}

/* Each order of one user finds the lock free: a process sends its acquire after its own
 * releases. */
TEST(one_user_is_never_told_that_the_lock_is_held)
{
    service = RIG_START("--lock=reentrant", "--unlock=later");
    for (int i = 0; i < ORDERS; i++)
        buy(&service, 1, "accepted");
    assert_true(rig_until(owes_nothing, NULL, RIG_PATIENCE_MS));
    rig_stop(&service);
}

/* The release is sent before the client is answered, so the client's next order finds the lock free
 * at the other process too. The network may deliver that order before the release, so a few may be
 * refused; these are accepted when they are tried again. */
TEST(the_next_order_may_go_to_another_process)
{
    struct rig_service *at[] = {&service, &other};
    static struct rig_answer answer;
    int refused = 0;

    service = RIG_START("--lock=reentrant");
    other = RIG_START("--lock=reentrant");
    for (int i = 0; i < ORDERS; i++) {
        int64_t voucher = rig_voucher(1);

        assert_true(rig_order(at[i % 2]->orders_port, voucher, 1, &answer));
        if (strcmp(answer.outcome, "lock-busy") == 0)
            refused++;
        while (strcmp(answer.outcome, "lock-busy") == 0)
            assert_true(rig_order(at[i % 2]->orders_port, voucher, 1, &answer));
        assert_string_equal(answer.outcome, "accepted");
    }
    assert_true(refused < ORDERS / 4);
    rig_stop(&other);
    rig_stop(&service);
}

/* If the lock stayed until the end of its lease of 30 s, the other process would refuse the
 * user. */
TEST(a_stop_gives_back_what_is_owed)
{
    other = RIG_START("--lock=reentrant");
    for (int i = 0; i < 5; i++) {
        service = RIG_START("--lock=reentrant", "--unlock=later");
        buy(&service, 2, "accepted");
        rig_stop(&service);
        buy(&other, 2, "accepted");
    }
    rig_stop(&other);
}

/* These locks cannot release without waiting. */
TEST(other_locks_wait_all_the_same)
{
    static const char *const LOCKS[] = {"--lock=naive", "--lock=redlock", "--lock=pg-row",
                                        "--lock=local", "--lock=none"};

    for (size_t i = 0; i < sizeof(LOCKS) / sizeof(LOCKS[0]); i++) {
        service = RIG_START(LOCKS[i], "--unlock=later");
        buy(&service, 3, "accepted");
        buy(&service, 3, "accepted");
        rig_stop(&service);
    }
}

static void buy_while_redis_stops(const char *unlock)
{
    int64_t voucher = rig_voucher(5);

    service = BATCH_START("--lock=reentrant", unlock);
    batch_begin(voucher);
    batch_buy_blocked(&service, voucher, 1, 1);
    assert_int_equal(kill(rig_lab_pid("redis"), SIGSTOP), 0);
    batch_let_go();
    batch_expect("accepted", 1);
}

/* A thread that waits for the release learns that Redis gave no answer. */
TEST(the_client_does_not_wait_for_redis)
{
    buy_while_redis_stops("--unlock=after-commit");
    assert_true(rig_has_logged(&service, "release of lock "));
    assert_true(rig_has_logged(&service, "may or may not have applied it: "));
    assert_int_equal(kill(rig_lab_pid("redis"), SIGCONT), 0);
    rig_stop(&service);

    buy_while_redis_stops("--unlock=later");
    assert_false(rig_has_logged(&service, "release of lock "));
    assert_true(owed() == 1);
    assert_int_equal(kill(rig_lab_pid("redis"), SIGCONT), 0);
    assert_true(rig_until(owes_nothing, NULL, RIG_PATIENCE_MS));
    buy(&service, 1, "accepted");
    rig_stop(&service);
}

int main(void)
{
    return rig_run_with_lab();
}
