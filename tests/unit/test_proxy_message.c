/* SPDX-License-Identifier: MIT */
/* test_proxy_message.c -- the ends of messages are found, in whatever pieces the messages
 * arrive. */
#include <stdlib.h>
#include <string.h>

#include "loadtest/proxy/message.h"
#include "tests/registered.h"

enum { ENDS_MAX = 16, LOST = -1 };

struct sample {
    const char *name;
    enum proxy_protocol protocol;
    enum proxy_direction direction;
    const char *bytes;
    size_t size;
    int ends[ENDS_MAX]; /* the ends of messages; 0: no more; LOST: no end can be found any more */
};

#define S(text) text, sizeof(text) - 1

static const struct sample samples[] = {
    {"requests", PROXY_REDIS, PROXY_TO_SERVER,
     S("*2\r\n$3\r\nGET\r\n$1\r\na\r\n*1\r\n$4\r\nPING\r\n"), {20, 34}},
    {"inline, and an empty line", PROXY_REDIS, PROXY_TO_SERVER,
     S("PING\r\n\r\nSET a 1\n"), {6, 16}},
    {"simple replies", PROXY_REDIS, PROXY_TO_CLIENT, S("+OK\r\n:1\r\n-ERR\r\n_\r\n"),
     {5, 9, 15, 18}},
    {"a bulk with CRLF in it, and none", PROXY_REDIS, PROXY_TO_CLIENT,
     S("$4\r\n\r\n+O\r\n$-1\r\n$0\r\n\r\n"), {10, 15, 21}},
    {"nested and empty arrays", PROXY_REDIS, PROXY_TO_CLIENT,
     S("*2\r\n*1\r\n:1\r\n*0\r\n*-1\r\n%1\r\n+a\r\n>1\r\n:2\r\n"), {16, 21, 37}},
    {"an attribute stands before", PROXY_REDIS, PROXY_TO_CLIENT,
     S("|1\r\n+a\r\n:1\r\n+OK\r\n"), {17}},
    {"no RESP", PROXY_REDIS, PROXY_TO_CLIENT, S("+OK\r\nHTTP/1.1\r\n"), {5, LOST}},
    {"a length that is too long", PROXY_REDIS, PROXY_TO_CLIENT,
     S("$99999999999999999999\r\nx"), {LOST}},
    {"startup after a refused TLS", PROXY_POSTGRES, PROXY_TO_SERVER,
     S("\0\0\0\x08\x04\xd2\x16\x2f\0\0\0\x0c\0\x03\0\0a\0b\0Q\0\0\0\x06x\0X\0\0\0\x04"),
     {8, 20, 27, 32}},
    {"its answers", PROXY_POSTGRES, PROXY_TO_CLIENT,
     S("NR\0\0\0\x08\0\0\0\0S\0\0\0\x06" "ab"), {1, 10, 17}},
    {"TLS", PROXY_POSTGRES, PROXY_TO_CLIENT, S("S\x16\x03\x01zzzz"), {1, LOST}},
    {"a length below its own", PROXY_POSTGRES, PROXY_TO_CLIENT, S("R\0\0\0\x03zzz"), {LOST}},
    {"frames", PROXY_ZOOKEEPER, PROXY_TO_SERVER, S("\0\0\0\x02" "ab\0\0\0\0\0\0\0\x01z"),
     {6, 10, 15}},
    {"a four-letter word", PROXY_ZOOKEEPER, PROXY_TO_SERVER, S("ruokruok"), {LOST}},
    {"a request, and its answer's kind", PROXY_HTTP, PROXY_TO_SERVER,
     S("POST /v3 HTTP/1.1\r\ncontent-length:  2\r\n\r\n{}GET / HTTP/1.1\r\n\r\n"), {43, 61}},
    {"chunks, with a trailer", PROXY_HTTP, PROXY_TO_CLIENT,
     S("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\na;x=y\r\n0123456789\r\n"
       "0\r\nx: y\r\n\r\nHTTP/1.1 404 No\r\n\r\n"),
     {84, 103}},
    {"a chunk without a size", PROXY_HTTP, PROXY_TO_CLIENT,
     S("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n"), {LOST}},
    {"a length that is none", PROXY_HTTP, PROXY_TO_CLIENT,
     S("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"), {LOST}},
    {"raw bytes", PROXY_RAW, PROXY_TO_SERVER, S("+OK\r\n+OK\r\n"), {0}},
};

static void look_at(const struct sample *t, size_t piece)
{
    struct proxy_scanner s = {.protocol = t->protocol, .direction = t->direction};
    int end = 0;

    for (size_t at = 0; at < t->size;) {
        size_t size = t->size - at < piece ? t->size - at : piece;
        bool ended;
        size_t taken = proxy_scan(&s, (const unsigned char *)t->bytes + at, size, &ended);

        assert_true(taken > 0 && taken <= size && (ended || taken == size));
        at += taken;
        if (ended && t->ends[end++] != (int)at)
            fail_msg("%s, in pieces of %zu: an end at %zu", t->name, piece, at);
    }
    if (t->ends[end] != (s.is_lost ? LOST : 0))
        fail_msg("%s, in pieces of %zu: %d ends", t->name, piece, end);
}

TEST(messages_end_where_they_end_in_pieces_of_any_size)
{
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
        for (size_t piece = 1; piece <= samples[i].size; piece++)
            look_at(&samples[i], piece);
}

TEST(any_bytes_are_taken_in_full)
{
    static const char likely[] = "*$:+-%|>_0129\r\n\0\0\0\x04Qab\n\n";
    unsigned char bytes[64];
    unsigned seed = 7;

    for (int round = 0; round < 20000; round++) {
        struct proxy_scanner s = {.protocol = (enum proxy_protocol)(round % 5),
                                  .direction = (enum proxy_direction)(round / 5 % 2)};
        size_t at = 0;
        bool ended;

        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (unsigned char)likely[(unsigned)rand_r(&seed) % sizeof likely];
        while (at < sizeof bytes) {
            size_t taken = proxy_scan(&s, bytes + at, sizeof bytes - at, &ended);

            assert_true(taken > 0);
            at += taken;
        }
        assert_int_equal(sizeof bytes, at);
    }
}
