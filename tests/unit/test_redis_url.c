/* SPDX-License-Identifier: MIT */
/* test_redis_url.c -- parses the URLs of Redis. */
#include <string.h>

#include "base/redis/url.h"
#include "tests/registered.h"

static struct redis_url url;
static char why[160];

static bool parse(const char *text)
{
    strcpy(why, "nothing");
    return redis_url_parse(text, &url, why, sizeof(why));
}

TEST(reads_hosts_and_ports)
{
    assert_true(parse("redis://127.0.0.1:7001"));
    assert_string_equal("127.0.0.1", url.host);
    assert_int_equal(7001, url.port);
    assert_int_equal(0, url.db);
    assert_string_equal("", url.password);
    assert_string_equal("127.0.0.1:7001", url.label);
    assert_true(parse("redis://cache.example"));
    assert_int_equal(REDIS_DEFAULT_PORT, url.port);
    assert_true(parse("redis://cache.example/"));
    assert_true(parse("redis://[::1]:7001/3"));
    assert_string_equal("::1", url.host);
    assert_string_equal("[::1]:7001", url.label);
    assert_int_equal(3, url.db);
}

TEST(reads_logins)
{
    assert_true(parse("redis://:secret@h:1"));
    assert_string_equal("", url.user);
    assert_string_equal("secret", url.password);
    assert_true(parse("redis://me:s%40c%3aret%2C@h:1/15"));
    assert_string_equal("me", url.user);
    assert_string_equal("s@c:ret,", url.password);
    assert_int_equal(15, url.db);
    assert_string_equal("h:1", url.label);
    assert_true(parse("redis://me:a:b@h:1"));
    assert_string_equal("a:b", url.password);
}

TEST(reads_sockets)
{
    assert_true(parse("unix:///run/redis/redis%20one.sock"));
    assert_string_equal("/run/redis/redis one.sock", url.path);
    assert_string_equal("", url.host);
    assert_true(parse("unix:///s?db=4"));
    assert_string_equal("/s", url.path);
    assert_int_equal(4, url.db);
}

TEST(reads_sentinels)
{
    assert_true(parse("redis-sentinel://a,b:7,[::1]:8/shop"));
    assert_int_equal(3, url.sentinel_count);
    assert_string_equal("a", url.sentinels[0].host);
    assert_int_equal(REDIS_SENTINEL_PORT, url.sentinels[0].port);
    assert_int_equal(7, url.sentinels[1].port);
    assert_string_equal("::1", url.sentinels[2].host);
    assert_string_equal("shop", url.master_name);
    assert_string_equal("master shop", url.label);
    assert_string_equal("", url.password);
    assert_string_equal("", url.sentinel_password);
    assert_true(parse("redis-sentinel://me:s%2Fecret@a/shop%201?sentinel-user=s&db=2&"
                      "sentinel-password=p%26q="));
    assert_string_equal("me", url.user);
    assert_string_equal("s/ecret", url.password);
    assert_string_equal("shop 1", url.master_name);
    assert_int_equal(2, url.db);
    assert_string_equal("s", url.sentinel_user);
    assert_string_equal("p&q=", url.sentinel_password);
    assert_true(parse("redis://h:1"));
    assert_int_equal(0, url.sentinel_count);
}

TEST(reads_tls)
{
    assert_true(parse("rediss://me:secret@h:7/3?ca=/etc/a%26b&cert=/c&key=/k&server-name=n"));
    assert_true(url.is_encrypted);
    assert_string_equal("h", url.host);
    assert_int_equal(7, url.port);
    assert_int_equal(3, url.db);
    assert_string_equal("secret", url.password);
    assert_string_equal("/etc/a&b", url.ca_file);
    assert_string_equal("/c", url.cert_file);
    assert_string_equal("/k", url.key_file);
    assert_string_equal("n", url.server_name);
    assert_true(parse("rediss://h?ca=/a/b"));
    assert_string_equal("h", url.host);
    assert_string_equal("/a/b", url.ca_file);
    assert_true(parse("rediss-sentinel://a,b/shop?db=2&ca=/a/b&sentinel-password=p"));
    assert_true(url.is_encrypted);
    assert_string_equal("shop", url.master_name);
    assert_string_equal("/a/b", url.ca_file);
    assert_true(parse("rediss-cluster://a,b?ca=/a/b"));
    assert_true(url.is_encrypted);
    assert_int_equal(2, url.seed_count);
    assert_true(parse("redis://h:1"));
    assert_false(url.is_encrypted);
    assert_string_equal("", url.ca_file);
}

