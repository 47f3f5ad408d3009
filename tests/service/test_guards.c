/* SPDX-License-Identifier: MIT */
/* test_guards.c -- the writes that each guard refuses and accepts, without a lock. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "db/sale_batch.h"
#include "tests/service/rig.h"

static struct rig_answer answer;

static const char *const STOCK_GUARDS[] = {"read-write", "decrement", "conditional",
                                           "version", "row-lock"};
static const char *const DUPLICATE_GUARDS[] = {"none", "count", "unique"};

#define COUNT_OF(list) (sizeof(list) / sizeof((list)[0]))

static struct rig_service start(const char *stock_guard, const char *duplicate_guard,
                                const char *more)
{
    char stock[64];
    char duplicate[64];

    (void)snprintf(stock, sizeof(stock), "--stock-guard=%s", stock_guard);
    (void)snprintf(duplicate, sizeof(duplicate), "--duplicate-guard=%s",
                   duplicate_guard);
    return RIG_START("--lock=none", "--process=guard-test", "--order-path=each", stock,
                     duplicate, more);
}

static void expect(const char *outcome)
{
    if (strcmp(answer.outcome, outcome) != 0)
        fail_msg("%s instead of %s: %s", answer.outcome, outcome, answer.body);
}

/* Each row names its process, and the time at which the sale window was checked, which is before
 * the write. */
static int64_t rows_of(int64_t voucher, const char *stock_guard,
                       const char *duplicate_guard)
{
    static const struct postgres_statement ROWS = {
        "guards_rows",
        "SELECT count(*) FROM tb_voucher_order WHERE voucher_id = $1"
        " AND stock_guard = $2 AND duplicate_guard = $3 AND lock_variant = 'none'"
        " AND process = 'guard-test' AND fence IS NULL"
        " AND admitted_at BETWEEN create_time - interval '1 minute' AND create_time",
        "itt"};

    assert_int_equal(db_run_one(rig_db(), &ROWS,
                                DB_VALUES(DB_INT(voucher), DB_TEXT(stock_guard),
                                          DB_TEXT(duplicate_guard))),
                     DB_OK);
    return db_int(rig_db(), 0, 0, 0);
}

/* Each guard in turn sells exactly the stock. */
TEST(every_stock_guard_sells_what_there_is)
{
    enum { STOCK = 5 };

    for (size_t i = 0; i < COUNT_OF(STOCK_GUARDS); i++) {
        struct rig_service s = start(STOCK_GUARDS[i], "count", NULL);
        int64_t voucher = rig_voucher(STOCK);

        for (int user = 1; user <= STOCK + 3; user++) {
            assert_true(rig_order(s.orders_port, voucher, user, &answer));
            expect(user <= STOCK ? "accepted" : "sold-out");
        }
        assert_int_equal(rig_orders(voucher), STOCK);
        assert_int_equal(rig_stock(voucher), 0);
        assert_int_equal(rows_of(voucher, STOCK_GUARDS[i], "count"), STOCK);
        rig_stop(&s);
    }
}

/* The first order was made under the same guard or another one, by a service that runs beside. */
TEST(every_duplicate_guard_but_none_stops_the_second)
{
    enum { COUNT = COUNT_OF(DUPLICATE_GUARDS) };

    for (size_t i = 0; i < (size_t)COUNT * COUNT; i++) {
        const char *second = DUPLICATE_GUARDS[i % COUNT];
        struct rig_service first = start("conditional", DUPLICATE_GUARDS[i / COUNT], NULL);
        struct rig_service s = start("conditional", second, NULL);
        int64_t voucher = rig_voucher(10);
        bool stops = strcmp(second, "none") != 0;

        assert_true(rig_order(first.orders_port, voucher, 1, &answer));
        expect("accepted");
        for (int again = 0; again < 2; again++) {
            assert_true(rig_order(s.orders_port, voucher, 1, &answer));
            expect(stops ? "duplicate" : "accepted");
        }
        assert_int_equal(rig_orders(voucher), stops ? 1 : 3);
        assert_int_equal(rig_stock(voucher), stops ? 9 : 7);
        rig_stop(&first);
        rig_stop(&s);
    }
}

enum { BUYERS = 8, TRIES = 15 };

struct buyer {
    pthread_t thread;
    int port;
    int64_t voucher;
    int64_t first_user;
    int accepted, odd;
};

