/* SPDX-License-Identifier: MIT */
/* test_combined.c -- orders that wait for one another are sold in one transaction, and each of
 * them gets what it would have got alone.
 *
 * A batch is made on purpose: the test holds the voucher's row, so that the first order of a
 * process waits in its transaction, and all that come after it wait to be sold together. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "tests/service/rig.h"

enum { BUYERS_MAX = 32 };

static struct rig_service service, other;

/* ---- buyers ---- */

struct buyer {
    pthread_t thread;
    int port;
    int64_t voucher, user;
    char request_id[64];
    struct rig_answer answer;
};

static struct buyer buyers[BUYERS_MAX];
static int buyer_count;

static void *buy(void *arg)
{
    struct buyer *b = arg;

    if (b->request_id[0] != '\0')
        (void)rig_order_named(b->port, b->voucher, b->user, b->request_id, &b->answer);
    else
        (void)rig_order(b->port, b->voucher, b->user, &b->answer);
    return NULL;
}

static void begin_buying(const struct rig_service *at, int64_t voucher, int64_t user,
                         const char *request_id)
{
    struct buyer *b = &buyers[buyer_count++];

    assert_true(buyer_count <= BUYERS_MAX);
    memset(b, 0, sizeof(*b));
    b->port = at->orders_port;
    b->voucher = voucher;
    b->user = user;
    (void)snprintf(b->request_id, sizeof(b->request_id), "%s", request_id);
    assert_int_equal(pthread_create(&b->thread, NULL, buy, b), 0);
}

static void await_buyers(void)
{
    for (int i = 0; i < buyer_count; i++)
        (void)pthread_join(buyers[i].thread, NULL);
}

static int count_of(const char *outcome)
{
    int count = 0;

    for (int i = 0; i < buyer_count; i++)
        count += strcmp(buyers[i].answer.outcome, outcome) == 0;
    return count;
}

static void expect(const char *outcome, int count)
{
    if (count_of(outcome) == count)
        return;
    for (int i = 0; i < buyer_count; i++)
        print_message("user %lld: %s %s\n", (long long)buyers[i].user,
                      buyers[i].answer.outcome, buyers[i].answer.body);
    fail_msg("%d instead of %d are %s", count_of(outcome), count, outcome);
}

/* ---- batches ---- */

static void run(const char *sql)
{
    assert_int_equal(db_script(rig_db(), sql), DB_OK);
}

static void hold_row(int64_t voucher)
{
    char sql[160];

    run("BEGIN");
    (void)snprintf(sql, sizeof(sql),
                   "SELECT 1 FROM tb_seckill_voucher WHERE voucher_id = %lld FOR UPDATE",
                   (long long)voucher);
    run(sql);
}

struct expected_waiting {
    const struct rig_service *at;
    const char *metric;
    double count;
};

static bool is_waiting(void *arg)
{
    const struct expected_waiting *e = arg;

    return rig_metric(e->at, e->metric) == e->count;
}

static void await(const struct rig_service *at, const char *metric, double count)
{
    struct expected_waiting e = {at, metric, count};

    if (!rig_until(is_waiting, &e, RIG_PATIENCE_MS))
        fail_msg("%s is %g instead of %g", metric, rig_metric(at, metric), count);
}

/* The first order of a process is in its transaction, and cannot go on. */
static void begin_blocked(const struct rig_service *at, int64_t voucher, int64_t user)
{
    begin_buying(at, voucher, user, "");
    await(at, "seckill_database_connections_in_use ", 1);
}

static void await_waiting(const struct rig_service *at, int count)
{
    await(at, "seckill_orders_waiting ", count);
}

static void begin_batches(void)
{
    buyer_count = 0;
}

/* User 1 waits in a transaction and users 2 to `last` wait to be sold; then all go on. */
static void buy_in_a_batch(int64_t voucher, int last)
{
    begin_batches();
    hold_row(voucher);
    begin_blocked(&service, voucher, 1);
    for (int user = 2; user <= last; user++)
        begin_buying(&service, voucher, user, "");
    await_waiting(&service, last - 1);
    run("COMMIT");
    await_buyers();
}

static double batched(void)
{
    return rig_metric(&service, "seckill_batched_orders_total ");
}

/* The row is held for as long as a slow machine needs to send all orders. */
#define START(...)                                                                     \
    RIG_START("--order-path=combined", "--statement-timeout=50s", "--workers=40",      \
              "--database-wait=50s", __VA_ARGS__)

