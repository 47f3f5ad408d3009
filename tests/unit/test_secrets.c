/* SPDX-License-Identifier: MIT */
/* test_secrets.c -- no error has a piece of a password: of a URL in any form, right or wrong, and
 * of a server that repeats the password. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os/utf8.h"
#include "db/conn.h"
#include "lock/dlock.h"
#include "tests/registered.h"

static const char *const USERS[] = {"", "u", "u%40v", "\xc3\xa4", "u@v"};
static const char *const PASSWORDS[] = {
    "SECRET",    "SEC/RET",      "SEC@RET", "SEC#RET",     "SEC?RET",   "SEC%zzRET",  "SEC%40RET",
    "SEC%2fRET", "SEC:RET",      "12/SEC",  "12/SEC@RET",  "SEC%",      "SEC%00",     "12?SEC=RET",
    "SEC RET",   "SEC,RET",      "SEC'RET", "SEC&RET=1",   "SEC\"RET",  "SEC\x1bRET", "[SEC]RET",
    "SEC://RET", "S\xc3\xa4SEC", "SEC=",    "SEC@RET/SEC@RET"};

/* The user and the password stand for the two %s.  Nothing listens at port 1.  Without a variant
 * it is the database of a program. */
static const struct {
    const char *variant, *form;
} FORMS[] = {
    {NULL, "host=h pass=%s%s"}, {"reentrant", "redis://%s:%s"},
    {"zk-seq", "%s:%s@127.0.0.1:1"}, {NULL, "host=h password='%s%s"},
    {"pg-unique", "postgres://%s:%s"}, {NULL, "host=h %s password=%s x"},
    {"reentrant", "%s:%s@127.0.0.1:1"}, {NULL, "postgresql://%s:%s@h:1x/d"},
    {"etcd", "http://%s:%s@127.0.0.1:1"}, {"reentrant", "unix:///none?%s:%s@h"},
    {NULL, "postgresql://%s:%s@h,h2:1,h3/d"}, {"reentrant", "redis://%s:%s@127.0.0.1:1/0"},
    {"pg-unique", "postgresql://127.0.0.1:1/d?%s%s"},
    {NULL, "postgresql://h/d,postgresql://%s:%s@h/d"},
    {"reentrant", "redis-cluster://%s:%s@127.0.0.1:1"},
    {"etcd", "https://%s:%s@127.0.0.1:1?server-name=x"},
    {"reentrant", "rediss://%s:%s@127.0.0.1:1?server-name=x"},
    {"reentrant", "redis-sentinel://%s:%s@127.0.0.1:1/shop?db=1"},
    {"pg-unique", "postgresql://127.0.0.1:1/d?user=%s&password=%s"},
    {"pg-unique", "postgresql://%s:%s@127.0.0.1:1,127.0.0.1:1/d?sslmode=disable"},
    {"redlock", "redis://127.0.0.1:1,redis://127.0.0.1:1,redis://%s:%s@127.0.0.1:1"},
    {"reentrant", "redis-sentinel://127.0.0.1:1/shop?sentinel-user=%s&sentinel-password=%s"},
    {"reentrant", "redis-sentinel://127.0.0.1:1/shop&sentinel-user=%s&sentinel-password=%s"},
};

static void has_no_piece(const char *said, const char *url)
{
    if (strstr(said, "SEC") != NULL || strstr(said, "RET") != NULL)
        fail_msg("%s: %s", url, said);
}

/* A correct URL is refused too, since no server is there. */
static void open_nothing(const char *variant, const char *url)
{
    dlock_options opts = dlock_options_default();
    dlock_system *sys = NULL;

    opts.variant = variant;
    opts.redis_url = opts.redlock_urls = opts.database_url = url;
    opts.zookeeper_url = opts.etcd_url = url;
    opts.redis_timeout_ms = opts.redlock_node_timeout_ms = opts.zookeeper_timeout_ms = 100;
    assert_int_not_equal(DLOCK_OK, dlock_open(&sys, &opts));
    has_no_piece(dlock_error(), url);
}

TEST(an_error_has_no_piece_of_a_url)
{
    char why[256];

    for (size_t f = 0; f < sizeof(FORMS) / sizeof(FORMS[0]); f++)
        for (size_t p = 0; p < sizeof(PASSWORDS) / sizeof(PASSWORDS[0]); p++) {
            /* What follows an @ may be a real host, if the form has none behind it. */
            char *url = NULL; /* of its own length: a sanitizer sees a read behind its end */
            const char *form = FORMS[f].form, *user = strstr(form, "%s");
            const char *password = strstr(user + 2, "%s");

            assert_true(asprintf(&url, "%.*s%s%.*s%s%s", (int)(user - form), form,
                                 USERS[(f + p) % 5], (int)(password - user - 2), user + 2,
                                 PASSWORDS[p], password + 2) > 0);
            if (password[2] == '\0' && strchr(PASSWORDS[p], '@') != NULL)
                ;
            else if (FORMS[f].variant != NULL)
                open_nothing(FORMS[f].variant, url);
            else if (!db_url_is_valid(url, why, sizeof(why)))
                has_no_piece(why, url);
            free(url);
        }
}

