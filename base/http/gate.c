/* SPDX-License-Identifier: MIT */
/* gate.c -- decides which requests are let in. */
#include "base/http/gate.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "base/os/number.h"
#include "base/os/utf8.h"

/* ---- the target of a request line, and a Host ---- */

#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
/* The characters that RFC 3986 allows in a path, without escapes and without ';', which no
 * route needs. */
#define PATH_BYTES LETTERS DIGITS "-._~!$&'()*+,=:@/"
/* The same for a query, without the '&' between its parts and the '=' in them. */
#define QUERY_NAME_BYTES LETTERS DIGITS "-._~"
#define QUERY_VALUE_BYTES LETTERS DIGITS "-._~!$'()*+,;:@/?%="

static bool is_port(const char *text)
{
    size_t digits = strspn(text, DIGITS);
    long port = 0;

    if (digits == 0 || digits > 5 || text[digits] != '\0' || text[0] == '0')
        return false;
    for (const char *p = text; *p != '\0'; p++)
        port = port * 10 + (*p - '0');
    return port <= 65535;
}

/* Labels of letters, digits, '-' and '_', with single dots between.  A name whose last
 * label is a number must be an IPv4 address. */
static bool is_name(const char *name)
{
    const char *dot = strrchr(name, '.');
    const char *last = dot != NULL ? dot + 1 : name;
    struct in_addr address;

    if (name[0] == '\0' || name[strspn(name, LETTERS DIGITS "-_.")] != '\0' ||
        name[0] == '-' || name[0] == '.' || strstr(name, "..") != NULL ||
        strstr(name, ".-") != NULL || strstr(name, "-.") != NULL)
        return false;
    if (last[0] != '\0' && last[strspn(last, DIGITS)] == '\0')
        return inet_pton(AF_INET, name, &address) == 1;
    return name[strlen(name) - 1] != '-';
}

bool gate_is_host(const char *text)
{
    char name[GATE_HOST_MAX + 1];
    struct in6_addr address;
    bool is_bracketed = text[0] == '[';
    const char *begin = is_bracketed ? text + 1 : text;
    size_t len = strcspn(begin, is_bracketed ? "]" : ":");
    const char *rest = begin + len;

    if (len >= sizeof(name))
        return false;
    memcpy(name, begin, len);
    name[len] = '\0';
    if (is_bracketed) {
        if (*rest != ']' || inet_pton(AF_INET6, name, &address) != 1)
            return false;
        rest++;
    } else if (!is_name(name)) {
        return false;
    }
    return *rest == '\0' || (*rest == ':' && is_port(rest + 1));
}

bool gate_unescape(const char *value, size_t len, char *out, size_t size)
{
    size_t n = 0;

    for (const char *end = value + len; value < end; n++) {
        bool is_blank = *value == '+';
        int c = dlock_number_byte(&value, end);

        if (c < ' ' || c == 0x7f || n + 1 >= size)
            return false;
        out[n] = is_blank ? ' ' : (char)c;
    }
    out[n] = '\0';
    return true;
}

/* Is the value valid: every '%' is followed by two hex digits, and the decoded value is
 * UTF-8 without control characters? */
static bool is_text(const char *value, size_t len)
{
    char decoded[GATE_URI_MAX + 1];
    const char *at = decoded;

    if (!gate_unescape(value, len, decoded, sizeof(decoded)))
        return false;
    for (size_t step = 1; *at != '\0' && step > 0; at += step)
        step = utf8_char_len(at);
    return *at == '\0';
}

/* Is there a part before `part` with the same name? */
static bool is_named_before(const char *query, const char *part, size_t name_len)
{
    const char *p = query;

    while (p < part) {
        if (strncmp(p, part, name_len) == 0 && strcspn(p, "=&") == name_len)
            return true;
        p += strcspn(p, "&") + 1;
    }
    return false;
}

/* Check a query: parts separated by '&', each NAME or NAME=VALUE, and each name
 * once. */
