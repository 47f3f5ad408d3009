/* SPDX-License-Identifier: MIT */
/* gate.c -- which requests are let in. */
#include "app/gate.h"

#include <string.h>
#include <strings.h>

static struct gate_verdict refuse(int status, const char *why)
{
    return (struct gate_verdict){.status = status, .why = why};
}

bool gate_knows_method(const char *method)
{
    static const char *const KNOWN[] = {"GET",     "HEAD",    "POST",  "PUT",  "DELETE",
                                        "OPTIONS", "CONNECT", "TRACE", "PATCH"};

    for (size_t i = 0; i < sizeof(KNOWN) / sizeof(KNOWN[0]); i++)
        if (strcmp(method, KNOWN[i]) == 0)
            return true;
    return false;
}

/* Printable ASCII without the space, and neither of the characters by which a path
 * means something else than it says: no escape is needed to name anything here. */
static bool is_plain_path(const char *uri)
{
    if (uri[0] != '/')
        return false;
    for (const char *p = uri; *p != '\0'; p++)
        if (*p <= ' ' || *p > '~' || *p == '%' || *p == '\\' || *p == '#' || *p == ';')
            return false;
    return strstr(uri, "//") == NULL && strstr(uri, "/.") == NULL;
}

static bool is_plain_query(const char *query)
{
    for (const char *p = query; *p != '\0'; p++)
        if (*p <= ' ' || *p > '~' || *p == '#' || strncmp(p, "%00", 3) == 0)
            return false;
    return true;
}

static struct gate_verdict check_target(const struct gate_request *r)
{
    size_t length = strlen(r->uri) + (r->query != NULL ? strlen(r->query) + 1 : 0);

    if (length > GATE_URI_MAX)
        return refuse(414, "the path is longer than 512 bytes");
    if (!is_plain_path(r->uri))
        return refuse(400,
                      "the path has escapes, dots or other bytes it must not have");
    if (r->query != NULL && !is_plain_query(r->query))
        return refuse(400, "the query has bytes it must not have");
    return (struct gate_verdict){0};
}

static const char *past_end(const char *text)
{
    return text + strlen(text) + 1;
}

/* The head's length but for its last line.  It keeps those who look past the end of a
 * value, as is_clean_framing() does, inside the buffer, which is twice as long. */
static size_t head_bytes(const struct gate_request *r)
{
    const char *end =
        r->header_count > 0 ? r->headers[r->header_count - 1].value : r->version;

    return (size_t)(past_end(end) - r->method);
}

/* Between a name and its value: the colon (now a NUL), then only blanks. */
static bool is_clean_pair(const struct gate_header *h)
{
    for (const char *p = past_end(h->name); p < h->value; p++)
        if (*p != ' ' && *p != '\t')
            return false;
    return h->value >= past_end(h->name);
}

/* Each line must end in CR LF (two NULs now) and be followed by the next, the last one
 * by the CR of the empty line.  A folded line, a bare line feed or a NUL breaks the
 * chain. */
static bool is_clean_framing(const struct gate_request *r)
{
    const char *next = past_end(r->version) + 1;

    for (size_t i = 0; i < r->header_count; i++) {
        if (r->headers[i].name != next || !is_clean_pair(&r->headers[i]))
            return false;
        next = past_end(r->headers[i].value);
        if (*next++ != '\0')
            return false;
    }
    return *next == '\r' && next[1] == '\0';
}

/* Digits only, and few of them. */
static struct gate_verdict read_length(const char *value, struct gate_verdict so_far)
{
    int64_t bytes = 0;
    size_t digits = strspn(value, "0123456789");

    if (digits == 0 || value[digits] != '\0')
        return refuse(400, "Content-Length is not a number");
    if (digits > GATE_LENGTH_DIGITS)
        return refuse(413, "Content-Length is too large");
    for (const char *p = value; *p != '\0'; p++)
        bytes = bytes * 10 + (*p - '0');
    so_far.body_bytes = bytes;
    so_far.has_length = true;
    return so_far;
}

/* Those headers that decide where a request ends and whom it is for. */
static struct gate_verdict check_headers(const struct gate_request *r)
{
    struct gate_verdict verdict = {0};
    size_t tokens = 0;
    size_t hosts = 0;

    for (size_t i = 0; i < r->header_count && verdict.status == 0; i++) {
        const struct gate_header *h = &r->headers[i];

        if (strcasecmp(h->name, "Transfer-Encoding") == 0)
            return refuse(400, "Transfer-Encoding is not accepted");
        if (strcasecmp(h->name, "Host") == 0)
            hosts += h->value[0] == '\0' ? 2 : 1;
        if (strcasecmp(h->name, "Authorization") == 0 && ++tokens > 1)
            return refuse(400, "authorization is there twice");
        if (strcasecmp(h->name, "Expect") == 0) {
            if (strcasecmp(h->value, "100-continue") != 0)
                return refuse(417, "this expectation cannot be met");
            verdict.expects_continue = true;
        }
        if (strcasecmp(h->name, "Content-Length") != 0)
            continue;
        if (verdict.has_length)
            return refuse(400, "Content-Length is there twice");
        verdict = read_length(h->value, verdict);
    }
    if (verdict.status == 0 && hosts != 1)
        return refuse(400, "exactly one Host is needed");
    return verdict;
}

struct gate_verdict gate_check(const struct gate_request *r)
{
    struct gate_verdict verdict = {0};

    if (r->header_count > GATE_HEADERS_MAX)
        return refuse(431, "too many headers");
    if (head_bytes(r) > GATE_HEAD_MAX)
        return refuse(431, "the head is longer than 8192 bytes");
    if (!is_clean_framing(r))
        return refuse(400, "a header line is malformed");
    verdict = check_target(r);
    if (verdict.status != 0)
        return verdict;
    return check_headers(r);
}
