/* SPDX-License-Identifier: MIT */
/* test_token.c -- tokens prove their key, user, role and expiry. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/http/token.h"
#include "tests/registered.h"

enum { NOW = 1700000000, LATER = NOW + 60 };

static const struct token_keys KEYS = {.at = {{7, {1, 2, 3, 4}}}, .count = 1};

static void make(int64_t user, int64_t expires_s, int role, char token[TOKEN_LEN + 1])
{
    token_make(&KEYS,
               &(struct token_claim){user, expires_s, (enum token_role)role}, token);
}

static enum token_verdict judge(const char *token)
{
    struct token_claim claim;

    return token_verify(&KEYS, token, NOW, &claim);
}

TEST(a_token_says_whose_it_is_and_as_what)
{
    static const int64_t USERS[] = {1, 2, 100000, INT64_MAX};
    static const enum token_role ROLES[] = {TOKEN_BUYER, TOKEN_OPERATOR};
    char token[TOKEN_LEN + 1];
    struct token_claim claim;

    for (size_t i = 0; i < 4; i++)
        for (size_t r = 0; r < 2; r++) {
            make(USERS[i], LATER, (int)ROLES[r], token);
            assert_int_equal(strlen(token), TOKEN_LEN);
            assert_int_equal(token_verify(&KEYS, token, NOW, &claim), TOKEN_GOOD);
            assert_int_equal(claim.user_id, USERS[i]);
            assert_int_equal(claim.role, ROLES[r]);
            assert_int_equal(claim.expires_s, LATER);
        }
}

/* Computed with: printf 020100070000000000000001000000006553f13c | openssl dgst -sha256 \
 *   -mac HMAC -macopt hexkey:0102030400000000...00 */
TEST(a_token_is_what_others_compute)
{
    char token[TOKEN_LEN + 1];

    make(1, LATER, TOKEN_BUYER, token);
    assert_string_equal(token, "020100070000000000000001000000006553f13c"
                               "a7e2a76e4a2220ba45caae82da9d9b02");
}

/* A token is refused from the second of its expiry on. If the clock is set back, it is accepted
 * again, as base/http/token.h says. */
TEST(a_token_is_good_before_its_expiry)
{
    char token[TOKEN_LEN + 1];
    struct token_claim claim;

    make(1, LATER, TOKEN_BUYER, token);
    assert_int_equal(token_verify(&KEYS, token, LATER - 1, &claim), TOKEN_GOOD);
    assert_int_equal(token_verify(&KEYS, token, LATER, &claim), TOKEN_EXPIRED);
    assert_int_equal(token_verify(&KEYS, token, INT64_MAX, &claim), TOKEN_EXPIRED);
    assert_int_equal(token_verify(&KEYS, token, LATER - 1, &claim), TOKEN_GOOD);
    assert_int_equal(token_verify(&KEYS, token, 0, &claim), TOKEN_GOOD);
    assert_int_equal(token_verify(&KEYS, token, -1, &claim), TOKEN_GOOD);
    make(1, 0, TOKEN_BUYER, token);
    assert_int_equal(judge(token), TOKEN_EXPIRED);
    make(1, INT64_MAX, TOKEN_BUYER, token);
    assert_int_equal(judge(token), TOKEN_GOOD);
    assert_non_null(strstr(token_verdict_text(TOKEN_EXPIRED), "expired"));
}

TEST(any_changed_digit_is_refused)
{
    char token[TOKEN_LEN + 1];
    struct token_claim claim = {-7, -7, TOKEN_BUYER};

    make(42, LATER, TOKEN_BUYER, token);
    for (size_t i = 0; i < TOKEN_LEN; i++) {
        char kept = token[i];

        for (const char *digit = "0123456789abcdefABCDEF g\n"; *digit != '\0'; digit++) {
            enum token_verdict verdict;

            token[i] = *digit;
            verdict = token_verify(&KEYS, token, NOW, &claim);
            assert_true(verdict == TOKEN_FORGED || verdict == TOKEN_MALFORMED ||
                        verdict == TOKEN_UNKNOWN_KEY || *digit == kept);
        }
        token[i] = kept;
    }
    assert_int_equal(judge(token), TOKEN_GOOD);
}

/* A forger can change the readable digits of a token. */
TEST(a_role_or_an_expiry_cannot_be_written_in)
{
    char buyer[TOKEN_LEN + 1], operator[TOKEN_LEN + 1], forged[TOKEN_LEN + 1];

    make(42, LATER, TOKEN_BUYER, buyer);
    make(42, LATER, TOKEN_OPERATOR, operator);
    (void)snprintf(forged, sizeof(forged), "%.40s%s", operator, buyer + 40);
    assert_int_equal(judge(forged), TOKEN_FORGED);
    make(42, LATER + 1, TOKEN_BUYER, operator);
    (void)snprintf(forged, sizeof(forged), "%.40s%s", operator, buyer + 40);
    assert_int_equal(judge(forged), TOKEN_FORGED);
    make(42, NOW - 1, TOKEN_BUYER, buyer);
    buyer[TOKEN_LEN - 1] = buyer[TOKEN_LEN - 1] == '0' ? '1' : '0';
    assert_int_equal(judge(buyer), TOKEN_FORGED); /* not TOKEN_EXPIRED */
}

