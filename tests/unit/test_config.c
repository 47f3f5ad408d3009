/* SPDX-License-Identifier: MIT */
/* test_config.c -- the service's settings: defaults, implications, refusals. */
#include <stdlib.h>
#include <string.h>

#include "app/config.h"
#include "base/http/address.h"
#include "tests/registered.h"

enum { ARGS_MAX = 12 };

static enum settings_result load(struct config *c, struct settings *s,
                                 const char *const *flags)
{
    static char *argv[ARGS_MAX];
    int argc = 0;

    argv[argc++] = (char *)(uintptr_t) "seckilld";
    for (; *flags != NULL; flags++)
        argv[argc++] = (char *)(uintptr_t)*flags;
    argv[argc] = NULL;
    memset(c, 0, sizeof(*c));
    memset(s, 0, sizeof(*s));
    return config_load(c, s, argc, argv);
}
#define LOAD(c, s, ...) load(c, s, (const char *const[]){__VA_ARGS__, NULL})
#define STORES \
    "--database-url=postgresql://x/y", "--redis-url=redis://x", "--token-key-file=/k"

static struct config config;
static struct settings settings;

TEST(the_defaults_are_the_safe_ones)
{
    assert_int_equal(LOAD(&config, &settings, STORES), SETTINGS_OK);
    assert_string_equal(config.listen, "127.0.0.1:8081");
    assert_string_equal(config.admin_listen, "127.0.0.1:8082");
    assert_string_equal(config.lock, "reentrant");
    assert_false(config.lock_scope_is_voucher);
    assert_int_equal(config.lock_wait_ms, 0);
    assert_string_equal(config.retry, "push");
    assert_int_equal(config.lock_lease_ms, 30000);
    assert_int_equal(config.idle_transaction_ms, 20000);
    assert_true(config.watchdog);
    assert_string_equal(config.stock_guard, "conditional");
    assert_string_equal(config.duplicate_guard, "unique");
    assert_int_equal(config.duplicates, DUPLICATE_GUARD_UNIQUE);
    assert_false(config.unlock_before_commit);
    assert_false(config.allow_faults);
    assert_int_equal(config.workers, 64);
    assert_int_equal(config.admission_kind, ADMISSION_NONE);
    assert_true(strlen(config.process_name) > 1);
    settings_free(&settings);
}

TEST(an_admission_is_a_kind_and_a_number)
{
    enum config_admission kind;
    int limit;

    assert_true(config_parse_admission("semaphore:7", &kind, &limit));
    assert_int_equal(kind, ADMISSION_SEMAPHORE);
    assert_int_equal(limit, 7);
    assert_true(config_parse_admission("permits:1000000000", &kind, &limit));
    assert_int_equal(kind, ADMISSION_PERMITS);
    assert_int_equal(limit, 1000000000);
    assert_true(config_parse_admission("none", &kind, &limit));
    assert_int_equal(kind, ADMISSION_NONE);
    assert_false(config_parse_admission("permits:1000000001", &kind, &limit));
    assert_false(config_parse_admission("", &kind, &limit));
    assert_int_equal(LOAD(&config, &settings, "--database-url=postgresql://x/y",
                          "--token-key-file=/k", "--lock=none", "--admission=permits:3"),
                     SETTINGS_USAGE); /* the permits need a Redis */
    settings_free(&settings);
}

TEST(a_stream_needs_the_keys_that_sign_its_orders)
{
    assert_int_equal(unsetenv("SECKILL_TOKEN_KEY_FILE"), 0);
    assert_int_equal(LOAD(&config, &settings, "--database-url=postgresql://x/y",
                          "--redis-url=redis://x", "--order-path=stream"), SETTINGS_USAGE);
    settings_free(&settings);
}

TEST(settings_imply_what_they_say)
{
    assert_int_equal(LOAD(&config, &settings, STORES, "--lock-scope=voucher",
                          "--unlock=before-commit", "--duplicate-guard=count",
                          "--process=p:1", "--log-level=warn", "--log-format=json",
                          "--allow-faults"),
                     SETTINGS_OK);
    assert_true(config.lock_scope_is_voucher);
    assert_true(config.unlock_before_commit);
    assert_int_equal(config.duplicates, DUPLICATE_GUARD_COUNT);
    assert_true(config.allow_faults);
    assert_string_equal(config.process_name, "p:1");
    assert_int_equal(config.level, LOG_WARN);
    assert_int_equal(config.format, LOG_JSON);
    settings_free(&settings);
}