TEST(refuses_sentinels_that_are_nearly_right)
{
    static const char *const bad[] = {
        "redis-sentinel://", "redis-sentinel://a", "redis-sentinel://a/",
        "redis-sentinel:///shop", "redis-sentinel://a,/shop", "redis-sentinel://,a/shop",
        "redis-sentinel://a,,b/shop", "redis-sentinel://a:0/shop",
        "redis-sentinel://a/?db=1", "redis-sentinel://a/shop?", "redis-sentinel://a/shop?db=",
        "redis-sentinel://a/shop?db=x", "redis-sentinel://a/shop?db=1&",
        "redis-sentinel://a/shop?sentinel-user=u", "redis-sentinel://a/shop?password=p",
        "redis-sentinel://me@a/shop", "redis-sentinel://a/shop%",
        "redis-sentinel://a/shop/0", "redis-sentinel://a/shop?sentinel-password=",
        "redis-sentinel://a,b,c,d,e,f,g,h/shop",
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (parse(bad[i]))
            fail_msg("read: %s", bad[i]);
        assert_string_not_equal("nothing", why);
    }
}

TEST(refuses_what_is_nearly_right)
{
    static const char *const bad[] = {
        "", "redis", "redis:", "redis:/h", "redis://", "redis://:1", "redis://h:",
        "redis://h:0", "redis://h:65536", "redis://h:+1", "redis://h:1x",
        "redis://h:99999999999999999999", "redis://h:1/x", "redis://h:1/-1",
        "redis://h:1/1/2", "redis://h:1?db=1", "redis://h:1#a", "redis://me@h:1",
        "redis://me:@h:1", "redis://a:b@c@h:1", "redis://:a%4@h:1", "redis://:a%zz@h:1",
        "redis://:a%00@h:1", "redis://[::1:1", "redis://[::1]x:1", "redis://[]:1",
        "redis://h :1", " redis://h:1", "redis://h:1\n", "rediss:///0", "rediss://h:1?",
        "rediss://h:1?ca=", "rediss://h:1?ca", "rediss://h:1?cert=/c", "rediss://h:1?db=1",
        "rediss://h:1?ca=/c&", "redis://h:1?ca=/c", "redis-sentinel://a/shop?ca=/c",
        "rediss-cluster://a/0?ca=/c", "redis-cluster://a?ca=/c", "http://h:1", "REDIS://h:1",
        "unix://", "unix://rel", "unix:///", "unix:///s?x=1",
        "unix:///s?db=", "unix:///s?db=1x", "redis://h:1/12345678901",
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (parse(bad[i]))
            fail_msg("\"%s\" was taken", bad[i]);
        assert_string_not_equal("nothing", why);
        assert_string_not_equal("", why);
    }
    assert_false(redis_url_parse(NULL, &url, why, sizeof(why)));
}

