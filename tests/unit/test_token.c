/* SPDX-License-Identifier: MIT */
/* test_token.c -- tokens prove who made them, and nothing else passes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/token.h"

static const struct token_key KEY = {{1, 2, 3, 4}};

static void a_token_says_whose_it_is(void **state)
{
    static const int64_t USERS[] = {1, 2, 100000, INT64_MAX};
    char token[TOKEN_LEN + 1];

    (void)state;
    for (size_t i = 0; i < sizeof(USERS) / sizeof(USERS[0]); i++) {
        int64_t user = 0;

        token_make(&KEY, USERS[i], token);
        assert_int_equal(strlen(token), TOKEN_LEN);
        assert_true(token_verify(&KEY, token, &user));
        assert_int_equal(user, USERS[i]);
    }
}

/* Computed with: printf 0000000000000001 | openssl dgst -sha256 -mac HMAC \
 *   -macopt hexkey:0102030400000000...00 */
static void a_token_is_what_others_compute(void **state)
{
    char token[TOKEN_LEN + 1];

    (void)state;
    token_make(&KEY, 1, token);
    assert_string_equal(token, "0000000000000001a993bf9a15a13ab84e73894058918a6a");
}

static void any_changed_digit_is_refused(void **state)
{
    char token[TOKEN_LEN + 1];
    int64_t user = -7;

    (void)state;
    token_make(&KEY, 42, token);
    for (size_t i = 0; i < TOKEN_LEN; i++) {
        char kept = token[i];

        token[i] = kept == '0' ? '1' : '0';
        assert_false(token_verify(&KEY, token, &user));
        token[i] = kept;
    }
    assert_int_equal(user, -7);
}

static void what_is_no_token_is_refused(void **state)
{
    static const struct token_key OTHER = {{1, 2, 3, 5}};
    char token[TOKEN_LEN + 2];
    int64_t user = 0;

    (void)state;
    token_make(&KEY, 42, token);
    assert_false(token_verify(&OTHER, token, &user));
    assert_false(token_verify(&KEY, "", &user));
    token[TOKEN_LEN] = '0';
    token[TOKEN_LEN + 1] = '\0';
    assert_false(token_verify(&KEY, token, &user));
    token[TOKEN_LEN - 1] = '\0';
    assert_false(token_verify(&KEY, token, &user));
    /* The right code of a number that is nobody's. */
    token_make(&KEY, 0, token);
    assert_false(token_verify(&KEY, token, &user));
    token_make(&KEY, INT64_MIN, token);
    assert_false(token_verify(&KEY, token, &user));
}

static bool loads(const char *contents, mode_t mode)
{
    char path[] = "/tmp/seckill-unit-XXXXXX";
    struct token_key key;
    int fd = mkstemp(path);
    bool loaded;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, contents, strlen(contents)), strlen(contents));
    assert_int_equal(fchmod(fd, mode), 0);
    (void)close(fd);
    loaded = token_key_load(path, &key);
    (void)unlink(path);
    if (loaded)
        assert_int_equal(key.bytes[31], 0xef);
    return loaded;
}

#define HEX60 "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d"

static void a_key_is_64_digits_in_a_private_file(void **state)
{
    (void)state;
    assert_true(loads(HEX60 "cdef", 0600));
    assert_true(loads(HEX60 "cdef\n", 0400));
    assert_false(loads(HEX60 "cdef", 0640));
    assert_false(loads(HEX60 "cdef", 0604));
    assert_false(loads(HEX60 "cde", 0600));
    assert_false(loads(HEX60 "cdef0", 0600));
    assert_false(loads(HEX60 "cdeg", 0600));
    assert_false(loads("", 0600));
}

static void a_new_key_is_the_owners_alone_and_made_once(void **state)
{
    char dir[] = "/tmp/seckill-token-XXXXXX", path[64];
    struct token_key first, again;
    struct stat st;

    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof(path), "%s/key", dir);
    assert_true(token_key_make(path));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_true(token_key_load(path, &first));
    assert_true(token_key_make(path));
    assert_true(token_key_load(path, &again));
    assert_memory_equal(&first, &again, sizeof(first));
    unlink(path);
    rmdir(dir);
    assert_false(token_key_make(path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_says_whose_it_is),
        cmocka_unit_test(a_token_is_what_others_compute),
        cmocka_unit_test(any_changed_digit_is_refused),
        cmocka_unit_test(a_new_key_is_the_owners_alone_and_made_once),
        cmocka_unit_test(what_is_no_token_is_refused),
        cmocka_unit_test(a_key_is_64_digits_in_a_private_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
