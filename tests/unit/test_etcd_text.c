/* SPDX-License-Identifier: MIT */
/* test_etcd_text.c -- the texts of etcd: its URL, base64, the keys of a lock, numbers. */
#include <stdlib.h>
#include <string.h>

#include "lock/stores/etcd_address.h"
#include "lock/stores/etcd_text.h"
#include "tests/registered.h"

TEST(base64_is_as_its_rfc_shows)
{
    static const char *const PAIRS[][2] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
        {"\xff\xfe\xfd", "//79"},
    };
    char text[16], bytes[16];
    size_t len;

    for (size_t i = 0; i < sizeof(PAIRS) / sizeof(PAIRS[0]); i++) {
        etcd_base64(text, PAIRS[i][0], strlen(PAIRS[i][0]));
        assert_string_equal(PAIRS[i][1], text);
        assert_true(etcd_base64_read(PAIRS[i][1], bytes, sizeof(bytes), &len));
        assert_int_equal(strlen(PAIRS[i][0]), len);
        assert_memory_equal(PAIRS[i][0], bytes, len);
    }
}

TEST(what_is_no_base64_is_refused)
{
    static const char *const TEXTS[] = {"Z",    "Zg=",      "Zg",   "Z===",
                                        "====", "Zg==Zg==", "Z g=", "Zm9v\n"};
    char bytes[16];
    size_t len;

    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++)
        if (etcd_base64_read(TEXTS[i], bytes, sizeof(bytes), &len))
            fail_msg("%s is read", TEXTS[i]);
    assert_false(etcd_base64_read("Zm9vYmFy", bytes, 5, &len));
    assert_true(etcd_base64_read("Zm9vYmFy", bytes, 6, &len));
}

static bool key_of(const char *text, const char *name, uint64_t *lease)
{
    char key[64];

    etcd_base64(key, text, strlen(text));
    return etcd_key_read(key, name, lease);
}

TEST(a_key_has_its_lease_behind_the_name)
{
    char key[ETCD_KEY_SIZE];
    uint64_t lease = 0;

    assert_true(key_of("a/b/2040a213b222fa05", "a/b", &lease));
    assert_true(lease == UINT64_C(0x2040a213b222fa05));
    etcd_key_of(key, "a/b", lease);
    assert_string_equal("YS9iLzIwNDBhMjEzYjIyMmZhMDU=", key);
    assert_true(etcd_key_read(key, "a/b", &lease));
    assert_true(key_of("a/7fffffffffffffff", "a", &lease));
    assert_true(lease == INT64_MAX);
}

TEST(other_keys_are_none_of_the_lock)
{
    static const char *const TEXTS[] = {"a", "a/", "a/0", "a/01", "a/A", "a/g", "a/1 ", "a/1/2",
                                        "b/1", "aa/1", "a1", "a/8000000000000000",
                                        "a/12345678123456781", "a/-1"};
    uint64_t lease;

    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++)
        if (key_of(TEXTS[i], "a", &lease))
            fail_msg("%s is a key of a", TEXTS[i]);
    assert_false(etcd_key_read("YS8x\x01", "a", &lease));
    assert_false(etcd_key_read("YS8AMQ==", "a", &lease)); /* the key contains a NUL */
}

TEST(a_range_has_all_keys_of_a_name)
{
    struct etcd_range range = etcd_range_of("a");

    assert_string_equal("YS8=", range.from);
    assert_string_equal("YTA=", range.to);
}

TEST(a_number_is_a_text_or_left_out)
{
    json_t *json = json_loads("{\"a\":\"-1\",\"b\":\"7\",\"c\":7,\"d\":\"7x\",\"e\":\"\","
                              "\"f\":\"9223372036854775808\"}", 0, NULL);
    int64_t number = 3;

    assert_non_null(json);
    assert_true(etcd_number(json, "none", 1, &number) && number == 0);
    assert_true(etcd_number(json, "b", 1, &number) && number == 7);
    assert_true(etcd_number(json, "a", -1, &number) && number == -1);
    assert_false(etcd_number(json, "a", 0, &number));
    assert_false(etcd_number(json, "c", 0, &number));
    assert_false(etcd_number(json, "d", 0, &number));
    assert_false(etcd_number(json, "e", 0, &number));
    assert_false(etcd_number(json, "f", 0, &number));
    json_decref(json);
}