TEST(a_default_that_follows_another_setting_is_shown)
{
    char *shown = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&shown, &size);

    assert_int_equal(LOAD(&config, &settings, STORES, "--order-path=each"), SETTINGS_OK);
    settings_show(&settings, out);
    settings_free(&settings);
    assert_int_equal(LOAD(&config, &settings, STORES), SETTINGS_OK);
    settings_show(&settings, out);
    settings_free(&settings);
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(shown, "unlock = after-commit  # default\norder-path = each  # flag\n"));
    assert_non_null(strstr(shown, "unlock = later  # default\norder-path = combined  # default\n"));
    free(shown);
}

/* A thread that commits the orders of many does not wait for the release. */
TEST(the_release_goes_with_the_order_path)
{
    static const struct {
        const char *path, *unlock;
        bool waits;
    } ROWS[] = {
        {"--order-path=combined", "--retry=push", false},
        {"--order-path=each", "--retry=push", true},
        {"--order-path=stream", "--retry=push", true},
        {"--order-path=combined", "--unlock=after-commit", true},
        {"--order-path=each", "--unlock=later", false},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        assert_int_equal(LOAD(&config, &settings, STORES, ROWS[i].path, ROWS[i].unlock),
                         SETTINGS_OK);
        assert_int_equal(config.unlock_waits, ROWS[i].waits);
        assert_false(config.unlock_before_commit);
        settings_free(&settings);
    }
    assert_int_equal(LOAD(&config, &settings, STORES), SETTINGS_OK);
    assert_string_equal(config.order_path, "combined");
    assert_string_equal(config.unlock, "later");
    settings_free(&settings);
}

TEST(a_lock_needs_its_settings)
{
    static const char *const DB[] = {"--database-url=postgresql://x/y",
                                     "--token-key-file=/k"};

    assert_int_equal(LOAD(&config, &settings, DB[0], DB[1], "--lock=none"),
                     SETTINGS_OK);
    settings_free(&settings);
    assert_int_equal(LOAD(&config, &settings, DB[0], DB[1], "--lock=local"),
                     SETTINGS_OK);
    settings_free(&settings);
    assert_int_equal(LOAD(&config, &settings, DB[0], DB[1], "--lock=lua"),
                     SETTINGS_USAGE);
    settings_free(&settings);
    assert_int_equal(LOAD(&config, &settings, STORES, "--lock=redlock"),
                     SETTINGS_USAGE);
    settings_free(&settings);
    assert_int_equal(LOAD(&config, &settings, STORES, "--lock=zk-seq"), SETTINGS_USAGE);
    settings_free(&settings);
    assert_int_equal(LOAD(&config, &settings, DB[0], DB[1], "--lock=zk-basic",
                          "--zookeeper-url=h:2181"),
                     SETTINGS_OK);
    assert_string_equal(config.zookeeper_url, "h:2181");
    settings_free(&settings);
    assert_int_equal(LOAD(&config, &settings, DB[0], "--lock=none"), SETTINGS_USAGE);
    settings_free(&settings);
    assert_int_equal(LOAD(&config, &settings, DB[1], "--lock=none"), SETTINGS_USAGE);
    settings_free(&settings);
}

TEST(addresses_are_host_and_port)
{
    static const char *const BAD[] = {"",     "1.2.3.4", "1.2.3.4:", ":80", "x:-1",
                                      "x:80a", "x:65536", "x: 80",
                                      "x:80", "1.2.3:80", "1.2.3.256:80", "[::1]:80",
                                      "+1.2.3.4:80", "1.2.3.4,5.6.7.8:80",
                                      "1.2.3.4:80,1.2.3.4:81", "1.2.3.4:80s",
                                      "1.2.3.4:65536", "1.2.3.4:-1", "1.2.3.4: 80"};
    char host[64];
    int port = 0;

    assert_true(address_parse("127.0.0.1:0", host, &port));
    assert_string_equal(host, "127.0.0.1");
    assert_int_equal(port, 0);
    assert_true(address_parse("0.0.0.0:65535", host, &port));
    assert_int_equal(port, 65535);
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
        assert_false(address_parse(BAD[i], host, &port));
}

/* The settings of the caller's environment must not change the results. */
static int clear_environment(void **state)
{
    static const char *const NAMES[] = {
        "SECKILL_DATABASE_URL", "SECKILL_REDIS_URL", "SECKILL_REDLOCK_URLS",
        "SECKILL_ZOOKEEPER_URL", "SECKILL_TOKEN_KEY_FILE", "SECKILL_CONFIG"};

    (void)state;
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
        (void)unsetenv(NAMES[i]);
    return 0;
}

GROUP(clear_environment, NULL)