TEST(a_refused_url_names_the_place)
{
    static const char *const BAD[][2] = {
        {"postgresql://u:p%zzw@h", "at character 17: what stands there"},
        {"postgresql://u:p@q@h", "at character 19: there is an @ too many"},
        {"postgresql://u:1/p@h", "at character 19: there is an @ too many"},
        {"postgresql://u:p@h:x/d", "at character 20: a port is"},
        {"postgresql://u:p@h/d?user=a&sslmod=x", "at character 29: what stands there"},
        {"host=h password=x pass", "at character 19: what stands there"},
    };
    char why[256];

    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        assert_false(db_url_is_valid(BAD[i][0], why, sizeof(why)));
        if (strncmp(why, BAD[i][1], strlen(BAD[i][1])) != 0)
            fail_msg("%s: %s", BAD[i][0], why);
    }
    assert_true(db_url_is_valid("postgresql://u:a%2Fb?c#@h/d?user=a@b", why, sizeof(why)));
}

#define SAID "refused: 'u' 'SEC/RET#word' SEC%2fRET%23word"

/* Answer each message of Redis or PostgreSQL with an error that has the password. */
static void *serve(void *listening)
{
    static const char REDIS[] = "-ERR " SAID "\r\n", ASK[] = {'R', 0, 0, 0, 8, 0, 0, 0, 3};
    static const char FIELDS[] = "SFATAL\0C28P01\0M" SAID "\0";
    static const char HEAD[] = {'E', 0, 0, 0, (char)(sizeof(FIELDS) + 4)};
    char heard[2048];

    for (int fd; (fd = accept(*(int *)listening, NULL, NULL)) >= 0; close(fd))
        while (recv(fd, heard, sizeof(heard), 0) > 0)
            if (heard[0] == '*')
                (void)!send(fd, REDIS, sizeof(REDIS) - 1, MSG_NOSIGNAL);
            else if (heard[0] != 'p')
                (void)!send(fd, ASK, sizeof(ASK), MSG_NOSIGNAL);
            else if (send(fd, HEAD, sizeof(HEAD), MSG_NOSIGNAL) > 0)
                (void)!send(fd, FIELDS, sizeof(FIELDS), MSG_NOSIGNAL);
    return NULL;
}

TEST(a_password_that_a_server_repeats_is_not_told)
{
    static const char *const SCHEMES[] = {"redis", "redis-cluster", "postgresql"};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    pthread_t thread;
    char url[100];

    assert_int_equal(0, bind(listening, (struct sockaddr *)&at, sizeof(at)));
    assert_int_equal(0, listen(listening, 8));
    assert_int_equal(0, getsockname(listening, (struct sockaddr *)&at, &len));
    assert_int_equal(0, pthread_create(&thread, NULL, serve, &listening));
    for (size_t i = 0; i < sizeof(SCHEMES) / sizeof(SCHEMES[0]); i++) {
        (void)snprintf(url, sizeof(url), "%s://u:SEC%%2FRET%%23word@127.0.0.1:%d%s", SCHEMES[i],
                       ntohs(at.sin_port), i < 2 ? "" : "/d?sslmode=disable");
        open_nothing(i < 2 ? "reentrant" : "pg-unique", url);
        if (strstr(dlock_error(), "refused: 'u' '***' ***") == NULL)
            fail_msg("%s: %s", url, dlock_error());
    }
    shutdown(listening, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(listening);
}

/* What is short, or the beginning of another word, is no secret. */
TEST(a_hidden_secret_is_shown_nowhere)
{
    static const char *const CASES[][2] = {
        {"q9!", "q9!"}, {"a zq7xs, zq7x.", "a zq7xs, ***."}, {"%7aq7%58 %7Aq7%78", "%7aq7%58 ***"},
        {"str", "str"}, {"the end: stran", "the end: ***"}, {"strang3rs", "***s"}};
    char shown[100];

    assert_true(utf8_hide(NULL) && utf8_hide("") && utf8_hide("q9!") && utf8_hide("zq7x") &&
                utf8_hide("strang3r") && utf8_hide("strang3r"));
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        utf8_show(CASES[i][0], shown, sizeof(shown));
        assert_string_equal(CASES[i][1], shown);
    }
}
