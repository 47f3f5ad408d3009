/* SPDX-License-Identifier: MIT */
/* test_readiness.c -- /readyz, with stores that answer but cannot serve orders.
 *
 * The servers are the test's own. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "loadtest/kit/port.h"
#include "tests/service/rig.h"
#include "tests/service/shell.h"

static pid_t standby;
static char standby_dir[] = "/tmp/seckill-test-standby-XXXXXX";
static char standby_url[256];

/* The port in postgresql://user:password@host:port/database. */
static int port_of(const char *url)
{
    return atoi(strchr(strchr(url, '@'), ':') + 1);
}

static void copy_database(void)
{
    char line[768];

    assert_non_null(mkdtemp(standby_dir));
    (void)snprintf(line, sizeof(line),
                   "$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)/pg_basebackup"
                   " --dbname='%s' --pgdata='%s/data' --write-recovery-conf"
                   " --checkpoint=fast --wal-method=stream 2>&1 &&"
                   " chmod -R go-rwx '%s/data' &&"
                   " if [ $(id -u) = 0 ]; then chown -R postgres: '%s'; fi",
                   getenv("SECKILL_LAB_DATABASE_URL"), standby_dir, standby_dir,
                   standby_dir);
    (void)shell(line);
}

static void launch(void)
{
    char line[768];
    const char *url = getenv("SECKILL_DATABASE_URL");
    const char *at = strchr(url, '@');
    int port;

    assert_true(port_hold(&port) >= 0);
    copy_database();
    (void)snprintf(standby_url, sizeof(standby_url), "--database-url=%.*s@127.0.0.1:%d%s",
                   (int)(at - url), url, port, strchr(at, '/'));
    /* PostgreSQL does not run as root, so setpriv changes the user; the server ends with this
     * program. */
    (void)snprintf(line, sizeof(line),
                   "as=; if [ $(id -u) = 0 ]; then"
                   " as='--reuid=postgres --regid=postgres --clear-groups'; fi;"
                   " exec setpriv $as --pdeathsig KILL"
                   " $(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)/postgres"
                   " -D '%s/data' -p %d -N 400 -c listen_addresses=127.0.0.1"
                   " -c unix_socket_directories= -c hot_standby=on"
                   " >'%s/log' 2>&1 </dev/null",
                   standby_dir, port, standby_dir);
    standby = fork();
    assert_true(standby >= 0);
    if (standby == 0) {
        (void)execlp("sh", "sh", "-c", line, (char *)NULL);
        _exit(127);
    }
}

static bool answers(void *question)
{
    char line[512];

    (void)snprintf(line, sizeof(line), "psql '%s' -Atc '%s' 2>&1 || true",
                   strchr(standby_url, '=') + 1, (const char *)question);
    return shell(line)[0] == 't';
}

/* Copy the server and wait until the copy follows it. Returns --database-url=... of the copy. */
static const char *standby_start(void)
{
    launch();
    if (!rig_until(answers, (void *)(uintptr_t)"SELECT pg_is_in_recovery()",
                   RIG_PATIENCE_MS))
        fail_msg("no standby: %s", shell("cat /tmp/seckill-test-standby-*/log"));
    return standby_url;
}

/* Promote the copy; it becomes a primary a little later. */
static void standby_promote(void)
{
    char line[512];
    const char *url = getenv("SECKILL_LAB_DATABASE_URL");
    const char *at = strchr(url, '@');

    (void)snprintf(line, sizeof(line), "psql '%.*s@127.0.0.1:%d%s' -Atc 'SELECT pg_promote()'",
                   (int)(at - url), url, port_of(standby_url), strchr(at, '/'));
    (void)shell(line);
}

/* Stop the copy and remove its files. */
static void standby_end(void)
{
    char line[96];

    assert_int_equal(kill(standby, SIGINT), 0);
    assert_int_equal(waitpid(standby, NULL, 0), standby);
    (void)snprintf(line, sizeof(line), "rm -rf '%s'", standby_dir);
    (void)shell(line);
}

static struct rig_service service;
static struct rig_answer answer;