/* `first_user` 0: always the same user. */
static void *buy(void *arg)
{
    struct buyer *b = arg;
    static _Thread_local struct rig_answer got;

    for (int i = 0; i < TRIES; i++) {
        int64_t user = b->first_user > 0 ? b->first_user + i : 1;

        if (!rig_order(b->port, b->voucher, user, &got) || got.status == 500)
            b->odd++;
        b->accepted += strcmp(got.outcome, "accepted") == 0;
    }
    return NULL;
}

static int buy_at_once(int port, int64_t voucher, bool all_are_one)
{
    static struct buyer buyers[BUYERS]; /* a failed test leaves their threads behind */
    int accepted = 0;

    for (int i = 0; i < BUYERS; i++) {
        buyers[i] = (struct buyer){.port = port, .voucher = voucher};
        buyers[i].first_user = all_are_one ? 0 : i * TRIES + 1;
        assert_int_equal(pthread_create(&buyers[i].thread, NULL, buy, &buyers[i]), 0);
    }
    for (int i = 0; i < BUYERS; i++) {
        (void)pthread_join(buyers[i].thread, NULL);
        accepted += buyers[i].accepted;
    }
    for (int i = 0; i < BUYERS; i++)
        assert_int_equal(buyers[i].odd, 0);
    return accepted;
}

/* Three of the stock guards are correct without a lock, even if all buyers come at once. */
TEST(sound_stock_guards_need_no_lock)
{
    static const char *const SOUND[] = {"conditional", "version", "row-lock"};
    enum { STOCK = 40 };

    for (size_t i = 0; i < COUNT_OF(SOUND); i++) {
        struct rig_service s = start(SOUND[i], "none", NULL);
        int64_t voucher = rig_voucher(STOCK);

        assert_int_equal(buy_at_once(s.orders_port, voucher, false), STOCK);
        assert_int_equal(rig_orders(voucher), STOCK);
        assert_int_equal(rig_stock(voucher), 0);
        rig_stop(&s);
    }
}

TEST(the_unique_index_needs_no_lock)
{
    struct rig_service s = start("conditional", "unique", NULL);
    int64_t voucher = rig_voucher(1000);

    assert_int_equal(buy_at_once(s.orders_port, voucher, true), 1);
    assert_int_equal(rig_orders(voucher), 1);
    assert_int_equal(rig_stock(voucher), 999);
    assert_true(rig_metric(&s, "seckill_orders_stopped_total{layer=\"unique\"") > 0);
    rig_stop(&s);
}

static struct rig_service faulty;

/* Hold user 1 between the read and the write, and let `user` order in this time. */
static void order_inside_another(struct rig_held *held, const char *meanwhile, int64_t user)
{
    char point[80];

    (void)snprintf(point, sizeof(point), "point=after-read&action=hold&key=lock:order:%lld",
                   (long long)rig_user(1));
    rig_fault(&faulty, "arm", point, 200);
    rig_fault(&faulty, "arm", "point=after-read&action=hold", 409);
    rig_order_beside(held, &faulty, held->voucher, 1);
    rig_await_held(&faulty, "after-read");
    assert_true(rig_order(faulty.orders_port, held->voucher, user, &answer));
    expect(meanwhile);
    rig_let_go(held, &faulty, "after-read");
    rig_fault(&faulty, "release", "point=after-read", 409);
}

/* An order between the read and the write of another one shows a lost update, or how a guard
 * prevents it. */
TEST(time_between_read_and_write_breaks_the_broken)
{
    static const struct {
        const char *guard;
        int64_t stock_left;
        const char *first;
        int64_t orders;
    } CASES[] = {
        /* Two orders for one unit, and the stock does not show it. */
        {"read-write", 0, "accepted", 2},
        {"decrement", -1, "accepted", 2}, /* two orders for one unit, and the stock shows it */
        {"version", 0, "sold-out", 1},
        {"conditional", 0, "sold-out", 1},
    };

    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        static struct rig_held held;

        faulty = start(CASES[i].guard, "none", "--allow-faults");
        held = (struct rig_held){.voucher = rig_voucher(1)};
        order_inside_another(&held, "accepted", 2);
        assert_string_equal(held.answer.outcome, CASES[i].first);
        assert_int_equal(rig_stock(held.voucher), CASES[i].stock_left);
        assert_int_equal(rig_orders(held.voucher), CASES[i].orders);
        rig_stop(&faulty);
    }
}

