/* SPDX-License-Identifier: MIT */
/* test_lost_commit.c -- a COMMIT without an answer is settled by a question, never by a
 * guess.
 *
 * A proxy stands between the service and PostgreSQL.  The proxy knows a COMMIT by the name
 * of the service's prepared statement.  The proxy can pass the COMMIT on and keep the answer, or
 * keep the COMMIT itself, and close the connection. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/order.h"
#include "tests/service/commit_proxy.h"
#include "tests/service/rig.h"

static struct rig_service service;
static struct rig_answer answer;

/* Start the proxy, and a service whose connections to PostgreSQL go through it. */
static void start_proxy_for(const char *settle, const char *lock, const char *lease)
{
    char moved[512];

    commit_proxy_start(moved, sizeof(moved));
    /* The pool has one connection, so only a new connection can ask whether the COMMIT
     * happened. */
    service = RIG_START(moved, lock, settle, "--workers=4",
                        "--database-connections=1", rig_record_flag(), lease,
                        "--idle-transaction-timeout=1s");
}

static void start_proxy(void)
{
    start_proxy_for("--settle-timeout=20s", "--lock=none", "--lock-lease=4s");
}

static void stop_proxy(void)
{
    rig_stop(&service);
    commit_proxy_stop();
}

/* Order with a request id while the proxy has this mode. */
static void order_by(int64_t user, enum commit_mode mode, int64_t voucher, const char *name)
{
    commit_proxy_set(mode);
    assert_true(rig_order_named(service.orders_port, voucher, user, name, &answer));
    assert_string_equal(answer.request_id, name);
}

static void order_in(enum commit_mode mode, int64_t voucher, const char *name)
{
    order_by(1, mode, voucher, name);
}

static void name_for(char *out, size_t size, int64_t voucher)
{
    (void)snprintf(out, size, "lost:%lld", (long long)voucher);
}

/* The voucher's record of writes has the same requests as its orders, because both are written in
 * one transaction. */
static void expect_recorded(int64_t voucher)
{
    static const struct postgres_statement APART = {
        "lost_apart",
        "SELECT count(*) FROM"
        " (SELECT request_id FROM tb_voucher_order WHERE voucher_id = $1) AS o"
        " FULL JOIN (SELECT request_id FROM tb_voucher_write WHERE voucher_id = $1"
        " AND outcome = 'accepted') AS w USING (request_id)"
        " WHERE o IS NULL OR w IS NULL",
        "i"};

    assert_int_equal(db_run_one(rig_db(), &APART, DB_VALUES(DB_INT(voucher))), DB_OK);
    assert_int_equal(db_int(rig_db(), 0, 0, 0), 0);
    assert_int_equal(rig_writes(voucher, "accepted", NULL), rig_orders(voucher));
}

/* The order was committed and only the answer is lost: a query finds the order, so it is
 * accepted. */
TEST(a_lost_answer_is_found_to_be_sold)
{
    int64_t voucher = rig_voucher(5);
    char name[40];

    start_proxy();
    name_for(name, sizeof(name), voucher);
    order_in(DROP_ANSWER, voucher, name);
    assert_int_equal(commit_proxy_dropped(), 1);
    rig_expect(&answer, 201, "accepted");
    assert_int_equal(rig_orders(voucher), 1);
    assert_int_equal(rig_stock(voucher), 4);
    assert_true(rig_metric(&service, "seckill_commits_unanswered_total") == 1);
    expect_recorded(voucher);
    stop_proxy();
}

/* Create a voucher with this title. */
static void create(const char *title)
{
    char token[TOKEN_LEN + 1], extra[128], body[256];

    rig_operator_token(token);
    (void)snprintf(extra, sizeof(extra), "authorization: %s\r\n", token);
    (void)snprintf(body, sizeof(body),
                   "{\"shopId\":1,\"title\":\"%s\",\"payValue\":1,\"actualValue\":2,"
                   "\"type\":1,\"stock\":3,\"beginTime\":\"2022-10-09T00:00:00\","
                   "\"endTime\":\"2042-10-09T00:00:00\"}",
                   title);
    assert_true(rig_request(service.orders_port, "POST", "/api/v1/vouchers", extra, body, &answer));
}

/* If a client repeats the request, it makes a second voucher, so the service does not look for the
 * first one. */
TEST(a_voucher_without_an_answer_may_have_been_created)
{
    static const struct postgres_statement COUNT = {
        "lost_vouchers", "SELECT count(*) FROM tb_voucher WHERE title = $1", "t"};
    char title[40];

    (void)snprintf(title, sizeof(title), "lost %d", (int)getpid());
    start_proxy();
    create("prepares the statement");
    rig_expect(&answer, 201, "accepted");
    commit_proxy_set(DROP_ANSWER);
    create(title);
    rig_expect(&answer, 500, "voucher-unknown");
    assert_int_equal(commit_proxy_dropped(), 1);
    assert_null(strstr(answer.head, "Retry-After: "));
    assert_int_equal(db_run_one(rig_db(), &COUNT, DB_VALUES(DB_TEXT(title))), DB_OK);
    assert_int_equal(db_int(rig_db(), 0, 0, 0), 1);
    stop_proxy();
}

