/* SPDX-License-Identifier: MIT */
/* test_wire_text.c -- the readable text of messages, in whatever pieces they arrive, and without
 * passwords. */
#include <stdlib.h>
#include <string.h>

#include "loadtest/proxy/wire_text.h"
#include "tests/registered.h"

struct sample {
    enum proxy_protocol protocol;
    enum proxy_direction direction;
    uint64_t number;
    const char *bytes;
    size_t size;
    const char *text; /* NULL: the message has nothing for a reader */
};

#define S(text) text, sizeof(text) - 1
#define HIDDEN "s3cret-word"

static const struct sample samples[] = {
    {PROXY_REDIS, PROXY_TO_SERVER, 2,
     S("*6\r\n$3\r\nSET\r\n$1\r\na\r\n$2\r\nt1\r\n$2\r\nNX\r\n$2\r\nPX\r\n$3\r\n400\r\n"),
     "SET a t1 NX PX 400"},
    {PROXY_REDIS, PROXY_TO_CLIENT, 2, S("$-1\r\n"), "(nil)"},
    {PROXY_REDIS, PROXY_TO_CLIENT, 2, S("*2\r\n:1\r\n$2\r\nok\r\n"), "[(integer) 1, \"ok\"]"},
    {PROXY_REDIS, PROXY_TO_CLIENT, 2, S("-NOSCRIPT No matching script\r\n"),
     "NOSCRIPT No matching script"},
    {PROXY_REDIS, PROXY_TO_SERVER, 1, S("*2\r\n$4\r\nAUTH\r\n$11\r\n" HIDDEN "\r\n"), NULL},
    {PROXY_REDIS, PROXY_TO_SERVER, 1,
     S("*4\r\n$5\r\nhello\r\n$1\r\n3\r\n$4\r\nAUTH\r\n$11\r\n" HIDDEN "\r\n"), NULL},
    {PROXY_REDIS, PROXY_TO_SERVER, 1, S("*1\r\n$4\r\nPING\r\n"), NULL},
    {PROXY_REDIS, PROXY_TO_SERVER, 1, S("*2\r\n$3\r\nGET\r\n$3\r\na\x1b\n\r\n"), "GET a.."},
    {PROXY_HTTP, PROXY_TO_SERVER, 1,
     S("POST /v3/kv/txn HTTP/1.1\r\n\r\n"
       "{\"success\":[{\"request_put\":{}},{\"request_range\":{}}]}"),
     "kv/txn put look"},
    {PROXY_HTTP, PROXY_TO_SERVER, 1,
     S("POST /v3/auth/authenticate HTTP/1.1\r\n\r\n{\"password\":\"" HIDDEN "\"}"), NULL},
    {PROXY_HTTP, PROXY_TO_CLIENT, 1, S("HTTP/1.1 200 OK\r\n\r\n{\"succeeded\":true}"), "done"},
    {PROXY_HTTP, PROXY_TO_CLIENT, 1, S("HTTP/1.1 200 OK\r\n\r\n{\"token\":\"" HIDDEN "\"}"), NULL},
    {PROXY_HTTP, PROXY_TO_CLIENT, 1,
     S("HTTP/1.1 404 Not Found\r\n\r\n{\"message\":\"etcdserver: lease not found\",\"code\":5}"),
     "etcdserver: lease not found"},
    {PROXY_POSTGRES, PROXY_TO_SERVER, 5, S("Q\0\0\0\r" "SELECT 1\0"), "SELECT 1"},
    {PROXY_POSTGRES, PROXY_TO_SERVER, 5,
     S("B\0\0\0\x30\0find\0\0\1\0\1\0\2\0\0\0\x08\0\0\0\0\0\0\0\x2a\0\0\0\1x\0\0"),
     "bind find (42, x)"},
    {PROXY_POSTGRES, PROXY_TO_CLIENT, 5, S("C\0\0\0\x0bUPDATE 1\0"), "UPDATE 1"},
    {PROXY_POSTGRES, PROXY_TO_SERVER, 2, S("p\0\0\0\x10" HIDDEN "\0"), NULL},
    {PROXY_POSTGRES, PROXY_TO_SERVER, 1, S("\0\0\0\x20\0\3\0\0user\0lab\0"), NULL},
    {PROXY_ZOOKEEPER, PROXY_TO_SERVER, 1, S("\0\0\0\x04" HIDDEN), "connect"},
    {PROXY_ZOOKEEPER, PROXY_TO_SERVER, 2, S("\0\0\0\x0e\0\0\0\1\0\0\0\2\0\0\0\2/a"),
     "delete /a"},
    {PROXY_ZOOKEEPER, PROXY_TO_CLIENT, 2,
     S("\0\0\0\x10\0\0\0\1\0\0\0\0\0\0\0\5\xff\xff\xff\x92"), "the node exists"},
    {PROXY_ZOOKEEPER, PROXY_TO_SERVER, 3, S("\0\0\0\x08\xff\xff\xff\xfe\0\0\0\x0b"), NULL},
    {PROXY_RAW, PROXY_TO_SERVER, 1, S("anything"), NULL},
};

enum { SAMPLE_COUNT = sizeof samples / sizeof samples[0] };

/* The bytes are in heap memory of exactly that size, so that a sanitizer notices a read behind
 * them. */
static bool show(const struct sample *sample, size_t size, char *out, size_t room)
{
    unsigned char *bytes = malloc(size > 0 ? size : 1);
    struct proxy_glimpse glimpse = {.direction = sample->direction,
                                    .connection = 1,
                                    .number = sample->number,
                                    .head = bytes,
                                    .size = size};
    bool is_shown;

    assert_non_null(bytes);
    memcpy(bytes, sample->bytes, size);
    is_shown = wire_text(&glimpse, sample->protocol, out, room);
    free(bytes);
    return is_shown;
}

TEST(test_what_people_read)
{
    char text[200];

    for (int i = 0; i < SAMPLE_COUNT; i++) {
        bool is_shown = show(&samples[i], samples[i].size, text, sizeof text);

        assert_int_equal(is_shown, samples[i].text != NULL);
        if (is_shown)
            assert_string_equal(text, samples[i].text);
    }
}

TEST(test_cut_anywhere_and_no_room)
{
    char text[200];

    for (int i = 0; i < SAMPLE_COUNT; i++)
        for (size_t size = 0; size <= samples[i].size; size++) {
            memset(text, 'x', sizeof text);
            if (show(&samples[i], size, text, 8))
                assert_in_range(strnlen(text, 8), 0, 7);
            assert_int_equal(text[8], 'x');
        }
}

TEST(test_no_password_however_it_is_cut)
{
    char text[200];

    for (int i = 0; i < SAMPLE_COUNT; i++)
        for (size_t size = 0; size <= samples[i].size; size++)
            if (show(&samples[i], size, text, sizeof text))
                assert_null(strstr(text, "s3"));
}
