/* SPDX-License-Identifier: MIT */
/* test_stream_writers.c -- --order-path=stream: writers die, freeze, lose the answer to a COMMIT or
 * read an invalid entry, and in the end every admitted order has one row. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/service/batch.h"
#include "tests/service/commit_proxy.h"
#include "tests/service/shell.h"
#include "tests/service/stream_rig.h"

static struct rig_service first, second;

#define START_CLAIMING(...)                                                            \
    RIG_START("--order-path=stream", stream_flag(), "--stream-claim=100ms",            \
              "--statement-timeout=50s", "--database-wait=50s", __VA_ARGS__)

static void queue_orders(const struct rig_service *at, int64_t voucher, int users,
                         int64_t *orders)
{
    for (int user = 1; user <= users; user++)
        orders[user] = stream_buy(at, voucher, user, "", 202, "queued");
}

static void expect_all(int64_t voucher, int users, const int64_t *orders)
{
    stream_await_waiting(0);
    assert_int_equal(rig_orders(voucher), users);
    assert_int_equal(rig_duplicates(voucher), 0);
    for (int user = 1; user <= users; user++)
        stream_expect_row(orders[user], voucher, user);
}

/* No order was refused, and none was taken for a poison entry. */
static void expect_nothing_aside(const struct rig_service *s)
{
    assert_true(rig_metric(s, "seckill_stream_refused_total ") == 0);
    assert_true(rig_metric(s, "seckill_stream_poison_total ") == 0);
    assert_true(rig_metric(s, "seckill_stream_forged_total ") == 0);
    assert_true(rig_metric(s, "seckill_stream_vanished_total ") == 0);
    assert_int_equal(STREAM_NUMBER("XLEN", stream_key("poison")), 0);
}

static void user_lock_name(int user, char *name, size_t size)
{
    (void)snprintf(name, size, "lock:order:%lld", (long long)rig_user(user));
}

/* Another client holds the locks of most users of a batch. If a writer waited for each of them, it
 * would not reach the last order before the test's time limit. */
TEST(a_batch_waits_once_for_all_its_locks)
{
    enum { USERS = 30 };
    int64_t voucher = rig_voucher(USERS), orders[USERS + 1];
    char name[64];

    stream_anew();
    first = START_CLAIMING("--lock=reentrant", "--lock-scope=user", "--lock-wait=3s");
    for (int user = 2; user < USERS; user++) {
        user_lock_name(user, name, sizeof(name));
        (void)STREAM_NUMBER("HSET", name, "somebody:1", "1");
    }
    batch_begin(voucher);
    orders[1] = stream_buy(&first, voucher, 1, "", 202, "queued");
    stream_await_taken();
    for (int user = 2; user <= USERS; user++)
        orders[user] = stream_buy(&first, voucher, user, "", 202, "queued");
    batch_let_go();
    stream_await_rows(voucher, 2);
    stream_expect_row(orders[USERS], voucher, USERS);
    for (int user = 2; user < USERS; user++) {
        user_lock_name(user, name, sizeof(name));
        (void)STREAM_NUMBER("DEL", name);
    }
    expect_all(voucher, USERS, orders);
    expect_nothing_aside(&first);
    rig_stop(&first);
}

TEST(the_orders_of_a_killed_writer_are_claimed)
{
    enum { USERS = 6 };
    int64_t voucher = rig_voucher(10), orders[USERS + 1];

    stream_anew();
    first = STREAM_START("--lock=none");
    batch_begin(voucher);
    queue_orders(&first, voucher, USERS, orders);
    stream_await_taken();
    rig_signal(&first, SIGKILL);
    assert_int_equal(rig_wait(&first, RIG_PATIENCE_MS), 128 + SIGKILL);
    batch_let_go();
    second = START_CLAIMING("--lock=none");
    expect_all(voucher, USERS, orders);
    assert_int_equal(rig_stock(voucher), 10 - USERS);
    assert_true(rig_metric(&second, "seckill_stream_claimed_total ") >= 1);
    rig_stop(&second);
    (void)unlink(first.log);
}

