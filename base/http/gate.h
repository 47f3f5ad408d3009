/* SPDX-License-Identifier: MIT */
/* gate.h -- decides which requests are let in.  A request that can be read in two ways
 * is refused.
 *
 * The gate's verdict depends only on the bytes that the client sent.  The gate knows no
 * socket, no route and no setting, so that a test or a fuzzer can call it.
 *
 * Threads     Any; two calls share nothing.
 */
#ifndef BASE_GATE_H
#define BASE_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GATE_URI_MAX = 512,       /* bytes of the target, with its query */
    GATE_HEADERS_MAX = 59,    /* header lines */
    GATE_HEAD_MAX = 8192,     /* bytes of the whole head, with its empty line */
    GATE_LENGTH_DIGITS = 10,  /* of a Content-Length */
    GATE_HOST_MAX = 253       /* bytes of the name in a Host */
};

struct gate_header {
    const char *name;
    const char *value; /* without the blanks around it */
};

/* A head that was split; the texts lie in the bytes that were given to gate_check(). */
struct gate_request {
    const char *method;  /* "": none was found */
    const char *uri;     /* the path, without the query; "": none was found */
    const char *query;   /* what follows the '?'; NULL: no '?' */
    const char *version; /* "1.0" or "1.1" */
    struct gate_header headers[GATE_HEADERS_MAX];
    size_t header_count;
};

/* The verdict of the gate on one request. */
struct gate_verdict {
    int status;          /* 0: let in; otherwise the HTTP status of the answer */
    const char *why;     /* if refused: a sentence that says what is accepted */
    size_t line;         /* if refused: the line of the head, from 1; 0: the whole
                          * head */
    size_t head_bytes;   /* if let in: of the head, with its empty line */
    int64_t body_bytes;  /* Content-Length; 0 if there is none */
    bool has_length;     /* there is a Content-Length */
    bool expects_continue;
};

/* Judge the request that begins at bytes[0]; the bytes after its head (a body, further
 * requests) do not matter.  Splits the head in place, so `bytes` are changed.
 *   status 0    let in; `out` has the whole head
 *   408         the bytes end before the head does
 *   4xx, 5xx    refused; `out` has the method and the path, if they were found
 * The gate does not check the route. */
struct gate_verdict gate_check(char *bytes, size_t length, struct gate_request *out);

/* Is `method` a method of HTTP other than TRACE, which civetweb does not know?  (A caller
 * answers 405 to those, 501 to others.) */
bool gate_knows_method(const char *method);

/* Is `text` valid in a Host header: a name, an IPv4 address or an IPv6 address in
 * brackets, and perhaps a colon and a port from 1 to 65535? */
bool gate_is_host(const char *text);

/* Decode the value of a part of a query: escapes, and '+' as a space.  False: an escape
 * is malformed, the value has a control character, or the value does not fit into
 * `size` bytes; `out` is then undefined. */
bool gate_unescape(const char *value, size_t len, char *out, size_t size);

/* Split a target, which must be a path with or without a query, perhaps behind http:// and
 * a host.  Changes `target` in place, and the texts of `out` lie in it.
 *   NULL     done: out->uri and out->query are set; *authority is the host with its port
 *            if there was one, else NULL
 *   else     refused: *status is the HTTP status of the answer, and the text says what
 *            is accepted; out->uri is set if a path was found */
const char *gate_split_target(char *target, const char **authority,
                              struct gate_request *out, int *status);

#endif /* BASE_GATE_H */