TEST(a_text_that_is_no_token_is_refused)
{
    static const int ROLES[] = {0, 3, 255};
    char token[TOKEN_LEN + 2];
    char *all = NULL;

    assert_int_equal(judge(""), TOKEN_MALFORMED);
    make(42, LATER, TOKEN_BUYER, token);
    for (size_t len = 1; len < TOKEN_LEN; len++) {
        char cut[TOKEN_LEN + 1];

        (void)snprintf(cut, sizeof(cut), "%.*s", (int)len, token);
        assert_int_equal(judge(cut), len == 48 ? TOKEN_OLD_FORM : TOKEN_MALFORMED);
    }
    token[TOKEN_LEN] = '0';
    token[TOKEN_LEN + 1] = '\0';
    assert_int_equal(judge(token), TOKEN_MALFORMED);
    all = malloc(100001);
    assert_non_null(all);
    memset(all, '0', 100000);
    all[100000] = '\0';
    assert_int_equal(judge(all), TOKEN_MALFORMED);
    free(all);
    assert_int_equal(judge("0000000000000001a993bf9a15a13ab84e73894058918a6a"),
                     TOKEN_OLD_FORM);
    /* The MAC is right, and the claim is impossible. */
    make(0, LATER, TOKEN_BUYER, token);
    assert_int_equal(judge(token), TOKEN_MALFORMED);
    make(INT64_MIN, LATER, TOKEN_BUYER, token);
    assert_int_equal(judge(token), TOKEN_MALFORMED);
    make(42, -1, TOKEN_BUYER, token);
    assert_int_equal(judge(token), TOKEN_MALFORMED);
    for (size_t i = 0; i < 3; i++) {
        make(42, LATER, ROLES[i], token);
        assert_int_equal(judge(token), TOKEN_MALFORMED);
    }
}

/* The first key makes tokens, and all keys verify them, so that keys can be exchanged. */
TEST(every_key_of_the_file_verifies)
{
    static const struct token_keys BOTH = {.at = {{8, {9}}, {7, {1, 2, 3, 4}}},
                                           .count = 2};
    static const struct token_keys OTHER = {.at = {{7, {1, 2, 3, 5}}}, .count = 1};
    static const struct token_keys NEW = {.at = {{8, {9}}}, .count = 1};
    const struct token_claim claim = {42, LATER, TOKEN_BUYER};
    struct token_claim got;
    char old[TOKEN_LEN + 1], fresh[TOKEN_LEN + 1];

    token_make(&KEYS, &claim, old);
    token_make(&BOTH, &claim, fresh);
    assert_int_equal(token_verify(&BOTH, old, NOW, &got), TOKEN_GOOD);
    assert_int_equal(token_verify(&BOTH, fresh, NOW, &got), TOKEN_GOOD);
    assert_int_equal(token_verify(&NEW, fresh, NOW, &got), TOKEN_GOOD);
    assert_int_equal(token_verify(&NEW, old, NOW, &got), TOKEN_UNKNOWN_KEY);
    assert_int_equal(token_verify(&KEYS, fresh, NOW, &got), TOKEN_UNKNOWN_KEY);
    assert_int_equal(token_verify(&OTHER, old, NOW, &got), TOKEN_FORGED);
}

/* The reason for which a file with these contents is refused; NULL: it is loaded into *keys. */
static const char *refusal(const char *contents, mode_t mode, uid_t owner,
                           struct token_keys *keys)
{
    static char why[TOKEN_WHY_MAX];
    char path[] = "/tmp/seckill-unit-XXXXXX";
    int fd = mkstemp(path);
    bool is_loaded;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, contents, strlen(contents)), strlen(contents));
    assert_int_equal(fchmod(fd, mode), 0);
    (void)close(fd);
    is_loaded = token_keys_load(path, owner, keys, why);
    (void)unlink(path);
    return is_loaded ? NULL : why;
}

static void expect_refusal(const char *contents, mode_t mode, const char *words)
{
    struct token_keys keys;
    const char *why = refusal(contents, mode, geteuid(), &keys);

    if (why == NULL || strstr(why, words) == NULL)
        fail_msg("\"%s\" was %s instead of: %s", contents, why ? why : "loaded", words);
}

#define HEX60 "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d"
#define ZERO64 "0000000000000000000000000000000000000000000000000000000000000000"