/* The COMMIT was executed, and the writer died before it noted that. By now the stock is sold out
 * and the user has an order, and both could be taken for a refusal. */
static void die_after_commit(const char *stock_guard, const char *duplicate_guard)
{
    int64_t voucher = rig_voucher(1), orders[2];

    stream_anew();
    first = STREAM_START("--lock=none", "--allow-faults", stock_guard, duplicate_guard);
    stream_arm(&first, "after-commit", "kill");
    queue_orders(&first, voucher, 1, orders);
    assert_int_equal(rig_wait(&first, RIG_PATIENCE_MS), 128 + SIGKILL);
    assert_int_equal(rig_orders(voucher), 1);
    assert_int_equal(stream_waiting(), 1);
    second = START_CLAIMING("--lock=none", stock_guard, duplicate_guard);
    expect_all(voucher, 1, orders);
    assert_int_equal(rig_stock(voucher), 0);
    assert_true(rig_metric(&second, "seckill_stream_written_total ") == 1);
    expect_nothing_aside(&second);
    rig_stop(&second);
    (void)unlink(first.log);
}

TEST(an_order_that_was_committed_is_not_refused)
{
    die_after_commit("--stock-guard=conditional", "--duplicate-guard=unique");
    die_after_commit("--stock-guard=decrement", "--duplicate-guard=count");
    die_after_commit("--stock-guard=read-write", "--duplicate-guard=none");
}

/* The first writer is stopped before its COMMIT until the second writer has claimed its order and
 * waits for the transaction; then both go on. */
TEST(an_order_in_two_hands_gets_one_row)
{
    int64_t voucher = rig_voucher(10), orders[2];

    stream_anew();
    first = STREAM_START("--lock=none", "--allow-faults");
    stream_arm(&first, "before-commit", "hold");
    queue_orders(&first, voucher, 1, orders);
    stream_await_taken();
    second = START_CLAIMING("--lock=none");
    while (rig_metric(&second, "seckill_stream_claimed_total ") < 1)
        ;
    stream_release(&first, "before-commit");
    expect_all(voucher, 1, orders);
    assert_int_equal(rig_stock(voucher), 9);
    expect_nothing_aside(&first);
    expect_nothing_aside(&second);
    rig_stop(&first);
    rig_stop(&second);
}

/* One order of a batch already has its row, and the batch needs one unit more than are left. */
static void claim_beside_new_orders(const char *stock_guard)
{
    enum { USERS = 6 };
    int64_t voucher = rig_voucher(USERS), orders[USERS + 1];

    stream_anew();
    first = STREAM_START("--lock=none", "--allow-faults", stock_guard);
    stream_arm(&first, "after-commit", "kill");
    batch_begin(voucher);
    for (int user = 1; user <= USERS; user++) {
        orders[user] = stream_buy(&first, voucher, user, "", 202, "queued");
        if (user == 1)
            stream_await_taken();
    }
    batch_let_go();
    assert_int_equal(rig_wait(&first, RIG_PATIENCE_MS), 128 + SIGKILL);
    (void)unlink(first.log);
    second = START_CLAIMING("--lock=none", stock_guard);
    expect_all(voucher, USERS, orders);
    assert_int_equal(rig_stock(voucher), 0);
    expect_nothing_aside(&second);
    rig_stop(&second);
}

TEST(an_order_that_comes_twice_takes_no_unit_of_another)
{
    claim_beside_new_orders("--stock-guard=read-write");
    claim_beside_new_orders("--stock-guard=version");
    claim_beside_new_orders("--stock-guard=conditional");
}

/* ---- entries that are no orders ---- */

/* An entry leaves the stream before it is counted and logged. */
static bool has_logged(void *words)
{
    return rig_has_logged(&first, words);
}
static bool has_forged(void *count)
{
    return rig_metric(&first, "seckill_stream_forged_total ") == *(int *)count;
}