/* The COMMIT never arrived, and the server's session still waits in its transaction. The session is
 * ended, and then it is certain that nothing was sold. */
TEST(a_lost_commit_is_found_to_be_not_sold)
{
    int64_t voucher = rig_voucher(5);
    char name[40];

    start_proxy();
    name_for(name, sizeof(name), voucher);
    order_in(DROP_COMMIT, voucher, name);
    assert_int_equal(commit_proxy_dropped(), 1);
    rig_expect(&answer, 503, "unavailable");
    assert_non_null(strstr(answer.head, "Retry-After: "));
    assert_int_equal(rig_orders(voucher), 0);
    assert_int_equal(rig_stock(voucher), 5);
    order_in(PASS, voucher, name);
    rig_expect(&answer, 201, "accepted");
    assert_int_equal(rig_orders(voucher), 1);
    expect_recorded(voucher);
    stop_proxy();
}

/* The order was accepted before, and now the answer to a repeated request is lost: the same order
 * again, which is no further sale. */
TEST(a_lost_answer_to_a_repeated_request_is_a_replay)
{
    int64_t voucher = rig_voucher(5);
    char name[40];
    char body[96];

    start_proxy_for("--settle-timeout=20s", "--duplicate-guard=none", "--lock-lease=4s");
    name_for(name, sizeof(name), voucher);
    order_in(PASS, voucher, name);
    rig_expect(&answer, 201, "accepted");
    (void)snprintf(body, sizeof(body), "%.90s", answer.body);
    order_in(DROP_ANSWER, voucher, name);
    assert_int_equal(commit_proxy_dropped(), 1);
    rig_expect(&answer, 201, "accepted");
    assert_string_equal(answer.body, body);
    assert_int_equal(rig_orders(voucher), 1);
    assert_true(rig_metric(&service, "seckill_orders_total{lock=\"reentrant\","
                                     "outcome=\"accepted\"}") == 1);
    assert_true(rig_metric(&service, "seckill_orders_total{lock=\"reentrant\","
                                     "outcome=\"replayed\"}") == 1);
    expect_recorded(voucher);
    stop_proxy();
}

/* The id of the lost request is in an order of another voucher, so it is not the order of this
 * request. */
TEST(an_id_of_another_order_is_a_conflict)
{
    int64_t voucher = rig_voucher(5);
    int64_t other = rig_voucher(5);
    char name[40];

    start_proxy();
    name_for(name, sizeof(name), voucher);
    order_by(2, PASS, voucher, name);
    rig_expect(&answer, 201, "accepted");
    order_by(2, DROP_ANSWER, other, name);
    assert_int_equal(commit_proxy_dropped(), 1);
    rig_expect(&answer, 422, "conflict");
    assert_int_equal(rig_orders(voucher), 1);
    assert_int_equal(rig_stock(voucher), 4);
    assert_int_equal(rig_orders(other), 0);
    assert_int_equal(rig_stock(other), 5);
    expect_recorded(voucher);
    expect_recorded(other);
    stop_proxy();
}

/* An order of another user with the same id does not settle this request. */
TEST(an_id_of_another_user_settles_nothing)
{
    int64_t voucher = rig_voucher(5);
    char name[40];

    start_proxy();
    name_for(name, sizeof(name), voucher);
    order_by(2, PASS, voucher, name);
    rig_expect(&answer, 201, "accepted");
    order_by(1, DROP_ANSWER, voucher, name);
    assert_int_equal(commit_proxy_dropped(), 1);
    rig_expect(&answer, 201, "accepted");
    order_by(3, DROP_COMMIT, voucher, name);
    assert_int_equal(commit_proxy_dropped(), 2);
    rig_expect(&answer, 503, "unavailable");
    assert_int_equal(rig_orders(voucher), 2);
    assert_int_equal(rig_stock(voucher), 3);
    expect_recorded(voucher);
    stop_proxy();
}

static enum order_settled settle(struct db_pool *pool, const char *xid)
{
    const struct order_commit commit = {1, 1, "no-such-request", xid, 0};
    int64_t id = 0;

    return order_settle(pool, &commit, 0, &id);
}

/* The pool has one connection, so a setting that is left on it would affect the next caller. */
static void run_script(struct db_pool *pool, const char *script)
{
    struct db_taken taken;

    assert_int_equal(db_pool_take(pool, 5000, &taken), DB_OK);
    assert_int_equal(db_script(taken.db, script), DB_OK);
    db_pool_give(pool, taken.db);
}