TEST(a_key_file_has_a_key_per_line)
{
    struct token_keys keys;

    assert_null(refusal(HEX60 "cdef", 0600, geteuid(), &keys));
    assert_int_equal(keys.count, 1);
    assert_int_equal(keys.at[0].id, 0);
    assert_int_equal(keys.at[0].bytes[31], 0xef);
    assert_null(refusal(HEX60 "cdef\n", 0400, geteuid(), &keys));
    assert_null(refusal("65535:" HEX60 "cdee\n0:" HEX60 "cdef", 0600, geteuid(), &keys));
    assert_int_equal(keys.count, 2);
    assert_int_equal(keys.at[0].id, 65535);
    assert_int_equal(keys.at[0].bytes[31], 0xee);
    assert_int_equal(keys.at[1].id, 0);
    assert_null(refusal("3:" HEX60 "cdee\n" HEX60 "cdef\n", 0600, geteuid(), &keys));
    assert_int_equal(keys.at[1].id, 0);
}

TEST(a_bad_key_file_is_refused_with_its_line)
{
    char many[17 * 72] = "";
    size_t n = 0;

    expect_refusal("", 0600, "it is empty");
    expect_refusal(HEX60 "cde", 0600, "line 1: a key is 64 hex digits");
    expect_refusal(HEX60 "cdef0", 0600, "line 1: a key is 64 hex digits");
    expect_refusal(HEX60 "cdeg", 0600, "line 1: a key is 64 hex digits");
    expect_refusal(HEX60 "CDEF", 0600, "line 1: a key is 64 hex digits");
    expect_refusal("\n" HEX60 "cdef", 0600, "line 1: a key is 64 hex digits");
    expect_refusal("1:" HEX60 "cdef\r\n", 0600, "line 1: a key is 64 hex digits");
    expect_refusal("1:" HEX60 "cdef\n2:" HEX60, 0600, "line 2: a key is 64 hex digits");
    expect_refusal("65536:" HEX60 "cdef", 0600, "line 1: the key's id must be a number");
    expect_refusal("-1:" HEX60 "cdef", 0600, "line 1: the key's id must be a number");
    expect_refusal(":" HEX60 "cdef", 0600, "line 1: the key's id must be a number");
    expect_refusal("01:" HEX60 "cdef", 0600, "line 1: the key's id must be a number");
    expect_refusal("1:" HEX60 "cdef\n1:" HEX60 "cdee", 0600, "line 2: key 1 is there twice");
    expect_refusal(ZERO64, 0600, "line 1: a key of zeros can be guessed");
    expect_refusal("1:" HEX60 "cdef\n2:" ZERO64, 0600, "line 2: a key of zeros");
    for (int i = 0; i < 17; i++)
        n += (size_t)snprintf(many + n, sizeof(many) - n, "%d:" HEX60 "cdef\n", i);
    expect_refusal(many, 0600, "line 17: there are more than 16 keys");
}

TEST(a_key_file_is_its_users_alone)
{
    struct token_keys keys;
    char why[TOKEN_WHY_MAX];

    expect_refusal(HEX60 "cdef", 0640, "its mode is 0640");
    expect_refusal(HEX60 "cdef", 0604, "its mode is 0604");
    if (geteuid() == 0) {
        char path[] = "/tmp/seckill-unit-XXXXXX";
        int fd = mkstemp(path);

        assert_int_equal(write(fd, HEX60 "cdef", 64), 64);
        assert_int_equal(fchown(fd, 12345, 12345), 0);
        assert_false(token_keys_load(path, 0, &keys, why));
        assert_non_null(strstr(why, "belongs to user 12345"));
        assert_true(token_keys_load(path, 12345, &keys, why));
        (void)close(fd);
        (void)unlink(path);
        /* A file of root is accepted like a file of the user. */
        assert_null(refusal(HEX60 "cdef", 0600, 12345, &keys));
    } else {
        assert_non_null(strstr(refusal(HEX60 "cdef", 0600, geteuid() + 1, &keys),
                               "belongs to user"));
    }
    assert_false(token_keys_load("/tmp", geteuid(), &keys, why));
    assert_non_null(strstr(why, "is a directory"));
    assert_false(token_keys_load("/dev/null", geteuid(), &keys, why));
    assert_non_null(strstr(why, "no regular file"));
    assert_false(token_keys_load("/nowhere/key", geteuid(), &keys, why));
    assert_non_null(strstr(why, "No such file"));
}

TEST(a_new_key_is_the_owners_alone_and_made_once)
{
    char dir[] = "/tmp/seckill-token-XXXXXX", path[64], why[TOKEN_WHY_MAX];
    struct token_keys first, again;
    struct stat st;

    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof(path), "%s/key", dir);
    assert_true(token_keys_make(path));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_true(token_keys_load(path, geteuid(), &first, why));
    assert_true(token_keys_make(path));
    assert_true(token_keys_load(path, geteuid(), &again, why));
    assert_memory_equal(&first, &again, sizeof(first));
    unlink(path);
    assert_int_equal(rmdir(dir), 0); /* fails if a file is left */
    assert_false(token_keys_make(path));
}
