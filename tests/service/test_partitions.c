/* SPDX-License-Identifier: MIT */
/* test_partitions.c -- vouchers that are spread over two and four databases. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/partition.h"
#include "gen/schema_sql.h"
#include "tests/service/partition_rig.h"

static struct rig_answer answer;

static void get(const struct rig_service *s, int64_t user, const char *path)
{
    char token[TOKEN_LEN + 1];
    char extra[128];

    rig_token(user, token);
    (void)snprintf(extra, sizeof(extra), "authorization: %s\r\n", token);
    assert_true(rig_request(s->orders_port, "GET", path, extra, NULL, &answer));
}

/* The number after `name` in the body, in quotes. */
static int64_t number_after(const char *name)
{
    const char *p = strstr(answer.body, name);

    if (p == NULL)
        fail_msg("no %s in %d %s", name, answer.status, answer.body);
    return strtoll(p + strlen(name) + 1, NULL, 10);
}

/* Vouchers that are created through the service go to the databases in turn. */
TEST(vouchers_are_made_in_each_database)
{
    static const char BODY[] =
        "{\"title\":\"t\",\"payValue\":1,\"actualValue\":2,\"stock\":5,"
        "\"beginTime\":\"2020-01-01T00:00:00Z\",\"endTime\":\"2099-01-01T00:00:00Z\"}";
    struct rig_service s = RIG_START(parts_flag_all());
    char token[TOKEN_LEN + 1];
    char extra[160];
    int made[PARTS_MOST] = {0};

    rig_operator_token(token);
    (void)snprintf(extra, sizeof(extra),
                   "authorization: %s\r\ncontent-type: application/json\r\n", token);
    for (size_t i = 0; i < 2 * parts.count; i++) {
        assert_true(
            rig_request(s.orders_port, "POST", "/api/v1/vouchers", extra, BODY, &answer));
        rig_expect(&answer, 201, "accepted");
        made[partition_of_voucher(number_after("\"id\":"), parts.count)]++;
    }
    for (size_t i = 0; i < parts.count; i++) {
        assert_int_equal(made[i], 2);
        assert_int_equal(parts_number(i, "SELECT count(*) FROM tb_seckill_voucher"), 2);
    }
    rig_stop(&s);
}

/* One user orders a voucher of each database, twice. The order is found by its number and by the id
 * of its request. */
TEST(orders_go_to_the_database_of_their_voucher)
{
    struct rig_service s = RIG_START(parts_flag_all());
    int64_t orders[PARTS_MOST];
    char name[60], path[100];

    for (size_t i = 0; i < parts.count; i++) {
        int64_t voucher = parts_voucher(i, 3);

        (void)snprintf(name, sizeof(name), "spread:%lld", (long long)voucher);
        assert_true(rig_order_named(s.orders_port, voucher, 1, name, &answer));
        rig_expect(&answer, 201, "accepted");
        orders[i] = number_after("\"id\":");
        assert_int_equal(partition_of_order(orders[i], parts.count), i);
        assert_true(rig_order_named(s.orders_port, voucher, 1, name, &answer));
        rig_expect(&answer, 201, "accepted");
        assert_int_equal(number_after("\"id\":"), orders[i]);
        assert_true(rig_order(s.orders_port, voucher, 1, &answer));
        rig_expect(&answer, 409, "duplicate");
        (void)snprintf(path, sizeof(path), "/api/v1/orders/%lld", (long long)orders[i]);
        get(&s, 1, path);
        assert_int_equal(number_after("\"voucherId\":"), voucher);
        get(&s, 2, path);
        rig_expect(&answer, 404, "not-found");
        (void)snprintf(path, sizeof(path), "/api/v1/requests/%s", name);
        get(&s, 1, path);
        assert_int_equal(number_after("\"id\":"), orders[i]);
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(orders[i], orders[j]);
        (void)snprintf(path, sizeof(path),
                       "SELECT count(*) FROM tb_voucher_order WHERE voucher_id = %lld",
                       (long long)voucher);
        assert_int_equal(parts_number(i, path), 1);
    }
    assert_true(rig_order(s.orders_port, 63000000000001, 1, &answer));
    rig_expect(&answer, 404, "unknown-voucher");
    rig_stop(&s);
}