static const char *ask(void)
{
    assert_true(rig_request(service.admin_port, "GET", "/readyz", NULL, NULL, &answer));
    return answer.body;
}

static bool is_ready(void *arg)
{
    (void)arg;
    (void)ask();
    return answer.status == 200 &&
           strstr(answer.body, "{\"ready\":true,\"postgresql\":\"ok\",\"locks\":\"ok\"");
}

static void await_ready(void)
{
    if (!rig_until(is_ready, NULL, RIG_PATIENCE_MS))
        fail_msg("the service is not ready: %s", answer.body);
}

static bool says(void *words)
{
    (void)ask();
    return answer.status == 503 && strstr(answer.body, words) != NULL;
}

static void await_refusal(const char *words)
{
    if (!rig_until(says, (void *)(uintptr_t)words, RIG_PATIENCE_MS))
        fail_msg("the answer does not say \"%s\": %d %s", words, answer.status, answer.body);
}

static const char *redis(const char *url, const char *command)
{
    char line[512];
    const char *said;

    (void)snprintf(line, sizeof(line), "redis-cli --no-auth-warning -u '%s' %s 2>&1", url, command);
    said = shell(line);
    if (strstr(said, "NOAUTH") != NULL || strncmp(said, "ERR", 3) == 0)
        fail_msg("%s: %s", command, said);
    return said;
}

/* Check the metrics, each 1 or 0, which must agree with the last answer of /readyz. */
static void assert_metrics_say(int ready, int locks, int postgresql)
{
    assert_int_equal(ready, (int)rig_metric(&service, "seckill_ready "));
    assert_int_equal(locks,
                     (int)rig_metric(&service, "seckill_store_ready{store=\"locks\"}"));
    assert_int_equal(postgresql, (int)rig_metric(&service, "seckill_store_ready{store="
                                                           "\"postgresql\"}"));
}

TEST(a_read_only_replica_is_not_ready)
{
    static const char *const LOCKS[] = {"--lock=reentrant", "--lock=setnx", "--lock=fair",
                                        "--lock=fenced"};
    const char *url = rig_environment("SECKILL_REDIS_URL");

    for (size_t i = 0; i < sizeof(LOCKS) / sizeof(LOCKS[0]); i++) {
        service = RIG_START(LOCKS[i]);
        await_ready();
        (void)redis(url, "REPLICAOF 127.0.0.1 1");
        await_refusal("read only replica");
        assert_non_null(strstr(answer.body, "\"postgresql\":\"ok\""));
        assert_metrics_say(0, 0, 1);
        (void)redis(url, "REPLICAOF NO ONE");
        await_ready();
        assert_metrics_say(1, 1, 1);
        rig_stop(&service);
    }
}

/* A probe itself sends no ZADD: only a waiter does. */
TEST(a_right_of_the_locks_is_named)
{
    const char *url = rig_environment("SECKILL_REDIS_URL");

    service = RIG_START("--lock=fair");
    await_ready();
    (void)redis(url, "ACL SETUSER default -zadd");
    await_refusal("the user has no right to ZADD");
    (void)redis(url, "ACL SETUSER default +zadd");
    await_ready();
    rig_stop(&service);
}

/* The locks need no Redis here, but each order does. */
TEST(a_redis_of_orders_that_takes_no_writes_is_not_ready)
{
    static const char *const USES[][2] = {{"--order-path=stream", "stream"},
                                          {"--admission=semaphore:5", "admission"},
                                          {"--admission=permits:5", "admission"}};
    const char *url = rig_environment("SECKILL_REDIS_URL");
    char words[64];

    for (size_t i = 0; i < sizeof(USES) / sizeof(USES[0]); i++) {
        service = RIG_START("--lock=none", USES[i][0]);
        await_ready();
        (void)snprintf(words, sizeof(words), "\"%s\":\"ok\"}", USES[i][1]);
        assert_non_null(strstr(answer.body, words));
        (void)redis(url, "CONFIG SET maxmemory 1");
        await_refusal("OOM command not allowed");
        (void)snprintf(words, sizeof(words), "\"locks\":\"ok\",\"%s\":\"", USES[i][1]);
        assert_non_null(strstr(answer.body, words));
        (void)snprintf(words, sizeof(words), "seckill_store_ready{store=\"%s\"}", USES[i][1]);
        assert_metrics_say(0, 1, 1);
        assert_int_equal(0, (int)rig_metric(&service, words));
        (void)redis(url, "CONFIG SET maxmemory 0");
        await_ready();
        assert_int_equal(1, (int)rig_metric(&service, words));
        rig_stop(&service);
    }
}

