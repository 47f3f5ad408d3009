/* SPDX-License-Identifier: MIT */
/* test_start.c -- the messages of a service that cannot start, and the settings of a service that
 * starts. */
#include <arpa/inet.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/service/rig.h"

static struct rig_answer answer;

static void expect_exit(const char *const *args, int status, const char *said)
{
    static char log[8192];
    int got = rig_run(args, log, sizeof(log));

    if (got != status || strstr(log, said) == NULL)
        fail_msg("%s: exit %d instead of %d, and no \"%s\" in:\n%s", args[0], got,
                 status, said, log);
}
#define EXPECT_EXIT(status, said, ...)                                                 \
    expect_exit((const char *const[]){__VA_ARGS__, NULL}, status, said)

TEST(a_wrong_setting_is_usage)
{
    EXPECT_EXIT(64, "did you mean --lock-scope?", "--lock-scpe=user");
    EXPECT_EXIT(64, "did you mean \"reentrant\"", "--lock=reentrent");
    EXPECT_EXIT(64, "did you mean \"conditional\"", "--stock-guard=conditonal");
    EXPECT_EXIT(64, "before-commit", "--unlock=never");
    EXPECT_EXIT(64, "each", "--order-path=sideways");
    EXPECT_EXIT(64, "ms", "--lock-wait=5");
    EXPECT_EXIT(64, "no such policy", "--retry=soon");
    EXPECT_EXIT(64, "workers", "--workers=0");
    EXPECT_EXIT(64, "workers", "--workers=many");
    EXPECT_EXIT(64, "HOST:PORT", "--listen=8081");
    EXPECT_EXIT(64, "HOST:PORT", "--listen=127.0.0.1:99999");
    EXPECT_EXIT(64, "one IPv4 address", "--listen=localhost:0");
    EXPECT_EXIT(64, "one IPv4 address", "--listen=+127.0.0.1:0");
    EXPECT_EXIT(64, "one IPv4 address", "--listen=127.0.0.1:0,127.0.0.1:0");
    EXPECT_EXIT(64, "--front must be 1 to 32 IPv4 addresses", "--front=front.example");
    EXPECT_EXIT(64, "not \"127.0.0.1,\"", "--front=127.0.0.1,");
    EXPECT_EXIT(64, "not \",127.0.0.1\"", "--front=,127.0.0.1");
    EXPECT_EXIT(64, "not \"127.0.0.1 127.0.0.2\"", "--front=127.0.0.1 127.0.0.2");
    EXPECT_EXIT(64, "not \"::1\"", "--front=::1");
    EXPECT_EXIT(64, "not \"10.0.0.0/8\"", "--front=10.0.0.0/8");
    EXPECT_EXIT(64, "not \"10.0.0.256\"", "--front=10.0.0.256");
    EXPECT_EXIT(64, "not \"127.0.0.1:80\"", "--front=127.0.0.1:80");
    EXPECT_EXIT(64, "front \"\" (flag): expected a value", "--front=");
    EXPECT_EXIT(64, "--admin-listen must", "--admin-listen=127.0.0.1,127.0.0.2:0");
    EXPECT_EXIT(64, "Redis URL cannot be read", "--redis-url=http://127.0.0.1:6379");
    EXPECT_EXIT(64, "--redlock-urls (flag): in URL 2 of the list: the Redis URL cannot be read, at "
                "character 1: ", "--lock=redlock",
                "--redlock-urls=redis://127.0.0.1:1,127.0.0.1:2,redis://127.0.0.1:3");
    EXPECT_EXIT(64,
                "in URL 2 of the list: the Redis URL cannot be read, at character 1: there is a "
                "space",
                "--redlock-urls=redis://127.0.0.1:1, redis://127.0.0.1:2");
    EXPECT_EXIT(64,
                "--redis-url (flag): the Redis URL cannot be read, at character 19: a port is a "
                "number from 1 to 65535; it has to be redis-cluster://",
                "--redis-url=redis-cluster://a:x");
    EXPECT_EXIT(64, "cannot use a Redis Cluster", "--order-path=stream",
                "--redis-url=rediss-cluster://a");
    EXPECT_EXIT(64,
                "--etcd-url (flag): the URL of the etcd cannot be read, at character 11: a host "
                "has a byte",
                "--etcd-url=http://a,b c:2379");
    EXPECT_EXIT(64, "--zookeeper-url (flag): the URL of ZooKeeper, at character 5: no host:port",
                "--zookeeper-url=a:1,b:x");
    EXPECT_EXIT(64, "--database-url (flag) must be postgresql://",
                "--database-url=postgresql://h:x/d");
    EXPECT_EXIT(64, "at character 16: a port is a number from 1 to 65535",
                "--database-url=postgresql://h:x/d");
    EXPECT_EXIT(64, "--process", "--process=a b");
    EXPECT_EXIT(64, "", "surplus");
}