TEST(an_address_is_taken_apart)
{
    struct etcd_address address;
    char why[ETCD_WHY_SIZE];

    assert_true(etcd_address_read("http://me:p@ss:word@a:1,b,[::1]:3", &address, why));
    assert_int_equal(3, address.member_count);
    assert_string_equal("http://a:1", address.members[0]);
    assert_string_equal("http://b:2379", address.members[1]);
    assert_string_equal("http://[::1]:3", address.members[2]);
    assert_string_equal("me", address.user);
    assert_string_equal("p@ss:word", address.password);
    assert_true(etcd_address_read("http://a%3Ab:50%25%3f@c", &address, why));
    assert_string_equal("a:b", address.user);
    assert_string_equal("50%?", address.password);
    assert_true(etcd_address_read("https://etcd.example", &address, why));
    assert_string_equal("https://etcd.example:2379", address.members[0]);
    assert_string_equal("", address.user);
}

TEST(https_has_options)
{
    struct etcd_address address;
    char why[ETCD_WHY_SIZE];

    assert_true(etcd_address_read("https://me:word@a,b:1?ca=/c%26a.pem&cert=/c@me&key=k&"
                                  "server-name=etcd.example",
                                  &address, why));
    assert_int_equal(2, address.member_count);
    assert_string_equal("https://b:1", address.members[1]);
    assert_string_equal("me", address.user);
    assert_string_equal("/c&a.pem", address.tls.ca_file);
    assert_string_equal("/c@me", address.tls.cert_file);
    assert_string_equal("k", address.tls.key_file);
    assert_string_equal("etcd.example", address.tls.server_name);
    assert_true(etcd_address_read("https://a?server-name=b", &address, why));
    assert_string_equal("", address.tls.ca_file);
}

TEST(a_bad_address_is_refused_with_its_form)
{
    static const char *const URLS[] = {
        "", "a:1", "ftp://a:1", "http://", "http://a:", "http://a:0", "http://a:1,", "http://a:1/x",
        "http://@a:1", "http://x@a:1", "http://a b", "http://1,2,3,4,5,6,7,8,9,10",
        "http://a?ca=b", "https://a?", "https://a?ca=", "https://a?ca", "https://a?ca=b&",
        "https://a?cert=b", "https://a?key=b", "https://a?c=b", "https://a?ca=%", "https://a?ca=%4",
        "https://a?ca=%00", "https://a?ca=%zz", "https://a?server-name=b:1", "https://?ca=b",
        "http://a%:b@c", "http://a:%@c",
    };
    struct etcd_address address;
    char why[ETCD_WHY_SIZE];

    for (size_t i = 0; i < sizeof(URLS) / sizeof(URLS[0]); i++) {
        if (etcd_address_read(URLS[i], &address, why))
            fail_msg("%s is read", URLS[i]);
        assert_non_null(strstr(why, "host[:port]"));
    }
    assert_false(etcd_address_read(NULL, &address, why));
}

/* An answer of `count` copies of `value`. */
static char *make_list(const char *value, size_t count)
{
    size_t len = strlen(value);
    char *text = malloc(count * (len + 1) + 20);
    size_t used = (size_t)sprintf(text, "{\"kvs\":[");

    assert_non_null(text);
    for (size_t i = 0; i < count; i++)
        used += (size_t)sprintf(text + used, "%s%s", i > 0 ? "," : "", value);
    strcpy(text + used, "]}");
    return text;
}

TEST(an_answer_has_few_values_for_its_length)
{
    static const char KEY[] = "{\"key\":\"YS83NTg3OGQ4ZjU0YjQ2OTE5\",\"create_revision\":\"2\","
                              "\"mod_revision\":\"2\",\"version\":\"1\",\"lease\":\"7\"}";
    static const char *const DENSE[] = {"{}", "[]", "1", "\"\"", "{\"a\":[]}", "[{},{}]"};
    char *text = make_list(KEY, 10000);
    json_t *json = etcd_json_read(text, strlen(text), NULL);

    assert_int_equal(10000, json_array_size(json_object_get(json, "kvs")));
    json_decref(json);
    free(text);
    for (size_t i = 0; i < sizeof(DENSE) / sizeof(DENSE[0]); i++) {
        text = make_list(DENSE[i], 200);
        json = etcd_json_read(text, strlen(text), NULL);
        assert_non_null(json); /* a short answer may have any form */
        json_decref(json);
        free(text);
        text = make_list(DENSE[i], 100000);
        if (etcd_json_read(text, strlen(text), NULL) != NULL)
            fail_msg("many of %s are read", DENSE[i]);
        free(text);
    }
    assert_null(etcd_json_read("{\"a\":1,\"a\":1}", 13, NULL));
    assert_null(etcd_json_read("", 0, NULL));
}