/* A server that refuses the question has not answered it. */
TEST(only_a_number_nobody_knows_is_as_good_as_over)
{
    static const char REFUSE[] =
        "CREATE SCHEMA refusing;"
        "CREATE FUNCTION refusing.pg_xact_status(xid8) RETURNS text LANGUAGE plpgsql"
        " AS $$BEGIN RAISE insufficient_privilege; END$$;"
        "SET search_path = refusing, pg_catalog, public";
    static const char ANSWER[] = "DROP SCHEMA refusing CASCADE; RESET search_path";
    struct db_options opts = db_options_default(getenv("SECKILL_LAB_DATABASE_URL"));
    struct db_pool *pool = db_pool_new(&opts, 1);
    enum order_settled refused;

    assert_non_null(pool);
    run_script(pool, "SELECT 1");
    assert_int_equal(settle(pool, "4611686018427387904"), ORDER_NOT_SOLD);
    run_script(pool, REFUSE);
    refused = settle(pool, "3");
    run_script(pool, ANSWER);
    assert_int_equal(refused, ORDER_UNSETTLED);
    assert_int_equal(settle(pool, "3"), ORDER_NOT_SOLD);
    db_pool_free(pool);
}

static bool is_accepted_now(void *arg)
{
    const char *name = arg;
    int64_t voucher = strtoll(strchr(name, ':') + 1, NULL, 10);

    return rig_order_named(service.orders_port, voucher, 1, name, &answer) &&
           strcmp(answer.outcome, "accepted") == 0;
}

/* The database cannot be asked: the answer says this and names the request. A request with the same
 * id settles it later: there is one order, whether the lost COMMIT was executed or not. */
TEST(an_order_is_unknown_until_the_database_answers)
{
    static const enum commit_mode MODES[] = {DROP_AND_SHUT, ANSWER_AND_SHUT};

    for (int i = 0; i < 2; i++) {
        int64_t voucher = rig_voucher(5);
        char name[40];

        start_proxy_for("--settle-timeout=1s", "--lock=none", "--lock-lease=4s");
        name_for(name, sizeof(name), voucher);
        order_in(MODES[i], voucher, name);
        assert_int_equal(commit_proxy_dropped(), 1);
        rig_expect(&answer, 503, "unknown");
        assert_non_null(strstr(answer.head, "Retry-After: "));
        assert_non_null(strstr(answer.body, name));
        assert_int_equal(rig_orders(voucher), MODES[i] == ANSWER_AND_SHUT);
        /* The transaction whose COMMIT was lost is still open at the server. The server notices the
         * end of the client only when the connection ends, which the proxy now allows.
         */
        commit_proxy_end_orphans();
        commit_proxy_open();
        assert_true(rig_until(is_accepted_now, name, RIG_PATIENCE_MS));
        assert_int_equal(rig_orders(voucher), 1);
        assert_int_equal(rig_stock(voucher), 4);
        expect_recorded(voucher);
        stop_proxy();
    }
}

static bool is_sold_now(void *voucher)
{
    return rig_order(service.orders_port, *(int64_t *)voucher, 1, &answer) &&
           strcmp(answer.outcome, "accepted") == 0;
}

/* The server may still be in the lost transaction, and the next attempt comes without the id of the
 * first. It must not get the lock before the lease has ended. */
TEST(an_unknown_order_keeps_its_lock)
{
    int64_t voucher = rig_voucher(5);

    start_proxy_for("--settle-timeout=1s", "--lock=reentrant", "--lock-lease=4s");
    commit_proxy_set(DROP_AND_SHUT);
    assert_true(rig_order(service.orders_port, voucher, 1, &answer));
    rig_expect(&answer, 503, "unknown");
    commit_proxy_open();
    do
        assert_true(rig_order(service.orders_port, voucher, 1, &answer));
    while (strcmp(answer.outcome, "unavailable") == 0); /* until the service has connected */
    rig_expect(&answer, 409, "lock-busy");
    assert_true(rig_metric(&service, "seckill_lock_abandoned_total") == 1);
    assert_true(rig_until(is_sold_now, &voucher, RIG_PATIENCE_MS));
    assert_int_equal(rig_orders(voucher), 1);
    assert_int_equal(rig_stock(voucher), 4);
    expect_recorded(voucher);
    stop_proxy();
}

/* The lock of the order is held for longer than the test may wait, so only the look for an earlier
 * order can answer the repetition. */
TEST(a_repeated_unknown_order_does_not_wait_for_the_lease)
{
    int64_t voucher = rig_voucher(5);
    char name[40];

    start_proxy_for("--settle-timeout=1s", "--lock=reentrant", "--lock-lease=10m");
    name_for(name, sizeof(name), voucher);
    order_in(ANSWER_AND_SHUT, voucher, name);
    rig_expect(&answer, 503, "unknown");
    commit_proxy_open();
    assert_true(rig_until(is_accepted_now, name, RIG_PATIENCE_MS));
    assert_true(rig_order(service.orders_port, voucher, 1, &answer));
    rig_expect(&answer, 409, "lock-busy");
    assert_int_equal(rig_orders(voucher), 1);
    expect_recorded(voucher);
    stop_proxy();
}