/* A key belongs to its user and the partition. */
TEST(a_request_id_belongs_to_its_partition)
{
    struct rig_service s = RIG_START(parts_flag_all());
    int64_t here = parts_voucher(0, 3), beside = parts_voucher(0, 3), there = parts_voucher(1, 3);
    char name[60], path[120];

    (void)snprintf(name, sizeof(name), "key:%lld", (long long)there);
    assert_true(rig_order_named(s.orders_port, here, 1, name, &answer));
    rig_expect(&answer, 201, "accepted");
    assert_true(rig_order_named(s.orders_port, beside, 1, name, &answer));
    rig_expect(&answer, 422, "conflict");
    assert_true(rig_order_named(s.orders_port, there, 1, name, &answer));
    rig_expect(&answer, 201, "accepted");
    (void)snprintf(path, sizeof(path), "/api/v1/requests/%s?voucher=%lld", name,
                   (long long)there);
    get(&s, 1, path);
    assert_int_equal(number_after("\"voucherId\":"), there);
    (void)snprintf(path, sizeof(path), "/api/v1/requests/%s?voucher=%lld", name,
                   (long long)here);
    get(&s, 1, path);
    assert_int_equal(number_after("\"voucherId\":"), here);
    (void)snprintf(path, sizeof(path), "/api/v1/requests/%s?voucher=x", name);
    get(&s, 1, path);
    rig_expect(&answer, 400, "bad-request");
    rig_stop(&s);
}

/* Every voucher occurs once, the highest id first, with pages of any size. */
TEST(pages_go_through_all_databases)
{
    struct rig_service s = RIG_START(parts_flag_all());
    int64_t there = 0;

    for (size_t i = 0; i < parts.count; i++) {
        (void)parts_voucher(i, 1);
        there += parts_number(i, "SELECT count(*) FROM tb_seckill_voucher");
    }
    for (int limit = 1; limit <= there + 1; limit++) {
        int64_t last = INT64_MAX, seen = 0;
        char path[100];

        (void)snprintf(path, sizeof(path), "/api/v1/vouchers?limit=%d", limit);
        for (bool has_next = true; has_next;) {
            const char *p = answer.body;

            get(&s, 1, path);
            rig_expect(&answer, 200, "accepted");
            for (; (p = strstr(p, "{\"id\":\"")) != NULL; p += 7, seen++) {
                int64_t id = strtoll(p + 7, NULL, 10);

                assert_true(id < last);
                last = id;
            }
            has_next = strstr(answer.head, "rel=\"next\"") != NULL;
            (void)snprintf(path, sizeof(path), "/api/v1/vouchers?limit=%d&after=%lld", limit,
                           (long long)last);
        }
        assert_int_equal(seen, there);
    }
    rig_stop(&s);
}

/* The service names the database that is in the wrong place. */
TEST(a_wrong_list_is_refused)
{
    static const size_t SWAPPED[] = {1, 0, 2, 3}, TWICE[] = {0, 0, 2, 3}, ONE[] = {0},
                        SECOND[] = {1};
    char log[4096], said[200];

    assert_int_equal(
        rig_run((const char *const[]){parts_flag(SWAPPED, parts.count), NULL}, log, sizeof(log)),
        69);
    (void)snprintf(said, sizeof(said), "partition 0 of %zu: this database is partition 1 of %zu",
                   parts.count, parts.count);
    assert_non_null(strstr(log, said));
    assert_int_equal(
        rig_run((const char *const[]){parts_flag(TWICE, parts.count), NULL}, log, sizeof(log)),
        69);
    (void)snprintf(said, sizeof(said), "partition 1 of %zu: this database is partition 0 of %zu",
                   parts.count, parts.count);
    assert_non_null(strstr(log, said));
    assert_int_equal(
        rig_run((const char *const[]){parts_flag(ONE, 1), NULL}, log, sizeof(log)), 69);
    (void)snprintf(said, sizeof(said),
                   "this database is partition 0 of %zu, and --database-url has 1 URL",
                   parts.count);
    assert_non_null(strstr(log, said));
    assert_non_null(strstr(log, "name all partitions"));
    /* A call of it would make the wrong order permanent. */
    assert_null(strstr(log, "become_partition"));
    assert_int_equal(
        rig_run((const char *const[]){parts_flag(SECOND, 1), NULL}, log, sizeof(log)), 69);
    assert_int_equal(rig_run((const char *const[]){"--database-url=postgresql://x/y redis://z",
                                                   NULL},
                             log, sizeof(log)),
                     64);
    assert_non_null(strstr(log, "URL 2: "));
    assert_int_equal(rig_run((const char *const[]){parts_flag_all(), "--lock-database-url=x://",
                                                   NULL},
                             log, sizeof(log)),
                     64);
    assert_non_null(strstr(log, "--lock-database-url"));
    assert_int_equal(rig_run((const char *const[]){parts_flag_all(), "--lock-database-url= ",
                                                   NULL},
                             log, sizeof(log)),
                     64);
}