static const char *check_query(const char *query)
{
    const char *p = query;

    for (;;) {
        size_t len = strcspn(p, "&");
        size_t name_len = strspn(p, QUERY_NAME_BYTES);
        size_t value_at = name_len + (p[name_len] == '=');

        if (name_len == 0 || (name_len < len && p[name_len] != '='))
            return "the query must be name=value parts with & between, their names of "
                   "letters, digits and -._~";
        if (strspn(p + value_at, QUERY_VALUE_BYTES) < len - value_at ||
            !is_text(p + value_at, len - value_at))
            return "a value in the query may have letters, digits, "
                   "-._~!$'()*+,;:@/?= and escapes like %20 of UTF-8 text without "
                   "control characters";
        if (is_named_before(query, p, name_len))
            return "a name may be in the query once, not twice";
        if (p[len] == '\0')
            return NULL;
        p += len + 1;
    }
}

/* Is a part of the path "." or ".."? */
static bool has_dot_part(const char *path)
{
    for (const char *part = path; (part = strstr(part, "/.")) != NULL; part += 2) {
        size_t dots = part[2] == '.' ? 2 : 1;

        if (part[1 + dots] == '/' || part[1 + dots] == '\0')
            return true;
    }
    return false;
}

/* Does the path have only characters that RFC 3986 allows, without escapes?  The parts "." and
 * "..", and empty parts, are refused, because with them two different paths have the same
 * meaning. */
static bool is_plain_path(const char *path)
{
    return path[0] == '/' && path[strspn(path, PATH_BYTES)] == '\0' &&
           strstr(path, "//") == NULL && !has_dot_part(path);
}

/* Split http://HOST/PATH into two texts by moving the host one byte to the left.
 * Returns the path; NULL: there is no path or no host. */
static char *split_absolute(char *target, const char **authority)
{
    char *host = target + strlen("http://");
    size_t len = strcspn(host, "/?#");

    if (len == 0 || host[len] != '/')
        return NULL;
    memmove(host - 1, host, len);
    host[len - 1] = '\0';
    *authority = host - 1;
    return host + len;
}

const char *gate_split_target(char *target, const char **authority,
                              struct gate_request *out, int *status)
{
    char *query = NULL;
    char *path = target;

    *status = 400;
    *authority = NULL;
    if (strlen(target) > GATE_URI_MAX) {
        *status = 414;
        return "the target may have no more than 512 bytes";
    }
    if (strncasecmp(target, "http://", 7) == 0)
        path = split_absolute(target, authority);
    if (path == NULL || path[0] != '/' ||
        (*authority != NULL && !gate_is_host(*authority)))
        return "the target must be a path, or http:// with the host of the Host header "
               "and then a path";
    query = strchr(path, '?');
    if (query != NULL)
        *query++ = '\0';
    out->uri = path;
    out->query = query;
    if (!is_plain_path(path))
        return "the path may have letters, digits and -._~!$&'()*+,=:@/; no escapes, no "
               "double slashes, and no part that is \".\" or \"..\"";
    if (query != NULL) {
        const char *wrong = query[0] != '\0' ? check_query(query) : NULL;

        if (wrong != NULL)
            return wrong;
    }
    *status = 0;
    return NULL;
}

/* ---- the head ---- */

static const char *const LINE_FORM =
    "each line of the head must end in CR LF, and have no other CR or LF";

/* The lines of a head, one after another. */
struct lines {
    char *next;
    const char *end; /* where the empty line begins */
    size_t number;   /* of the last line that was taken */
};

static struct gate_verdict refuse(int status, size_t line, const char *why)
{
    return (struct gate_verdict){.status = status, .line = line, .why = why};
}

bool gate_knows_method(const char *method)
{
    static const char *const KNOWN[] = {"GET",     "HEAD",    "POST",  "PUT",  "DELETE",
                                        "OPTIONS", "CONNECT", "PATCH"};

    for (size_t i = 0; i < sizeof(KNOWN) / sizeof(KNOWN[0]); i++)
        if (strcmp(method, KNOWN[i]) == 0)
            return true;
    return false;
}

/* The number of bytes up to and with the first empty line; 0: there is none. */
static size_t head_length(const char *bytes, size_t length)
{
    const char *end = bytes + length;

    for (const char *p = bytes; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++) {
        if (end - p > 1 && p[1] == '\n')
            return (size_t)(p + 2 - bytes);
        if (end - p > 2 && p > bytes && p[-1] == '\r' && p[1] == '\r' && p[2] == '\n')
            return (size_t)(p + 3 - bytes);
    }
    return 0;
}

