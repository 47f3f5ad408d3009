/* SPDX-License-Identifier: MIT */
/* test_admin_access.c -- which Hosts, Origins and tokens the listener for operators takes. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/http/admin_access.h"
#include "base/text/log.h"
#include "tests/registered.h"

#define TOKEN "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct admin_access with_hosts(const char *hosts)
{
    struct admin_access a = {.hosts = hosts, .own_host = "10.0.0.5"};

    (void)snprintf(a.token, sizeof(a.token), "%s", TOKEN);
    return a;
}

static enum admin_verdict judge(const char *hosts, const char *host, const char *origin,
                                const char *site, const char *token)
{
    const struct admin_access a = with_hosts(hosts);
    const struct admin_origin from = {host, origin, site};

    return admin_access_check(&a, &from, token);
}

TEST(its_own_names_are_taken_with_any_port)
{
    static const char *const OWN[] = {
        "localhost",      "localhost:8082", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:8082",
        "127.1.2.3:8082", "[::1]",          "[::1]:8082",  "10.0.0.5",  "10.0.0.5:8082",
    };

    for (size_t i = 0; i < sizeof(OWN) / sizeof(OWN[0]); i++)
        if (judge(NULL, OWN[i], NULL, NULL, TOKEN) != ADMIN_ALLOWED)
            fail_msg("%s is refused", OWN[i]);
}

TEST(foreign_hosts_are_refused_whatever_the_token)
{
    static const char *const FOREIGN[] = {
        "evil.example",  "evil.example:8082", "localhost.evil.example", "127.0.0.1.evil.io",
        "xlocalhost",    "localhos",          "10.0.0.6",               "127.0.0.1x",
        "0x7f.1",        "[::2]",             "[::1",                   "",
        ":8082",         "128.0.0.1",         "2130706433",
        "evil.example,localhost", "*",
    };

    for (size_t i = 0; i < sizeof(FOREIGN) / sizeof(FOREIGN[0]); i++)
        if (judge(NULL, FOREIGN[i], NULL, NULL, TOKEN) != ADMIN_FOREIGN_HOST)
            fail_msg("%s is taken", FOREIGN[i]);
    assert_int_equal(judge(NULL, NULL, NULL, NULL, TOKEN), ADMIN_FOREIGN_HOST);
}

TEST(names_can_be_added)
{
    assert_int_equal(judge("shop,10.0.0.7", "shop:8082", NULL, NULL, TOKEN),
                     ADMIN_ALLOWED);
    assert_int_equal(judge("shop,10.0.0.7", "Shop", NULL, NULL, TOKEN), ADMIN_ALLOWED);
    assert_int_equal(judge("shop,10.0.0.7", "10.0.0.7:1", NULL, NULL, TOKEN),
                     ADMIN_ALLOWED);
    assert_int_equal(judge("shop,10.0.0.7", "sho", NULL, NULL, TOKEN),
                     ADMIN_FOREIGN_HOST);
    assert_int_equal(judge("shop,10.0.0.7", "shop,10.0.0.7", NULL, NULL, TOKEN),
                     ADMIN_FOREIGN_HOST);
    assert_int_equal(judge("*", "any.example:5", NULL, NULL, TOKEN), ADMIN_ALLOWED);
    assert_int_equal(judge("*", "", NULL, NULL, TOKEN), ADMIN_FOREIGN_HOST);
}

TEST(pages_of_other_sites_are_refused)
{
    static const char HOST[] = "localhost:8082";

    assert_int_equal(judge(NULL, HOST, "http://localhost:8082", "same-origin", TOKEN),
                     ADMIN_ALLOWED);
    assert_int_equal(judge(NULL, HOST, NULL, "none", TOKEN), ADMIN_ALLOWED);
    assert_int_equal(judge(NULL, HOST, "http://localhost:8081", NULL, TOKEN),
                     ADMIN_FOREIGN_ORIGIN);
    assert_int_equal(judge(NULL, HOST, "https://localhost:8082", NULL, TOKEN),
                     ADMIN_FOREIGN_ORIGIN);
    assert_int_equal(judge(NULL, HOST, "http://localhost:8082.evil.io", NULL, TOKEN),
                     ADMIN_FOREIGN_ORIGIN);
    assert_int_equal(judge(NULL, HOST, "null", NULL, TOKEN), ADMIN_FOREIGN_ORIGIN);
    assert_int_equal(judge(NULL, HOST, "", NULL, TOKEN), ADMIN_FOREIGN_ORIGIN);
    assert_int_equal(judge(NULL, HOST, NULL, "cross-site", TOKEN), ADMIN_FOREIGN_ORIGIN);
    assert_int_equal(judge(NULL, HOST, NULL, "same-site", TOKEN), ADMIN_FOREIGN_ORIGIN);
}

TEST(only_the_token_itself_is_the_token)
{
    char token[ADMIN_TOKEN_LEN + 2];

    assert_int_equal(judge(NULL, "localhost", NULL, NULL, NULL), ADMIN_NO_TOKEN);
    assert_int_equal(judge(NULL, "localhost", NULL, NULL, ""), ADMIN_WRONG_TOKEN);
    for (size_t i = 0; i < ADMIN_TOKEN_LEN; i++) {
        (void)snprintf(token, sizeof(token), "%.*s", (int)i, TOKEN);
        assert_int_equal(judge(NULL, "localhost", NULL, NULL, token), ADMIN_WRONG_TOKEN);
        (void)snprintf(token, sizeof(token), "%s", TOKEN);
        token[i] = token[i] == 'f' ? '0' : 'f';
        assert_int_equal(judge(NULL, "localhost", NULL, NULL, token),
                         token[i] == TOKEN[i] ? ADMIN_ALLOWED : ADMIN_WRONG_TOKEN);
    }
    assert_int_equal(judge(NULL, "localhost", NULL, NULL, TOKEN "0"), ADMIN_WRONG_TOKEN);
    assert_int_equal(judge(NULL, "localhost", NULL, NULL, TOKEN " "), ADMIN_WRONG_TOKEN);
}

TEST(a_list_of_hosts_has_no_ports_and_no_gaps)
{
    assert_true(admin_hosts_are_good("shop"));
    assert_true(admin_hosts_are_good("shop-1.example,10.0.0.5,[fe80::1]"));
    assert_true(admin_hosts_are_good("*"));
    assert_false(admin_hosts_are_good(""));
    assert_false(admin_hosts_are_good("shop,"));
    assert_false(admin_hosts_are_good(",shop"));
    assert_false(admin_hosts_are_good("shop:8082"));
    assert_false(admin_hosts_are_good("shop, shop2"));
    assert_false(admin_hosts_are_good("*.example"));
    assert_false(admin_hosts_are_good("[fe80::1"));
}

static char token_path[128];
static const struct admin_access_settings settings = {.listen = "127.0.0.1:0",
                                                      .token_path = token_path};

static bool opens(const char *contents, mode_t mode)
{
    struct admin_access a;
    int fd = open(token_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool is_open;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, contents, strlen(contents)), strlen(contents));
    assert_int_equal(fchmod(fd, mode), 0);
    (void)close(fd);
    is_open = admin_access_open(&a, &settings, geteuid()) == EXIT_VALID;
    (void)unlink(token_path);
    return is_open;
}

TEST(the_file_is_made_once_and_must_be_private)
{
    char dir[] = "/tmp/seckill-admin-XXXXXX";
    struct admin_access first, again;
    struct stat st;

    log_set_level(LOG_ERROR + 1);
    assert_non_null(mkdtemp(dir));
    (void)snprintf(token_path, sizeof(token_path), "%s/t", dir);
    assert_int_equal(admin_access_open(&first, &settings, geteuid()), EXIT_VALID);
    assert_int_equal(stat(token_path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(admin_access_open(&again, &settings, geteuid()), EXIT_VALID);
    assert_string_equal(first.token, again.token);
    assert_true(opens(TOKEN, 0600));
    assert_true(opens(TOKEN "\n", 0400));
    assert_false(opens(TOKEN "\n", 0644));
    assert_false(opens(TOKEN "\n", 0640));
    assert_false(opens(TOKEN "0", 0600));
    assert_false(opens(TOKEN "\n\n", 0600));
    assert_false(opens("", 0600));
    assert_false(opens("0000000000000000000000000000000000000000000000000000000000000000",
                       0600));
    (void)snprintf(token_path, sizeof(token_path), "%s", dir);
    assert_int_equal(admin_access_open(&first, &settings, geteuid()), EXIT_USAGE);
    (void)snprintf(token_path, sizeof(token_path), "%s/no/t",
                   dir);
    assert_int_equal(admin_access_open(&first, &settings, geteuid()), EXIT_CANNOT_WRITE);
    assert_int_equal(rmdir(dir), 0);
}
