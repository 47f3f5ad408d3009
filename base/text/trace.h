/* SPDX-License-Identifier: MIT */
/* trace.h -- the trace that a request belongs to, as W3C's Trace Context writes it.
 *
 * Threads     Any.
 */
#ifndef BASE_TRACE_H
#define BASE_TRACE_H

#include <stdbool.h>

enum { TRACE_ID_LEN = 32, TRACE_SPAN_LEN = 16, TRACE_HEADER_LEN = 55 };

/* Ids are in lower-case hex, with a NUL. */
struct trace {
    char trace_id[TRACE_ID_LEN + 1];
    char span_id[TRACE_SPAN_LEN + 1];
    bool is_sampled; /* the sender records this trace */
};

/* Read the value of a header `traceparent`.  True: *out is the trace, and the span of the
 * sender.  False, and *out is unchanged: the value is invalid by the specification.  Of
 * a value with a version after 00, only the fields of version 00 are read. */
bool trace_parse(const char *value, struct trace *out);

/* Is it the id of a trace: 32 digits of lower-case hex that are not all zero? */
bool trace_is_id(const char *text);

/* Put a new random span in place of the present one. */
void trace_enter_span(struct trace *trace);

/* Write version, trace, span and flags as the header has them, with a NUL. */
void trace_format(const struct trace *trace, char out[TRACE_HEADER_LEN + 1]);

#endif /* BASE_TRACE_H */