/* Is there a control byte, such as a tab, which a head must not have? */
static bool has_control(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];

        if ((c < ' ' && c != '\r' && c != '\n') || c == 0x7f)
            return true;
    }
    return false;
}

/* Has the text only the letters, digits and signs of methods and header names?  By a
 * table, because strspn() builds one at each call. */
static bool is_token(const char *text)
{
    static const bool ALLOWED[256] = {
        ['a' ... 'z'] = true, ['A' ... 'Z'] = true, ['0' ... '9'] = true,
        ['!'] = true, ['#'] = true, ['$'] = true, ['%'] = true, ['&'] = true,
        ['\''] = true, ['*'] = true, ['+'] = true, ['-'] = true, ['.'] = true,
        ['^'] = true, ['_'] = true, ['`'] = true, ['|'] = true, ['~'] = true,
    };
    const char *p = text;

    while (ALLOWED[(unsigned char)*p])
        p++;
    return p > text && *p == '\0';
}

/* The next line, with a NUL where its CR was.  NULL: it does not end in CR LF, or has
 * another CR.  Every line of a head has an LF: the head's end is one. */
static char *take_line(struct lines *l)
{
    char *line = l->next;
    char *lf = memchr(line, '\n', (size_t)(l->end - line));

    l->number++;
    if (lf == NULL || lf == line || memchr(line, '\r', (size_t)(lf - line)) != lf - 1)
        return NULL;
    lf[-1] = '\0';
    l->next = lf + 1;
    return line;
}

/* Split METHOD SP TARGET SP HTTP/1.x, with single spaces. */
static struct gate_verdict split_request_line(char *line, struct gate_request *out,
                                              char **target)
{
    static const char *const FORM =
        "the request line must be a method, one space, a target, one space and HTTP/1.1";
    char *first = strchr(line, ' ');
    char *second = first != NULL ? strchr(first + 1, ' ') : NULL;
    const char *version = second != NULL ? second + 1 : "";

    if (first == NULL || second == NULL || second == first + 1)
        return refuse(400, 1, FORM);
    *first = '\0';
    *second = '\0';
    if (!is_token(line) || strncmp(version, "HTTP/", 5) != 0 ||
        strspn(version + 5, "0123456789") != 1 || version[6] != '.' ||
        strspn(version + 7, "0123456789") != 1 || version[8] != '\0')
        return refuse(400, 1, FORM);
    out->method = line;
    *target = first + 1;
    if (strcmp(version, "HTTP/1.1") != 0 && strcmp(version, "HTTP/1.0") != 0)
        return refuse(505, 1, "HTTP/1.0 and HTTP/1.1 are spoken here");
    out->version = version + 5;
    if (!gate_knows_method(line))
        return refuse(501, 1, "the service does not implement this method");
    return (struct gate_verdict){0};
}

/* Split NAME:VALUE, with blanks allowed around the value and not before the colon. */
static struct gate_verdict split_header(char *line, size_t number,
                                        struct gate_request *out)
{
    char *colon = strchr(line, ':');
    char *value = NULL;
    char *end = NULL;

    if (line[0] == ' ')
        return refuse(400, number, "a header must not be continued on a second line");
    if (out->header_count == GATE_HEADERS_MAX)
        return refuse(431, number, "a head may have no more than 59 header lines");
    if (colon != NULL)
        *colon = '\0';
    if (colon == NULL || !is_token(line))
        return refuse(400, number,
                      "a header must be a name of letters, digits and !#$%&'*+-.^_`|~, "
                      "a colon right after it, and a value");
    value = colon + 1 + strspn(colon + 1, " ");
    end = value + strlen(value);
    while (end > value && end[-1] == ' ')
        *--end = '\0';
    out->headers[out->header_count++] = (struct gate_header){line, value};
    return (struct gate_verdict){0};
}

/* Read a Content-Length: at most GATE_LENGTH_DIGITS digits and nothing else. */
static void read_length(const char *value, size_t line, struct gate_verdict *v)
{
    size_t digits = strspn(value, "0123456789");

    if (v->has_length)
        *v = refuse(400, line, "Content-Length must be there once, not twice");
    else if (digits == 0 || value[digits] != '\0')
        *v = refuse(400, line, "Content-Length must be a number of decimal digits");
    else if (digits > GATE_LENGTH_DIGITS)
        *v = refuse(413, line, "Content-Length may have no more than 10 digits");
    if (v->status != 0)
        return;
    for (const char *p = value; *p != '\0'; p++)
        v->body_bytes = v->body_bytes * 10 + (*p - '0');
    v->has_length = true;
}