/* The error names the source of an address: the file and the line, or the variable. A variable has
 * precedence over the file, and the environment of the laboratory has an etcd. */
TEST(a_bad_address_is_named_with_its_source)
{
    char path[64] = "/tmp/seckill-test-config-XXXXXX";
    char flag[96], said[160];
    FILE *file = fdopen(mkstemp(path), "w");
    char *etcd_url = getenv("SECKILL_ETCD_URL") ? strdup(getenv("SECKILL_ETCD_URL")) : NULL;

    assert_non_null(file);
    unsetenv("SECKILL_ETCD_URL");
    fputs("# the stores\netcd-url = http://h:0\n", file);
    fclose(file);
    snprintf(flag, sizeof(flag), "--config=%s", path);
    snprintf(said, sizeof(said),
             "--etcd-url (%s:2): the URL of the etcd cannot be read, at character 10: "
             "a port",
             path);
    EXPECT_EXIT(64, said, flag);
    unlink(path);
    if (etcd_url != NULL)
        setenv("SECKILL_ETCD_URL", etcd_url, 1);
    free(etcd_url);
    setenv("SECKILL_ZOOKEEPER_URL", "h", 1);
    EXPECT_EXIT(64,
                "--zookeeper-url (SECKILL_ZOOKEEPER_URL): the URL of ZooKeeper, at character 1: ",
                "--lock=none");
    unsetenv("SECKILL_ZOOKEEPER_URL");
    EXPECT_EXIT(64, "at character 1: it does not begin with postgresql://",
                "--database-url=mysql://h/d");
}

/* The service refuses a key file that other users may read. */
TEST(the_token_key_is_checked)
{
    char path[64] = "/tmp/seckill-test-key-XXXXXX";
    char flag[96];
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    (void)snprintf(flag, sizeof(flag), "--token-key-file=%s", path);
    EXPECT_EXIT(64, "64 hex digits", flag);
    assert_int_equal(fchmod(fd, 0644), 0);
    EXPECT_EXIT(64, "owner only", flag);
    assert_int_equal(fchmod(fd, 0600), 0);
    assert_int_equal(dprintf(fd, "1:%064d\n", 0), 67);
    EXPECT_EXIT(64, "line 1: a key of zeros can be guessed", flag);
    (void)close(fd);
    (void)unlink(path);
    EXPECT_EXIT(64, "No such file", flag);
}

/* Bind a port without listening on it, so that no server can listen there. */
static int silent_port(int *fd)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t len = sizeof(at);

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(*fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(getsockname(*fd, (struct sockaddr *)&at, &len), 0);
    return ntohs(at.sin_port);
}

TEST(a_missing_server_is_named)
{
    char redis[64];
    char postgres[96];
    char redlock[64];
    int fd;
    int port = silent_port(&fd);

    (void)snprintf(redis, sizeof(redis), "--redis-url=redis://127.0.0.1:%d", port);
    (void)snprintf(redlock, sizeof(redlock), "--redlock-urls=redis://127.0.0.1:%d",
                   port);
    (void)snprintf(postgres, sizeof(postgres),
                   "--database-url=postgresql://nobody@127.0.0.1:%d/x", port);
    EXPECT_EXIT(69, "Redis is not available", "--start-timeout=0", redis);
    EXPECT_EXIT(69, "that have the admin token free", "--start-timeout=0",
                "--admin-listen=0.0.0.0:0", redis);
    EXPECT_EXIT(69, "Redis is not available", "--start-timeout=0", "--lock=redlock",
                redlock);
    EXPECT_EXIT(69, "PostgreSQL is not available", "--start-timeout=0", postgres);
    EXPECT_EXIT(69, "PostgreSQL is not available", "--start-timeout=0", "--lock=none", redis,
                postgres);
    (void)close(fd);
}

/* Does a service warn that listens on this address, and cannot start because a store is missing? */
static bool warns_of_exposure(const char *listen, const char *more)
{
    const char *const args[] = {"--lock=none", "--start-timeout=0",
                                "--database-url=postgresql://nobody@127.0.0.1:1/x", listen,
                                more, NULL};
    char log[4096];

    assert_int_equal(rig_run(args, log, sizeof(log)), 69);
    return strstr(log, listen) != NULL &&
           strstr(log, "put a proxy in front and name its address with --front") != NULL;
}