/* become_partition() cannot make a database another partition. */
TEST(a_database_keeps_its_partition)
{
    struct db_conn *db = parts_connect(parts.owners[1]);

    assert_int_equal(db_script(db, "SELECT become_partition(0, 9)"), DB_ERROR);
    assert_non_null(strstr(db_error(db), "is partition 1 already"));
    assert_int_equal(db_script(db, "SELECT become_partition(1, 65)"), DB_ERROR);
    assert_int_equal(db_script(db, "SELECT become_partition(1, 9)"), DB_OK);
    assert_int_equal(parts_number(1, "SELECT count FROM tb_partition"), 9);
    assert_int_equal(db_script(db, SCHEMA_SQL), DB_OK);
    assert_int_equal(parts_number(1, "SELECT count FROM tb_partition"), 9);
    assert_int_equal(db_script(db, "SELECT become_partition(1, 8)"), DB_ERROR);
    assert_non_null(strstr(db_error(db), "there are 9 partitions"));
    assert_int_equal(parts_number(1, "SELECT count FROM tb_partition"), 9);
    db_free(db);
    parts_run(parts.owners[1], parts.count == 2 ? "UPDATE tb_partition SET count = 2"
                                                : "UPDATE tb_partition SET count = 4");
}

/* Sell a voucher of each database with this lock; the fence of each row is as the guard
 * requires. */
static void sell_under(const char *lock, const char *guard, bool has_fence)
{
    struct rig_service s = RIG_START(parts_flag_all(), lock, guard, "--lock-scope=voucher",
                                     "--lock-wait=5s");

    for (size_t i = 0; i < parts.count; i++) {
        int64_t voucher = parts_voucher(i, 3);
        char sql[120];

        assert_true(rig_order(s.orders_port, voucher, 1, &answer));
        rig_expect(&answer, 201, "accepted");
        (void)snprintf(sql, sizeof(sql),
                       "SELECT fence FROM tb_seckill_voucher WHERE voucher_id = %lld",
                       (long long)voucher);
        assert_int_equal(parts_number(i, sql) > 0, has_fence);
    }
    rig_stop(&s);
}

/* Only the first database has the tables of the pg locks and the epochs of fences. A fence guards
 * the rows of all databases. */
TEST(the_locks_are_in_the_first_database)
{
    sell_under("--lock=pg-row", "--stock-guard=conditional", false);
    sell_under("--lock=fenced", "--stock-guard=fence", true);
    assert_true(parts_number(0, "SELECT last_value FROM dlock_fence_epoch") > 1);
}

/* --lock-database-url names another database. */
TEST(the_locks_are_where_the_setting_says)
{
    char flag[PARTS_URL_MAX + 32], log[4096];

    (void)snprintf(flag, sizeof(flag), "--lock-database-url=%s", parts.services[1]);
    assert_int_equal(rig_run((const char *const[]){parts_flag_all(), flag, "--lock=pg-row",
                                                   "--start-timeout=100ms", NULL},
                             log, sizeof(log)),
                     69); /* the second database has no tables of locks */
    assert_non_null(strstr(log, "lock/stores/postgres.sql"));
}

static int run_with(size_t databases)
{

    parts.count = databases;
    return rig_run_tests(parts_make, parts_drop);
}

int main(void)
{
    int failed = run_with(2);

    return run_with(4) + failed;
}
