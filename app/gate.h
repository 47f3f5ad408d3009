/* SPDX-License-Identifier: MIT */
/* gate.h -- which requests are let in: what is ambiguous is refused first.
 *
 * It judges a parsed head that still lies in the buffer it was read into, with a NUL at
 * the end of each part (as civetweb leaves it), so it can also see what the parser was
 * silent about: folded lines, bare line feeds, spaces before a colon.
 */
#ifndef APP_GATE_H
#define APP_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GATE_URI_MAX = 512,
    GATE_HEADERS_MAX = 59,  /* civetweb drops what follows the 64th without a word */
    GATE_HEAD_MAX = 8192,   /* bytes of the whole head */
    GATE_LENGTH_DIGITS = 10 /* of a Content-Length */
};

struct gate_header {
    const char *name;
    const char *value;
};

struct gate_request {
    const char *method;
    const char *uri;     /* raw, without the query */
    const char *query;   /* NULL: none */
    const char *version; /* what follows "HTTP/" */
    const struct gate_header *headers;
    size_t header_count;
};

/* What the gate found. */
struct gate_verdict {
    int status;          /* 0: let in; otherwise what to answer */
    const char *why;     /* a sentence, if it is not */
    int64_t body_bytes;  /* Content-Length; 0 if there is none */
    bool has_length;     /* there is one */
    bool expects_continue;
};

/* Judge a request.  Knows no routes: what depends on them comes later. */
struct gate_verdict gate_check(const struct gate_request *request);

/* Is it a word that HTTP knows as a method?  (405 for those, 501 for others.) */
bool gate_knows_method(const char *method);

#endif /* APP_GATE_H */