/* ---- the guards ---- */

static void sell_under(const char *stock_guard, const char *duplicate_guard)
{
    enum { STOCK = 8, USERS = 12 };
    char stock[64], duplicate[64];
    int64_t voucher = rig_voucher(STOCK);

    (void)snprintf(stock, sizeof(stock), "--stock-guard=%s", stock_guard);
    (void)snprintf(duplicate, sizeof(duplicate), "--duplicate-guard=%s", duplicate_guard);
    service = START("--lock=fenced", "--lock-scope=voucher", stock, duplicate);
    buy_in_a_batch(voucher, USERS);
    expect("accepted", STOCK);
    expect("sold-out", USERS - STOCK);
    assert_int_equal(rig_orders(voucher), STOCK);
    assert_int_equal(rig_stock(voucher), 0);
    assert_int_equal(rig_duplicates(voucher), 0);
    rig_stop(&service);
}

static void every_guard_sells_what_there_is(void **state)
{
    static const char *const GUARDS[] = {"read-write", "decrement", "conditional",
                                         "version", "row-lock", "fence"};
    static const char *const DUPLICATES[] = {"none", "count", "unique"};

    (void)state;
    for (size_t i = 0; i < sizeof(GUARDS) / sizeof(GUARDS[0]); i++)
        sell_under(GUARDS[i], DUPLICATES[i % 3]);
}

/* Every buyer was told the number of its own order. */
static void expect_own_orders(int64_t voucher)
{
    static const struct postgres_statement OWNER = {
        "combined_owner", "SELECT user_id FROM tb_voucher_order WHERE id = $1"
                          " AND voucher_id = $2", "ii"};

    for (int i = 0; i < buyer_count; i++) {
        long long id = 0;

        assert_int_equal(sscanf(buyers[i].answer.body, "{\"id\":\"%lld\"", &id), 1);
        assert_int_equal(db_run_one(rig_db(), &OWNER, DB_VALUES(DB_INT(id), DB_INT(voucher))),
                         DB_OK);
        assert_int_equal(db_int(rig_db(), 0, 0, 0), rig_user(buyers[i].user));
    }
}

static void a_batch_is_one_transaction(void **state)
{
    int64_t voucher = rig_voucher(20);
    static const struct postgres_statement TRANSACTIONS = {
        "combined_transactions",
        "SELECT count(DISTINCT xmin::text), count(*) FROM tb_voucher_order"
        " WHERE voucher_id = $1", "i"};

    (void)state;
    service = START("--lock=none");
    buy_in_a_batch(voucher, 11);
    expect("accepted", 11);
    assert_int_equal(db_run_one(rig_db(), &TRANSACTIONS, DB_VALUES(DB_INT(voucher))),
                     DB_OK);
    assert_int_equal(db_int(rig_db(), 0, 0, 0), 2); /* the first alone, then ten */
    assert_int_equal(db_int(rig_db(), 0, 0, 1), 11);
    assert_true(batched() == 10);
    expect_own_orders(voucher);
    rig_stop(&service);
}

/* Users 3 and 4 have bought before, and user 5 has sent the same request twice. */
static void buy_beside_bad_neighbours(const char *duplicate_guard)
{
    int64_t voucher = rig_voucher(20);
    struct rig_answer before;
    char request[64];

    (void)snprintf(request, sizeof(request), "twice-%lld", (long long)voucher);
    service = START("--lock=none", duplicate_guard);
    assert_true(rig_order(service.orders_port, voucher, 3, &before));
    assert_true(rig_order(service.orders_port, voucher, 4, &before));
    begin_batches();
    hold_row(voucher);
    begin_blocked(&service, voucher, 1);
    for (int user = 2; user <= 8; user++)
        begin_buying(&service, voucher, user, user == 5 ? request : "");
    begin_buying(&service, voucher, 5, request);
    await_waiting(&service, 8);
    run("COMMIT");
    await_buyers();
    expect("duplicate", 2);
    expect("accepted", 7); /* 1, 2, 5 twice with one order, 6, 7, 8 */
    assert_int_equal(rig_orders(voucher), 8);
    assert_int_equal(rig_stock(voucher), 12);
    assert_int_equal(rig_duplicates(voucher), 0);
    rig_stop(&service);
}

static void no_order_fails_by_its_neighbours(void **state)
{
    (void)state;
    buy_beside_bad_neighbours("--duplicate-guard=unique");
    buy_beside_bad_neighbours("--duplicate-guard=count");
}