/* The headers that may come only once. */
struct seen {
    const char *host; /* NULL: not yet */
    bool token;
};

/* Check the headers that decide where a request ends and which host it is for. */
static void check_header(const struct gate_header *h, size_t line, struct seen *seen,
                         struct gate_verdict *v)
{
    if (strcasecmp(h->name, "Content-Length") == 0) {
        read_length(h->value, line, v);
    } else if (strcasecmp(h->name, "Transfer-Encoding") == 0) {
        *v = refuse(400, line,
                    "Transfer-Encoding is not accepted; send Content-Length instead");
    } else if (strcasecmp(h->name, "Host") == 0) {
        if (seen->host != NULL)
            *v = refuse(400, line, "Host must be there once, not twice");
        else if (!gate_is_host(h->value))
            *v = refuse(400, line,
                        "Host must be a name, an IPv4 address or an IPv6 address in "
                        "brackets, and perhaps a colon and a port from 1 to 65535");
        seen->host = h->value;
    } else if (strcasecmp(h->name, "Authorization") == 0) {
        if (seen->token)
            *v = refuse(400, line, "Authorization must be there once, not twice");
        seen->token = true;
    } else if (strcasecmp(h->name, "Expect") == 0) {
        if (strcasecmp(h->value, "100-continue") != 0)
            *v = refuse(417, line, "Expect may only be 100-continue");
        v->expects_continue = true;
    }
}

static struct gate_verdict check_headers(struct lines *l, const char *authority,
                                         struct gate_request *out)
{
    struct gate_verdict v = {0};
    struct seen seen = {0};

    while (l->next < l->end && v.status == 0) {
        char *line = take_line(l);
        struct gate_verdict split =
            line != NULL ? split_header(line, l->number, out)
                         : refuse(400, l->number, LINE_FORM);

        if (split.status != 0)
            return split;
        check_header(&out->headers[out->header_count - 1], l->number, &seen, &v);
    }
    if (v.status != 0)
        return v;
    if (seen.host == NULL)
        return refuse(400, 0, "Host is missing; exactly one is needed");
    if (authority != NULL && strcasecmp(authority, seen.host) != 0)
        return refuse(400, 1, "a target that begins with http:// must name the same host "
                              "and port as the Host header");
    return v;
}

/* The refusal of a request without a whole head, with the reason. */
static struct gate_verdict refuse_incomplete(const char *bytes, size_t length)
{
    if (length >= GATE_HEAD_MAX)
        return refuse(431, 0, "the head may have no more than 8192 bytes");
    if (has_control(bytes, length))
        return refuse(400, 0, "the head must not have control bytes or tabs");
    return refuse(408, 0, "the head of the request did not arrive in time");
}

struct gate_verdict gate_check(char *bytes, size_t length, struct gate_request *out)
{
    size_t head = head_length(bytes, length);
    struct lines lines = {.next = bytes};
    struct gate_verdict v = {0};
    char *line = NULL;
    char *target = NULL;
    const char *authority = NULL;

    out->method = out->uri = out->version = "";
    out->query = NULL;
    out->header_count = 0;
    if (length > 0 && (bytes[0] == '\r' || bytes[0] == '\n' || bytes[0] == ' '))
        return refuse(400, 1, "a request must begin with its method, not with an empty "
                              "line or a space");
    if (head == 0)
        return refuse_incomplete(bytes, length);
    if (head > GATE_HEAD_MAX)
        return refuse(431, 0, "the head may have no more than 8192 bytes");
    if (has_control(bytes, head))
        return refuse(400, 0, "the head must not have control bytes or tabs");
    if (bytes[head - 2] != '\r')
        return refuse(400, 0, LINE_FORM);
    lines.end = bytes + head - 2;
    line = take_line(&lines);
    if (line == NULL)
        return refuse(400, 1, LINE_FORM);
    v = split_request_line(line, out, &target);
    if (v.status == 0)
        v.why = gate_split_target(target, &authority, out, &v.status);
    if (v.status != 0) {
        v.line = 1;
        return v;
    }
    v = check_headers(&lines, authority, out);
    v.head_bytes = head;
    return v;
}
