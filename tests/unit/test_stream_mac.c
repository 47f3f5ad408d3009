/* SPDX-License-Identifier: MIT */
/* test_stream_mac.c -- the MAC of an entry of the stream. */
#include <string.h>

#include "app/stream_mac.h"
#include "tests/registered.h"

/* Computed with: openssl dgst -sha256 -mac HMAC -macopt hexkey:0102030400000000...00 of
 * "seckilld stream test", and then of ORDER with that result as the key. */
TEST(a_mac_is_what_others_compute)
{
    static const struct token_key TOKEN = {7, {1, 2, 3, 4}};
    static const char ORDER[] = "7 12 693000000000000001 request-1 1700000000000000 -";
    struct token_key key;
    char mac[STREAM_MAC_LEN + 1];

    assert_true(stream_mac_derive(&TOKEN, "test", &key));
    assert_true(stream_mac_write(&key, ORDER, strlen(ORDER), mac));
    assert_string_equal(mac, "7dd4aaa86d20d7d4688b86b3cf0a8ea75dda3111a88de8379846807f3bbf199e");
}