/* An order sends ZREM only when it gives its permit back, after it was let in. */
TEST(a_right_of_the_admission_is_named)
{
    const char *url = rig_environment("SECKILL_REDIS_URL");

    service = RIG_START("--lock=none", "--admission=permits:5");
    await_ready();
    (void)redis(url, "ACL SETUSER default -zrem");
    await_refusal("the user has no right to ZREM");
    (void)redis(url, "ACL SETUSER default +zrem");
    await_ready();
    rig_stop(&service);
}

static pid_t node;
static char node_dir[] = "/tmp/seckill-test-node-XXXXXX";
static char node_url[64];

static bool node_answers(void *arg)
{
    (void)arg;
    return strncmp(redis(node_url, "PING || true"), "PONG", 4) == 0;
}

/* The node ends if another program has taken one of its ports. */
static bool node_answers_or_has_ended(void *arg)
{
    if (waitpid(node, NULL, WNOHANG) == node)
        node = 0;
    return node == 0 || node_answers(arg);
}

static void launch_node(void)
{
    char port[16], bus[16];
    int port_number, bus_number;

    assert_true(port_hold(&port_number) >= 0);
    assert_true(port_hold(&bus_number) >= 0);
    (void)snprintf(port, sizeof(port), "%d", port_number);
    (void)snprintf(bus, sizeof(bus), "%d", bus_number);
    (void)snprintf(node_url, sizeof(node_url), "redis://127.0.0.1:%d", port_number);
    node = fork();
    assert_true(node >= 0);
    if (node == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)execlp("redis-server", "redis-server", "--port", port, "--cluster-port", bus,
                     "--bind", "127.0.0.1", "--cluster-enabled", "yes", "--save", "",
                     "--cluster-require-full-coverage", "no", "--dir", node_dir,
                     "--logfile", "log", (char *)NULL);
        _exit(127);
    }
}

static void start_node(void)
{
    enum { TRIES = 10 };

    assert_non_null(mkdtemp(node_dir));
    for (int i = 0; i < TRIES && node == 0; i++) {
        launch_node();
        assert_true(rig_until(node_answers_or_has_ended, NULL, RIG_PATIENCE_MS));
    }
    assert_true(node != 0);
}

static void end_node(void)
{
    char line[96];

    assert_int_equal(kill(node, SIGKILL), 0);
    assert_int_equal(waitpid(node, NULL, 0), node);
    node = 0;
    (void)snprintf(line, sizeof(line), "rm -rf '%s'", node_dir);
    (void)shell(line);
}

/* The node answers PING, and has lost all of its slots, or half of them. A service would not start
 * with a node without slots. */
TEST(a_node_of_a_cluster_is_not_ready)
{
    char flag[96];

    start_node();
    (void)snprintf(flag, sizeof(flag), "--redis-url=%s", node_url);
    (void)redis(node_url, "CLUSTER ADDSLOTSRANGE 0 16383");
    service = RIG_START("--lock=reentrant", flag);
    (void)redis(node_url, "CLUSTER DELSLOTSRANGE 0 16383");
    await_refusal("CLUSTERDOWN");
    (void)redis(node_url, "CLUSTER ADDSLOTSRANGE 0 8191");
    await_refusal("CLUSTERDOWN Hash slot not served");
    (void)redis(node_url, "CLUSTER ADDSLOTSRANGE 8192 16383");
    await_ready();
    rig_stop(&service);
    end_node();
}

static void run_sql(const char *script)
{
    if (db_script(rig_db(), script) != DB_OK)
        fail_msg("%s: %s", script, db_error(rig_db()));
}