/* ---- locks ---- */

/* The same four users at two processes at once. */
static void buy_at_two(const char *lock, const char *scope, const char *guard)
{
    int64_t voucher = rig_voucher(100);

    service = START(lock, scope, guard, "--duplicate-guard=count");
    other = START(lock, scope, guard, "--duplicate-guard=count");
    begin_batches();
    hold_row(voucher);
    begin_blocked(&service, voucher, 1);
    begin_blocked(&other, voucher, 1);
    for (int user = 2; user <= 4; user++) {
        begin_buying(&service, voucher, user, "");
        begin_buying(&other, voucher, user, "");
    }
    await_waiting(&service, 3);
    await_waiting(&other, 3);
    run("COMMIT");
    await_buyers();
    rig_stop(&service);
    rig_stop(&other);
    assert_int_equal(rig_orders(voucher), count_of("accepted"));
    if (strcmp(lock, "--lock=none") == 0)
        assert_true(rig_duplicates(voucher) > 0);
    if (strcmp(guard, "--stock-guard=read-write") == 0)
        assert_true(100 - rig_stock(voucher) < rig_orders(voucher));
}

static void without_a_lock_two_processes_sell_twice(void **state)
{
    (void)state;
    buy_at_two("--lock=none", "--lock-scope=user", "--stock-guard=conditional");
}

static void without_a_lock_two_processes_lose_updates(void **state)
{
    (void)state;
    buy_at_two("--lock=none", "--lock-scope=user", "--stock-guard=read-write");
}

static void a_lock_of_the_user_keeps_the_second_process_out(void **state)
{
    int64_t voucher = rig_voucher(100);
    struct rig_answer got;

    (void)state;
    service = START("--lock=reentrant", "--duplicate-guard=count");
    other = START("--lock=reentrant", "--duplicate-guard=count");
    begin_batches();
    hold_row(voucher);
    begin_blocked(&service, voucher, 1);
    begin_buying(&service, voucher, 2, "");
    await_waiting(&service, 1);
    for (int user = 1; user <= 2; user++) {
        assert_true(rig_order(other.orders_port, voucher, user, &got));
        assert_string_equal(got.outcome, "lock-busy");
    }
    run("COMMIT");
    await_buyers();
    expect("accepted", 2);
    assert_int_equal(rig_duplicates(voucher), 0);
    rig_stop(&service);
    rig_stop(&other);
}

static void the_leader_takes_the_lock_of_the_voucher_once(void **state)
{
    static const struct postgres_statement FENCES = {
        "combined_fences",
        "SELECT count(DISTINCT fence), count(*) FROM tb_voucher_write WHERE voucher_id = $1"
        " AND outcome = 'accepted' AND lock_name IS NOT NULL", "i"};
    int64_t voucher = rig_voucher(20);

    (void)state;
    service = START("--lock=fenced", "--lock-scope=voucher", rig_record_flag());
    buy_in_a_batch(voucher, 7);
    expect("accepted", 7);
    assert_true(rig_metric(&service, "seckill_lock_acquire_total{lock=\"fenced\","
                                     "result=\"ok\"}") == 2);
    assert_int_equal(db_run_one(rig_db(), &FENCES, DB_VALUES(DB_INT(voucher))), DB_OK);
    assert_int_equal(db_int(rig_db(), 0, 0, 0), 2);
    assert_int_equal(db_int(rig_db(), 0, 0, 1), 7);
    rig_stop(&service);
}

/* Under the voucher's lock a count must not miss the other order of the same batch. */
static void two_orders_of_a_user_do_not_share_a_counted_batch(void **state)
{
    int64_t voucher = rig_voucher(20);

    (void)state;
    service = START("--lock=reentrant", "--lock-scope=voucher", "--duplicate-guard=count");
    begin_batches();
    hold_row(voucher);
    begin_blocked(&service, voucher, 1);
    for (int i = 0; i < 4; i++)
        begin_buying(&service, voucher, 2, "");
    await_waiting(&service, 4);
    run("COMMIT");
    await_buyers();
    expect("accepted", 2);
    expect("duplicate", 3);
    assert_int_equal(rig_duplicates(voucher), 0);
    rig_stop(&service);
}

/* ---- faults, time and the end ---- */