/* A guard that compares versions sees what another process writes under another guard. */
TEST(each_guard_shows_its_write_to_the_others)
{
    faulty = start("version", "none", "--allow-faults");
    for (size_t i = 0; i < COUNT_OF(STOCK_GUARDS); i++) {
        static struct rig_held held;
        struct rig_service other = start(STOCK_GUARDS[i], "none", NULL);
        int64_t voucher = rig_voucher(2);

        held = (struct rig_held){0};
        rig_hold(&held, &faulty, "after-read", voucher, 1);
        assert_true(rig_order(other.orders_port, voucher, 2, &answer));
        expect("accepted");
        rig_let_go(&held, &faulty, "after-read");
        assert_string_equal(held.answer.outcome, "accepted");
        assert_int_equal(rig_stock(voucher), 0);
        rig_stop(&other);
    }
    rig_stop(&faulty);
}

/* With the lock, the same broken guard sells one unit. */
TEST(a_lock_saves_a_broken_guard)
{
    static struct rig_held held;

    faulty = RIG_START("--lock=local", "--lock-scope=voucher", "--order-path=each",
                       "--stock-guard=read-write", "--allow-faults");
    held = (struct rig_held){.voucher = rig_voucher(1)};
    rig_fault(&faulty, "arm", "point=after-read&action=hold&key=", 200);
    rig_order_beside(&held, &faulty, held.voucher, 1);
    rig_await_held(&faulty, "after-read");
    assert_true(rig_order(faulty.orders_port, held.voucher, 2, &answer));
    expect("lock-busy");
    rig_let_go(&held, &faulty, "after-read");
    assert_string_equal(held.answer.outcome, "accepted");
    assert_int_equal(rig_orders(held.voucher), 1);
    rig_stop(&faulty);
}

/* The lock is released before the COMMIT, so the next order enters before the first one's row is
 * visible. */
TEST(unlocking_too_early_sells_twice_to_one)
{
    static const char *const UNLOCKS[] = {"--unlock=before-commit",
                                          "--unlock=after-commit"};

    for (size_t i = 0; i < COUNT_OF(UNLOCKS); i++) {
        static struct rig_held held;

        faulty = RIG_START("--lock=local", "--duplicate-guard=count", "--allow-faults",
                           "--statement-timeout=1s", UNLOCKS[i]);
        held = (struct rig_held){.voucher = rig_voucher(5)};
        rig_hold(&held, &faulty, "before-commit", held.voucher, 1);
        /* The open transaction has locked the stock's row, so this order waits at its update, after
         * its look for earlier orders; or it is refused at the lock.
         */
        assert_true(rig_order(faulty.orders_port, held.voucher, 1, &answer));
        expect(i == 0 ? "unavailable" : "lock-busy");
        rig_let_go(&held, &faulty, "before-commit");
        assert_string_equal(held.answer.outcome, "accepted");
        rig_stop(&faulty);
    }
}

TEST(fault_names_are_checked)
{
    const char *said;

    faulty = start("conditional", "count", "--allow-faults");
    said = rig_fault(&faulty, "arm", "point=nowhere&action=hold", 400);
    assert_non_null(strstr(said, "after-acquire"));
    said = rig_fault(&faulty, "arm", "point=after-read&action=explode", 400);
    assert_non_null(strstr(said, "hold, stop, kill"));
    rig_fault(&faulty, "arm", "action=hold", 400);
    rig_fault(&faulty, "release", "point=after-read", 409);
    rig_stop(&faulty);
}

/* A sale of one unit to user 1, without a duplicate guard. */
static struct sale sale_of(const struct sale_terms *terms, int64_t voucher)
{
    static char request[32];

    snprintf(request, sizeof(request), "sale-%" PRId64, voucher);
    return (struct sale){.terms = terms, .user_id = 1, .voucher_id = voucher,
                         .request_id = request};
}

/* A sale_watch: the unit is taken inside the transaction, which is then not committed. */
static bool stop_before_commit(enum sale_point point, struct db_conn *db, void *sale)
{
    const struct sale *s = sale;

    if (point == SALE_AFTER_READ) {
        assert_false(db_in_transaction(db));
        return true;
    }
    assert_int_equal(point, SALE_BEFORE_COMMIT);
    assert_true(db_in_transaction(db));
    assert_true(strlen(s->xid) > 0);
    return false;
}

