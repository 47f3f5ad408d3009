/* SPDX-License-Identifier: MIT */
/* http_answer.h -- an HTTP/1.1 answer, taken from a connection's bytes as they come.
 *
 * The reader takes only the form that the service sends: a status line, header fields, and a body
 * of Content-Length bytes.  After any other form the connection cannot be used any more.
 *
 * Threads     One per buffer.
 */
#ifndef LOADTEST_OPEN_LOOP_HTTP_ANSWER_H
#define LOADTEST_OPEN_LOOP_HTTP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

enum { HTTP_ANSWER_MAX = 8192, HTTP_ANSWER_OUTCOME_MAX = 32 };

struct received_answer {
    int status;
    char outcome[HTTP_ANSWER_OUTCOME_MAX]; /* X-Outcome; "" if there is none or it is too long */
    const char *body;                      /* into the bytes; not terminated                  */
    size_t body_size;
    size_t size; /* of all of it                                                       */
    bool closes; /* the server closes the connection behind it                         */
};

enum http_answer_state { HTTP_ANSWER_WHOLE, HTTP_ANSWER_PART, HTTP_ANSWER_NONSENSE };

/* Look at the `size` bytes that came so far.  WHOLE: *out is filled, and points into
 * `bytes`.  PART: more has to come.  NONSENSE: this is no such answer, or one longer than
 * HTTP_ANSWER_MAX. */
enum http_answer_state http_answer_read(const char *bytes, size_t size,
                                        struct received_answer *out);

#endif /* LOADTEST_OPEN_LOOP_HTTP_ANSWER_H */