static void arm(const char *point, const char *action, const char *key)
{
    struct rig_answer got;
    char path[200];

    (void)snprintf(path, sizeof(path), "/faults/arm?point=%s&action=%s&key=%s", point,
                   action, key);
    assert_true(rig_request(service.admin_port, "POST", path, NULL, NULL, &got));
    assert_int_equal(got.status, 200);
}

/* A fault of user 3's order; user 1 waits in a transaction, users 2 to 6 make the batch. */
static void buy_with_a_fault(const char *point, const char *action, const char *outcome,
                             int with_that_outcome)
{
    int64_t voucher = rig_voucher(20);
    char lock[40];

    (void)snprintf(lock, sizeof(lock), "lock:order:%lld", (long long)rig_user(3));
    service = START("--allow-faults", "--lock=reentrant", "--stock-guard=row-lock");
    arm(point, action, lock);
    buy_in_a_batch(voucher, 6);
    expect(outcome, with_that_outcome);
    assert_int_equal(rig_orders(voucher), count_of("accepted"));
    assert_int_equal(20 - rig_stock(voucher), count_of("accepted"));
    rig_stop(&service);
}

static void a_fault_meets_the_order_that_it_is_armed_for(void **state)
{
    (void)state;
    buy_with_a_fault("after-read", "fail", "unavailable", 1);
    buy_with_a_fault("before-commit", "fail", "unavailable", 1);
    buy_with_a_fault("after-commit", "fail", "accepted", 6);
    buy_with_a_fault("after-acquire", "cut", "accepted", 6);
}

/* Each order of the batch asks what became of the COMMIT. */
static void a_commit_without_an_answer_is_settled_for_each_order(void **state)
{
    (void)state;
    buy_with_a_fault("before-commit", "cut", "unavailable", 5);
    buy_with_a_fault("after-commit", "cut", "accepted", 6);
}

static void an_order_waits_no_longer_than_it_may(void **state)
{
    int64_t voucher = rig_voucher(20);
    struct rig_answer got;

    (void)state;
    service = RIG_START("--order-path=combined", "--statement-timeout=50s",
                        "--lock=none", "--database-wait=200ms");
    begin_batches();
    hold_row(voucher);
    begin_blocked(&service, voucher, 1);
    assert_true(rig_order(service.orders_port, voucher, 2, &got));
    assert_string_equal(got.outcome, "database-busy");
    assert_int_equal(got.status, 503);
    assert_non_null(strstr(got.head, "Retry-After"));
    run("COMMIT");
    await_buyers();
    expect("accepted", 1);
    assert_int_equal(rig_orders(voucher), 1);
    rig_stop(&service);
}

static void a_stop_waits_for_orders_that_wait(void **state)
{
    int64_t voucher = rig_voucher(20);

    (void)state;
    service = START("--lock=none");
    begin_batches();
    hold_row(voucher);
    begin_blocked(&service, voucher, 1);
    for (int user = 2; user <= 5; user++)
        begin_buying(&service, voucher, user, "");
    await_waiting(&service, 4);
    rig_signal(&service, 15);
    run("COMMIT");
    await_buyers();
    expect("accepted", 5);
    assert_int_equal(rig_orders(voucher), 5);
    assert_int_equal(rig_wait(&service, RIG_PATIENCE_MS), 0);
}

static void unlocking_before_the_commit_is_refused(void **state)
{
    char log[4096];

    (void)state;
    assert_int_equal(rig_run((const char *const[]){"--order-path=combined",
                                                   "--unlock=before-commit", NULL},
                             log, sizeof(log)),
                     64);
    assert_non_null(strstr(log, "--order-path=each"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_guard_sells_what_there_is),
        cmocka_unit_test(a_batch_is_one_transaction),
        cmocka_unit_test(no_order_fails_by_its_neighbours),
        cmocka_unit_test(without_a_lock_two_processes_sell_twice),
        cmocka_unit_test(without_a_lock_two_processes_lose_updates),
        cmocka_unit_test(a_lock_of_the_user_keeps_the_second_process_out),
        cmocka_unit_test(the_leader_takes_the_lock_of_the_voucher_once),
        cmocka_unit_test(two_orders_of_a_user_do_not_share_a_counted_batch),
        cmocka_unit_test(a_fault_meets_the_order_that_it_is_armed_for),
        cmocka_unit_test(a_commit_without_an_answer_is_settled_for_each_order),
        cmocka_unit_test(an_order_waits_no_longer_than_it_may),
        cmocka_unit_test(a_stop_waits_for_orders_that_wait),
        cmocka_unit_test(unlocking_before_the_commit_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