/* A guard that reads nothing sends no BEGIN in a round trip of its own. The row is still changed
 * inside the transaction: without a COMMIT nothing is changed. */
TEST(a_guard_without_a_read_begins_with_its_take)
{
    const struct sale_terms terms = {.stock_guard = guard_find("conditional"),
                                     .lock_variant = "none",
                                     .process = "test"};
    int64_t voucher = rig_voucher(1);
    struct sale sale = sale_of(&terms, voucher);

    assert_true(sale_begin(rig_db(), &sale));
    assert_int_equal(sale_finish(rig_db(), &sale, stop_before_commit, &sale),
                     SALE_GIVEN_UP);
    assert_false(db_in_transaction(rig_db()));
    assert_int_equal(rig_stock(voucher), 1);
    assert_int_equal(rig_orders(voucher), 0);

    sale = sale_of(&terms, rig_voucher(0));
    assert_true(sale_begin(rig_db(), &sale));
    assert_int_equal(sale_finish(rig_db(), &sale, NULL, NULL), SALE_SOLD_OUT);
    assert_false(db_in_transaction(rig_db()));
}

/* A sale_batch_watch: the connection breaks before the COMMIT. */
static bool break_before_commit(enum sale_point point, struct db_conn *db, size_t i, void *arg)
{
    (void)i;
    (void)arg;
    if (point == SALE_BEFORE_COMMIT)
        db_break(db);
    return true;
}

/* A sale_batch_watch: each order that has a unit gives up before the COMMIT. */
static bool give_up_before_commit(enum sale_point point, struct db_conn *db, size_t i,
                                  void *arg)
{
    (void)db;
    (void)i;
    (void)arg;
    return point != SALE_BEFORE_COMMIT;
}

/* Two orders for one unit share a transaction that is not committed. The unit is still there, so
 * the order that got none is not sold out. */
static void expect_no_sold_out(sale_batch_watch *watch, enum sale_answer expected)
{
    const struct sale_terms terms = {.stock_guard = guard_find("row-lock"),
                                     .lock_variant = "none",
                                     .process = "test"};
    int64_t voucher = rig_voucher(1);
    struct sale first = sale_of(&terms, voucher), second = sale_of(&terms, voucher);
    struct sale_batch batch = {.sales = {&first, &second}, .count = 2};

    second.user_id = 2;
    sale_batch_run(rig_db(), &batch, watch, NULL);
    assert_true(batch.is_over[0]);
    assert_int_equal(first.answer, expected);
    assert_false(batch.is_over[1]);
    assert_int_equal(rig_stock(voucher), 1);
    assert_int_equal(rig_orders(voucher), 0);
}

TEST(an_order_without_a_unit_is_sold_out_only_after_the_commit)
{
    expect_no_sold_out(break_before_commit, SALE_UNSURE);
    expect_no_sold_out(give_up_before_commit, SALE_GIVEN_UP);
}

/* An order under `count` of one user of a batch under `unique` does not hold up the others. */
TEST(a_batch_leaves_out_an_order_under_another_guard)
{
    struct sale_terms terms = {.stock_guard = guard_find("conditional"),
                               .duplicate_guard = DUPLICATE_GUARD_COUNT,
                               .lock_variant = "none",
                               .process = "test"};
    int64_t voucher = rig_voucher(5);
    struct sale first = sale_of(&terms, voucher), again = sale_of(&terms, voucher);
    struct sale other = sale_of(&terms, voucher);
    struct sale_batch batch = {.sales = {&again, &other}, .count = 2};
    char earlier[32];

    snprintf(earlier, sizeof(earlier), "earlier-%" PRId64, voucher);
    first.request_id = earlier;
    other.user_id = 2;
    assert_true(sale_begin(rig_db(), &first));
    assert_int_equal(sale_finish(rig_db(), &first, NULL, NULL), SALE_SOLD);
    terms.duplicate_guard = DUPLICATE_GUARD_UNIQUE;
    sale_batch_run(rig_db(), &batch, NULL, NULL);
    assert_true(batch.is_over[1] && other.answer == SALE_SOLD && !batch.is_over[0]);
    assert_true(sale_begin(rig_db(), &again));
    assert_int_equal(sale_finish(rig_db(), &again, NULL, NULL), SALE_DUPLICATE);
    assert_int_equal(rig_orders(voucher), 2);
}