TEST(an_exposed_listener_is_warned_of)
{
    assert_true(warns_of_exposure("--listen=0.0.0.0:0", NULL));
    assert_false(warns_of_exposure("--listen=127.0.0.2:0", NULL));
    assert_false(warns_of_exposure("--listen=0.0.0.0:0", "--front=10.0.0.2"));
    assert_false(warns_of_exposure("--listen=0.0.0.0:0", "--connections-per-address=0"));
}

/* 32 addresses are accepted, and no more. */
TEST(fronts_are_counted)
{
    char list[33 * 10 + 16] = "--front=10.0.0.1";

    for (int i = 1; i < 32; i++)
        (void)strcat(list, ",10.0.0.1");
    assert_false(warns_of_exposure("--listen=0.0.0.0:0", list));
    (void)strcat(list, ",10.0.0.1");
    EXPECT_EXIT(64, "--front must be 1 to 32", list);
}

/* Make a role for this test, which may have this many connections. */
static void limited_role(char *url, size_t size, int connections)
{
    static const char DROP[] = "DROP ROLE IF EXISTS seckill_limited";
    const char *at = strchr(rig_environment("SECKILL_DATABASE_URL"), '@');
    char create[160];

    assert_non_null(at);
    (void)snprintf(create, sizeof(create),
                   "CREATE ROLE seckill_limited LOGIN PASSWORD 'limited'"
                   " CONNECTION LIMIT %d IN ROLE seckill_service", connections);
    assert_int_equal(db_script(rig_db(), DROP), DB_OK);
    if (connections > 0)
        assert_int_equal(db_script(rig_db(), create), DB_OK);
    (void)snprintf(url, size, "--database-url=postgresql://seckill_limited:limited%s",
                   at);
}

/* The server allows fewer connections than the pool wants, so requests share them. */
TEST(requests_share_the_connections_that_there_are)
{
    enum { BUYERS_AT_ONCE = 8 };
    char url[256];
    struct rig_service s;
    int64_t voucher = rig_voucher(BUYERS_AT_ONCE);

    limited_role(url, sizeof(url), 3);
    s = RIG_START("--lock=none", "--database-connections=6", url);
    for (int user = 1; user <= BUYERS_AT_ONCE; user++) {
        assert_true(rig_order(s.orders_port, voucher, user, &answer));
        assert_string_equal(answer.outcome, "accepted");
    }
    assert_true(rig_metric(&s, "seckill_database_connections ") == 6);
    assert_true(rig_metric(&s, "seckill_database_connections_open ") <= 3);
    rig_stop(&s);
    limited_role(url, sizeof(url), 0);
}

/* Variants without a store need no Redis. */
TEST(none_and_local_need_no_redis)
{
    static const char *const LOCKS[] = {"--lock=none", "--lock=local"};

    for (int i = 0; i < 2; i++) {
        struct rig_service s = RIG_START(LOCKS[i], "--redis-url=redis://127.0.0.1:1");

        assert_true(rig_order(s.orders_port, rig_voucher(1), 1, &answer));
        assert_string_equal(answer.outcome, "accepted");
        assert_true(rig_request(s.admin_port, "GET", "/readyz", NULL, NULL, &answer));
        assert_int_equal(answer.status, 200);
        rig_stop(&s);
    }
}

TEST(a_port_in_use_is_named)
{
    struct rig_service s = RIG_START("--lock=none");
    char flag[64];

    (void)snprintf(flag, sizeof(flag), "--listen=127.0.0.1:%d", s.orders_port);
    EXPECT_EXIT(69, "Address already in use", "--lock=none", flag);
    (void)snprintf(flag, sizeof(flag), "--admin-listen=127.0.0.1:%d", s.orders_port);
    EXPECT_EXIT(69, "Address already in use", "--lock=none", flag);
    rig_stop(&s);
}

/* The warnings before the start and the error that ends the start are objects. */
TEST(a_log_in_json_has_no_other_line)
{
    const char *const args[] = {"--log-format=json", "--lock=none", "--start-timeout=0",
                                "--listen=0.0.0.0:0",
                                "--database-url=postgresql://nobody@127.0.0.1:1/x", NULL};
    static char log[8192];
    bool has_warning = false, has_error = false;

    assert_int_equal(rig_run(args, log, sizeof(log)), 69);
    for (char *rest = log, *line = strsep(&rest, "\n"); rest != NULL;
         line = strsep(&rest, "\n")) {
        json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        const char *level = json_string_value(json_object_get(object, "level"));

        if (level == NULL)
            fail_msg("no object of the log: %s", line);
        has_warning = has_warning || strcmp(level, "warn") == 0;
        has_error = has_error || strcmp(level, "error") == 0;
        json_decref(object);
    }
    assert_true(has_warning && has_error);
}
