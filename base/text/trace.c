/* SPDX-License-Identifier: MIT */
/* trace.c -- reads and writes `traceparent`: 00-TRACE-SPAN-FLAGS. */
#include "base/text/trace.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/os/random.h"

static const char HEX[] = "0123456789abcdef";

enum {
    VERSION_LEN = 2,
    TRACE_AT = VERSION_LEN + 1,
    SPAN_AT = TRACE_AT + TRACE_ID_LEN + 1,
    FLAGS_AT = SPAN_AT + TRACE_SPAN_LEN + 1,
    SAMPLED = 1, /* a bit of the flags */
};

/* Are there `len` hex digits at `at`, and after them a dash or the end of the 55
 * bytes? */
static bool is_field(const char *value, size_t at, size_t len)
{
    return strspn(value + at, HEX) == len &&
           (at + len == TRACE_HEADER_LEN || value[at + len] == '-');
}

/* Is there a valid id at `at`?  An id of only zeros is invalid. */
static bool is_id(const char *value, size_t at, size_t len)
{
    return is_field(value, at, len) && strspn(value + at, "0") < len;
}

bool trace_is_id(const char *text)
{
    return strspn(text, HEX) == TRACE_ID_LEN && text[TRACE_ID_LEN] == '\0' &&
           strspn(text, "0") < TRACE_ID_LEN;
}

bool trace_parse(const char *value, struct trace *out)
{
    size_t len = strlen(value);
    bool is_first_version = strncmp(value, "00-", 3) == 0;

    if (len < TRACE_HEADER_LEN || (is_first_version && len > TRACE_HEADER_LEN) ||
        (len > TRACE_HEADER_LEN && value[TRACE_HEADER_LEN] != '-') ||
        strncmp(value, "ff", VERSION_LEN) == 0 || !is_field(value, 0, VERSION_LEN) ||
        !is_id(value, TRACE_AT, TRACE_ID_LEN) || !is_id(value, SPAN_AT, TRACE_SPAN_LEN) ||
        !is_field(value, FLAGS_AT, 2))
        return false;
    memcpy(out->trace_id, value + TRACE_AT, TRACE_ID_LEN);
    out->trace_id[TRACE_ID_LEN] = '\0';
    memcpy(out->span_id, value + SPAN_AT, TRACE_SPAN_LEN);
    out->span_id[TRACE_SPAN_LEN] = '\0';
    out->is_sampled = (strchr(HEX, value[FLAGS_AT + 1]) - HEX) & SAMPLED;
    return true;
}

void trace_enter_span(struct trace *trace)
{
    uint64_t number = 0;

    while (number == 0)
        dlock_random_bytes(&number, sizeof(number));
    (void)snprintf(trace->span_id, sizeof(trace->span_id), "%016llx",
                   (unsigned long long)number);
}

void trace_format(const struct trace *trace, char out[TRACE_HEADER_LEN + 1])
{
    (void)snprintf(out, TRACE_HEADER_LEN + 1, "00-%s-%s-%02d", trace->trace_id,
                   trace->span_id, trace->is_sampled ? SAMPLED : 0);
}
