/* SPDX-License-Identifier: MIT */
/* gate.h -- which requests are let in: what can be read in two ways is refused.
 *
 * The gate is a function of the bytes that the client sent, and of nothing else.  The gate
 * knows no socket, no route and no setting, so that a test or a fuzzer can call it.
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
    int status;          /* 0: let in; otherwise what to answer */
    const char *why;     /* a sentence that says what is accepted, if it is not let in */
    size_t line;         /* the line of the head that is refused, from 1; 0: all of it */
    size_t head_bytes;   /* of the head, its empty line and all, if it is let in */
    int64_t body_bytes;  /* Content-Length; 0 if there is none */
    bool has_length;     /* there is one */
    bool expects_continue;
};

/* Judge the request that begins at bytes[0]; what follows its head (a body, further
 * requests) is not looked at.  Splits the head in place, so `bytes` are changed.
 *   status 0    let in; `out` has the whole head
 *   408         the bytes end before the head does
 *   4xx, 5xx    refused; `out` has the method and the path, if they were found
 * Routes, and what depends on them, are not known here. */
struct gate_verdict gate_check(char *bytes, size_t length, struct gate_request *out);

/* Is it a word that HTTP knows as a method?  (405 for those, 501 for others.) */
bool gate_knows_method(const char *method);

#endif /* BASE_GATE_H */