/* Each refusal begins with the position of the mistake, counted from 1. */
TEST(names_the_place)
{
    static const struct {
        const char *text, *begins;
    } bad[] = {
        {"", "at character 1: it is empty"},
        {"http://h:1", "at character 1: it begins with none"},
        {" redis://h:1", "at character 1: there is a space"},
        {"redis://h :1", "at character 10: there is a space"},
        {"redis://user:secret", "at character 14: a port is a number from 1 to 65535"},
        {"redis://h:1x", "at character 11: a port is a number from 1 to 65535"},
        {"redis://me@h:1", "at character 11: there is no password"},
        {"redis://me:@h:1", "at character 12: the password"},
        {"redis://a:b@c@h:1", "at character 14: there are two @"},
        {"redis://:a%zz@h:1", "at character 11: a % in the password"},
        {"redis://h:1/x", "at character 13: a database is a number"},
        {"redis://h:1?db=1", "at character 12: there is a ? or #"},
        {"redis://:1", "at character 9: the host is missing"},
        {"rediss://h:1?ca=/c&x=1", "at character 20: behind the ?"},
        {"redis-sentinel://a,,b/shop", "at character 20: the host is missing"},
        {"redis-sentinel://a:x/shop", "at character 20: a port is a number from 1 to 65535"},
        {"redis-sentinel://a", "at character 19: the name of the master"},
        {"redis-sentinel://a/shop/0", "at character 24: there is a /"},
        {"redis-sentinel://a/shop?db=x", "at character 28: a database is a number"},
        {"redis-sentinel://u:1/p@a", "at character 23: there is a /, @ or &"},
        {"redis-sentinel://a/m&sentinel-password=p", "at character 21: there is a /, @ or &"},
        {"redis-sentinel://u:p@q@a/s", "at character 23: there are two @"},
        {"redis-cluster://a,b/0", "at character 20: behind the nodes"},
        {"redis-cluster://a,b:0", "at character 21: a port is a number from 1 to 65535"},
        {"unix://rel", "at character 8: after unix://"},
        {"unix:///s?x=1", "at character 10: only ?db=N"},
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(parse(bad[i].text));
        if (strncmp(bad[i].begins, why, strlen(bad[i].begins)) != 0)
            fail_msg("%s: %s", bad[i].text, why);
    }
}

TEST(tells_the_form_of_each_scheme)
{
    assert_non_null(
        strstr(redis_url_form("redis://x"), "redis://[user:password@]host[:port][/db]"));
    assert_non_null(strstr(redis_url_form("redis-sentinel://x"), "/name"));
    assert_non_null(strstr(redis_url_form("rediss-cluster://x"), "rediss-cluster://"));
    assert_non_null(strstr(redis_url_form("unix://x"), "unix:///path"));
    assert_non_null(strstr(redis_url_form("http://x"), "redis-sentinel://"));
    assert_non_null(strstr(redis_url_form(NULL), "redis-cluster://"));
}

TEST(refuses_what_is_too_long)
{
    char text[600];

    memcpy(text, "redis://", 8);
    memset(text + 8, 'h', sizeof(text) - 8);
    text[8 + REDIS_HOST_MAX] = '\0';
    assert_true(parse(text));
    text[8 + REDIS_HOST_MAX] = 'h';
    text[9 + REDIS_HOST_MAX] = '\0';
    assert_false(parse(text));
    memset(text + 8, 'p', sizeof(text) - 8);
    text[8] = ':';
    memcpy(text + 9 + REDIS_SECRET_MAX + 1, "@h:1", 5);
    assert_false(parse(text));
    memcpy(text + 9 + REDIS_SECRET_MAX, "@h:1", 5);
    assert_true(parse(text));
    memcpy(text, "unix:///", 8);
    memset(text + 8, 's', sizeof(text) - 8);
    text[7 + REDIS_PATH_MAX] = '\0';
    assert_true(parse(text));
    text[7 + REDIS_PATH_MAX] = 's';
    text[8 + REDIS_PATH_MAX] = '\0';
    assert_false(parse(text));
}

TEST(tells_no_secrets)
{
    assert_false(parse("redis://me:hunter2@h:x"));
    assert_null(strstr(why, "hunter2"));
    assert_false(parse("redis://me:hunter2%zz@h:1"));
    assert_null(strstr(why, "hunter2"));
}