TEST(a_database_that_takes_no_writes_is_not_ready)
{
    static const char END[] =
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
        " WHERE usename = 'seckill_service'";

    service = RIG_START("--lock=none");
    await_ready();
    run_sql("ALTER ROLE seckill_service SET default_transaction_read_only = on");
    run_sql(END);
    await_refusal("session is read-only");
    assert_non_null(strstr(answer.body, "\"locks\":\"ok\""));
    run_sql("ALTER ROLE seckill_service RESET default_transaction_read_only");
    run_sql(END);
    await_ready();
    rig_stop(&service);
}

/* The service can read the vouchers, but not sell one. */
TEST(a_database_without_a_right_of_orders_is_not_ready)
{
    static const struct {
        const char *breaks, *says, *mends;
    } RIGHTS[] = {
        {"REVOKE INSERT ON tb_voucher_order FROM seckill_service",
         "the right INSERT on tb_voucher_order is missing",
         "GRANT INSERT ON tb_voucher_order TO seckill_service"},
        {"REVOKE UPDATE ON tb_seckill_voucher FROM seckill_service",
         "the right UPDATE on tb_seckill_voucher is missing",
         "GRANT UPDATE (stock, version, fence) ON tb_seckill_voucher TO seckill_service"},
        {"ALTER TABLE tb_voucher_order RENAME TO moved",
         "the table tb_voucher_order is missing", "ALTER TABLE moved RENAME TO tb_voucher_order"},
        {"REVOKE USAGE ON SEQUENCE order_number FROM seckill_service",
         "the sequence order_number, or the right USAGE on it, is missing",
         "GRANT USAGE ON SEQUENCE order_number TO seckill_service"},
        {"REVOKE INSERT ON tb_voucher_write FROM seckill_service",
         "the right INSERT on tb_voucher_write is missing",
         "GRANT INSERT ON tb_voucher_write TO seckill_service"},
    };
    static char log[4096];

    service = RIG_START("--lock=none", rig_record_flag());
    await_ready();
    for (size_t i = 0; i < sizeof(RIGHTS) / sizeof(RIGHTS[0]); i++) {
        run_sql(RIGHTS[i].breaks);
        await_refusal(RIGHTS[i].says);
        assert_non_null(strstr(answer.body, "\"locks\":\"ok\""));
        assert_int_equal(rig_run((const char *const[]){"--lock=none", rig_record_flag(), NULL},
                                 log, sizeof(log)),
                         69);
        assert_true(strstr(log, "tb_") != NULL || strstr(log, RIGHTS[i].says) != NULL);
        run_sql(RIGHTS[i].mends);
        await_ready();
    }
    rig_stop(&service);
}

/* The hint of PostgreSQL has the name of the column. */
TEST(words_of_a_database_are_shown_as_escapes)
{
    service = RIG_START("--lock=none");
    await_ready();
    run_sql("ALTER TABLE tb_seckill_voucher RENAME stock TO \"stock\xc2\x9b\xe2\x80\xae\"");
    await_refusal("stock\\\\u009b\\\\u202e");
    run_sql("ALTER TABLE tb_seckill_voucher RENAME \"stock\xc2\x9b\xe2\x80\xae\" TO stock");
    await_ready();
    rig_stop(&service);
}

/* Without --record an order does not write to the record. */
TEST(a_missing_record_leaves_a_service_without_record_ready)
{
    run_sql("REVOKE INSERT ON tb_voucher_write FROM seckill_service");
    service = RIG_START("--lock=none");
    await_ready();
    run_sql("GRANT INSERT ON tb_voucher_write TO seckill_service");
    rig_stop(&service);
}

/* The service can read the table of the locks, but not write to it. */
TEST(a_lock_in_a_database_that_takes_no_writes_is_not_ready)
{
    static char log[4096];

    service = RIG_START("--lock=pg-unique");
    await_ready();
    run_sql("REVOKE INSERT ON dlock_lock FROM seckill_service, PUBLIC");
    await_refusal("the user has no right to INSERT on the table dlock_lock");
    run_sql("GRANT INSERT ON dlock_lock TO seckill_service");
    await_ready();
    rig_stop(&service);
    run_sql("REVOKE DELETE ON dlock_lock FROM seckill_service, PUBLIC");
    assert_int_equal(
        rig_run((const char *const[]){"--lock=pg-unique", NULL}, log, sizeof(log)), 69);
    assert_non_null(strstr(log, "the user has no right to DELETE on the table dlock_lock"));
    run_sql("GRANT DELETE ON dlock_lock TO seckill_service");
}

