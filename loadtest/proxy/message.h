/* SPDX-License-Identifier: MIT */
/* message.h -- finds the ends of messages in a stream of any bytes. */
#ifndef LOADTEST_PROXY_MESSAGE_H
#define LOADTEST_PROXY_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The protocols that a proxy can read, and their messages.
 *   redis      a request or a reply (RESP2 and RESP3, inline commands)
 *   postgres   a type and a length; the startup packet; the one byte that answers an
 *              SSLRequest.  Once TLS has begun there are no messages to be seen
 *   zookeeper  a length and a frame
 *   http       a request or an answer of HTTP/1.1, with a Content-Length or in chunks.  An
 *              answer without either, and the news of a stream, have no end
 *   raw        bytes only */
#define PROXY_PROTOCOLS(X)                                                             \
    X(RAW, "raw")                                                                      \
    X(REDIS, "redis")                                                                  \
    X(POSTGRES, "postgres")                                                            \
    X(ZOOKEEPER, "zookeeper")                                                          \
    X(HTTP, "http")

enum proxy_protocol {
#define X(id, name) PROXY_##id,
    PROXY_PROTOCOLS(X)
#undef X
};

enum proxy_direction { PROXY_TO_SERVER, PROXY_TO_CLIENT };

/* The `i`th name, NULL past the last. */
const char *proxy_protocol_name(size_t i);

/* The scanner of a direction of a connection.  Zero it, then set the first two. */
struct proxy_scanner {
    enum proxy_protocol protocol;
    enum proxy_direction direction;
    bool is_lost;     /* the bytes are no message, so no further end is found         */
    int state;        /* of redis: what is being read                                 */
    char type;        /* of redis: of the line that is being read                     */
    bool is_negative; /* of redis: the line's number                                  */
    bool has_digits;  /* of redis: there was one                                      */
    bool is_started;  /* of postgres: past the startup packets                        */
    unsigned char head[8];
    size_t head_len;
    uint64_t number;  /* of redis: of the line                                        */
    uint64_t pending; /* of redis: elements that the message still has                */
    uint64_t skip;    /* bytes of a body still to come                                */
    char line[64];    /* of http: the beginning of the line that is being read         */
    size_t line_len;
    bool is_chunked;  /* of http: the body comes in chunks                            */
};

/* Take bytes up to the end of the message, and no further.  Returns how many were
 * taken: all of them, or fewer when *ended became true. */
size_t proxy_scan(struct proxy_scanner *s, const unsigned char *bytes, size_t size,
                  bool *ended);

#endif /* LOADTEST_PROXY_MESSAGE_H */
