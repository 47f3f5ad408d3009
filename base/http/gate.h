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

#include "base/http/gate_request.h"

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

#endif /* BASE_GATE_H */