TEST(a_poison_entry_goes_aside_and_stops_nobody)
{
    int64_t voucher = rig_voucher(10), taken, last;

    stream_anew();
    first = STREAM_START("--lock=none");
    taken = stream_buy(&first, voucher, 1, "", 202, "queued");
    stream_await_waiting(0);
    batch_begin(voucher);
    (void)stream_buy(&first, voucher, 2, "", 202, "queued");
    stream_append(voucher, 7, taken, "stream-poison", 0, -1); /* the number of another order */
    last = stream_buy(&first, voucher, 3, "", 202, "queued");
    batch_let_go();
    stream_await_waiting(0);
    stream_expect_row(last, voucher, 3);
    assert_int_equal(rig_orders(voucher), 3);
    assert_int_equal(STREAM_NUMBER("XLEN", stream_key("poison")), 1);
    assert_true(rig_until(has_logged, "tb_voucher_order_pkey", RIG_PATIENCE_MS));
    assert_true(rig_metric(&first, "seckill_stream_poison_total ") == 1);
    rig_stop(&first);
}

/* Somebody has seen the MAC of an order, and changes a byte of the order or of the MAC; or appends
 * more of the longest entries than a writer takes at once, and one of so many fields that a script
 * cannot copy all. The request of user 1, which most entries name, is served as if they were not
 * there. The service signs with another key than the service that let user 5 in. */
TEST(an_entry_that_no_service_made_sells_nothing)
{
    enum { CHANGED = 120 };
    int forged = CHANGED + 301;
    int64_t voucher = rig_voucher(10), order;
    char flag[96], command[256];

    (void)snprintf(flag, sizeof(flag), "--token-key-file=%s",
                   shell("f=$(mktemp) && printf '9:%064d\\n' 9 >$f && "
                         "cat \"$SECKILL_TOKEN_KEY_FILE\" >>$f && printf %s $f"));
    stream_anew();
    first = STREAM_START("--lock=none", flag);
    batch_begin(voucher);
    (void)stream_buy(&first, voucher, 2, "", 202, "queued");
    stream_await_taken();
    order = stream_buy(&first, voucher, 1, "stream-own", 202, "queued");
    for (int changed = 0; changed < CHANGED; changed++)
        stream_append(voucher, 1, order, "stream-own", 0, changed);
    (void)STREAM_TEXT("EVAL",
                      "for i = 1, 300 do redis.call('XADD', KEYS[1], '*', 'order',"
                      " ('1'):rep(200), 'mac', ('a'):rep(64)) end return 'done'",
                      "1", stream_name());
    (void)snprintf(command, sizeof(command),
                   "redis-cli --no-auth-warning -u \"$SECKILL_REDIS_URL\" XADD '%s' '*'"
                   " $(yes x | head -20000)", stream_name());
    (void)shell(command);
    stream_append(voucher, 5, voucher * 1000, "other-key", 0, -1);
    batch_let_go();
    stream_await_waiting(0);
    stream_expect_row(order, voucher, 1);
    stream_expect_row(voucher * 1000, voucher, 5);
    (void)stream_buy(&first, voucher, 1, "", 409, "duplicate");
    assert_int_equal(rig_orders(voucher), 3);
    assert_int_equal(rig_stock(voucher), 7);
    assert_int_equal(STREAM_NUMBER("XLEN", stream_key("poison")), forged);
    assert_true(rig_until(has_forged, &forged, RIG_PATIENCE_MS));
    assert_true(rig_has_logged(&first, "so no service made it"));
    rig_stop(&first);
    (void)unlink(strchr(flag, '/'));
}

static void copy_entries(const char *from, const char *to)
{
    (void)STREAM_TEXT("EVAL",
                      "for _, entry in ipairs(redis.call('XRANGE', ARGV[1], '-', '+')) do"
                      " redis.call('XADD', ARGV[2], '*', unpack(entry[2])) end return 'done'",
                      "0", from, to);
}

/* Somebody copies the entries of an order that is written and of one that is refused, while they
 * wait, and when both have ended. Another path has sold to user 2. */
