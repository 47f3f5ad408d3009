/* SPDX-License-Identifier: MIT */
/* gate_request.h -- the head of a request, split into its parts, and the limits of
 * their lengths. */
#ifndef BASE_GATE_REQUEST_H
#define BASE_GATE_REQUEST_H

#include <stddef.h>

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

#endif /* BASE_GATE_REQUEST_H */