/* Without target_session_attrs the service would not start with the standby. */
TEST(a_standby_is_not_ready)
{
    char flag[300];

    (void)snprintf(flag, sizeof(flag), "%s?target_session_attrs=any", standby_start());
    service = RIG_START("--lock=none", flag);
    await_refusal("the server is a standby, or recovers");
    assert_non_null(strstr(answer.body, "\"locks\":\"ok\""));
    standby_promote();
    await_ready();
    rig_stop(&service);
    standby_end();
}

static long commands_of_redis(void)
{
    const char *at = strstr(redis(rig_environment("SECKILL_REDIS_URL"), "INFO stats"),
                            "total_commands_processed:");

    assert_non_null(at);
    return strtol(strchr(at, ':') + 1, NULL, 10);
}

/* The test sends five hundred requests in less time than as many checks would need seconds. A check
 * that finds its connection closed needs its commands twice. */
TEST(a_probe_serves_all_that_ask_in_its_second)
{
    enum { QUESTIONS = 500, COMMANDS_OF_A_PROBE = 10 };
    int64_t begin_ns;
    long before, seconds;

    service = RIG_START("--lock=reentrant");
    await_ready();
    before = commands_of_redis();
    begin_ns = monotonic_ns();
    for (int i = 0; i < QUESTIONS; i++)
        (void)ask();
    seconds = (long)((monotonic_ns() - begin_ns) / 1000000000);
    assert_in_range(commands_of_redis() - before, 0,
                    COMMANDS_OF_A_PROBE * 2 * (seconds + 2));
    rig_stop(&service);
}

static bool has_waited_in_vain(void *voucher)
{
    static struct rig_answer got;

    return rig_order(service.orders_port, *(int64_t *)voucher, 1, &got) &&
           strcmp(got.outcome, "database-busy") == 0;
}

/* Orders that wait for the only connection do not make the service unready. */
TEST(a_busy_service_is_ready)
{
    static const struct postgres_statement BEGIN = {"ready_begin", "BEGIN", ""};
    static const struct postgres_statement ROLLBACK = {"ready_rollback", "ROLLBACK", ""};
    static const struct postgres_statement HOLD = {
        "ready_hold",
        "SELECT 1 FROM tb_seckill_voucher WHERE voucher_id = $1 FOR UPDATE", "i"};
    int64_t voucher = rig_voucher(1), other = rig_voucher(1);
    pid_t buyer;

    service = RIG_START("--lock=none", "--order-path=each", "--database-connections=1",
                        "--database-wait=100ms");
    db_queue(rig_db(), &BEGIN, NULL);
    db_queue(rig_db(), &HOLD, DB_VALUES(DB_INT(voucher)));
    assert_int_equal(db_run(rig_db()), DB_OK);
    buyer = fork();
    if (buyer == 0) {
        static struct rig_answer got;

        (void)rig_order(service.orders_port, voucher, 1, &got);
        _exit(0);
    }
    assert_true(rig_until(has_waited_in_vain, &other, RIG_PATIENCE_MS));
    assert_true(is_ready(NULL));
    assert_int_equal(db_run_one(rig_db(), &ROLLBACK, NULL), DB_OK);
    assert_true(waitpid(buyer, NULL, 0) == buyer);
    rig_stop(&service);
}

/* A fault without a lock's name is meant for an order, so a check must not trigger it. */
TEST(a_probe_springs_no_fault)
{
    service = RIG_START("--lock=setnx", "--allow-faults");
    rig_fault(&service, "arm", "point=between-setnx-and-expire&action=kill", 200);
    await_ready();
    rig_stop(&service);
}

int main(void)
{
    return rig_run_with_lab();
}