TEST(a_copy_of_an_entry_sells_nothing)
{
    int64_t voucher = rig_voucher(6), order;
    char kept[128];

    stream_anew();
    (void)snprintf(kept, sizeof(kept), "%s", stream_key("kept"));
    second = RIG_START("--order-path=combined", "--lock=none");
    (void)stream_buy(&second, voucher, 2, "", 201, "accepted");
    rig_stop(&second);
    first = STREAM_START("--lock=none");
    batch_begin(voucher);
    order = stream_buy(&first, voucher, 1, "", 202, "queued");
    stream_await_taken();
    (void)stream_buy(&first, voucher, 2, "stream-refused", 202, "queued");
    copy_entries(stream_name(), kept);
    copy_entries(kept, stream_name());
    batch_let_go();
    stream_await_waiting(0);
    copy_entries(kept, stream_name());
    stream_await_waiting(0);
    stream_expect_row(order, voucher, 1);
    assert_int_equal(rig_orders(voucher), 2);
    assert_int_equal(rig_stock(voucher), 4);
    /* Redis has as many units: the refused order gave back one, and its copies none. */
    (void)snprintf(kept, sizeof(kept), "%s:voucher:%lld", stream_name(), (long long)voucher);
    assert_string_equal(STREAM_TEXT("HGET", kept, "stock"), "4");
    assert_int_equal(STREAM_NUMBER("HLEN", stream_key("queued")), 0);
    rig_stop(&first);
}

/* The sale of the first voucher has not begun, and that of the second is over. */
TEST(a_writer_judges_the_times_of_the_sale)
{
    int64_t early = rig_voucher_at(5, 3600, 7200), late = rig_voucher_at(5, -7200, -3600);

    stream_anew();
    first = STREAM_START("--lock=none");
    stream_append(early, 1, early * 1000, "too-early", 0, -1);
    stream_append(early, 2, early * 1000 + 1, "in-time", 5000, -1);
    stream_append(late, 1, late * 1000, "too-late", 0, -1);
    stream_append(late, 2, late * 1000 + 1, "late-in-time", -5000, -1);
    stream_await_waiting(0);
    stream_expect_row(early * 1000 + 1, early, 2);
    assert_int_equal(rig_orders(early), 1);
    assert_int_equal(rig_orders(late), 1);
    assert_true(rig_until(has_logged, "is refused: not-started", RIG_PATIENCE_MS));
    assert_true(rig_until(has_logged, "is refused: ended", RIG_PATIENCE_MS));
    rig_stop(&first);
}

/* Redis lets a user in twice after it has lost the user's mark. */
TEST(two_orders_of_a_user_share_no_transaction)
{
    int64_t voucher = rig_voucher(5);

    stream_anew();
    stream_append(voucher, 2, voucher * 1000, "twice-1", 0, -1);
    stream_append(voucher, 2, voucher * 1000 + 1, "twice-2", 0, -1);
    first = STREAM_START("--lock=reentrant", "--lock-scope=voucher", "--duplicate-guard=count");
    stream_await_waiting(0);
    assert_int_equal(rig_orders(voucher), 1);
    rig_stop(&first);
}

/* ---- a COMMIT without an answer ---- */

static void lose(enum commit_mode mode)
{
    enum { USERS = 4 };
    int64_t voucher = rig_voucher(USERS), orders[USERS + 1];
    char moved[512];

    stream_anew();
    commit_proxy_start(moved, sizeof(moved));
    first = RIG_START(moved, "--order-path=stream", stream_flag(), "--lock=none",
                      "--settle-timeout=1s", "--database-connections=2",
                      "--idle-transaction-timeout=1s", "--statement-timeout=20s");
    batch_begin(voucher);
    queue_orders(&first, voucher, USERS, orders);
    commit_proxy_set(mode);
    batch_let_go();
    expect_all(voucher, USERS, orders);
    assert_int_equal(commit_proxy_dropped() > 0, 1);
    assert_int_equal(rig_stock(voucher), 0);
    expect_nothing_aside(&first);
    rig_stop(&first);
    commit_proxy_stop();
}

TEST(a_commit_without_an_answer_is_settled_by_the_ids)
{
    lose(DROP_ANSWER);
    lose(DROP_COMMIT);
}
