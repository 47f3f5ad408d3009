/* SPDX-License-Identifier: MIT */
/* gate_target.c -- checks and splits the target of a request line, and checks a
 * Host. */
#include "base/http/gate.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "base/os/number.h"
#include "base/os/utf8.h"

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

static bool is_utf8(const char *text)
{
    while (*text != '\0') {
        size_t len = utf8_char_len(text);

        if (len == 0)
            return false;
        text += len;
    }
    return true;
}

/* Is the value valid: every '%' is followed by two hex digits, and the decoded value is
 * UTF-8 without control characters? */
static bool is_text(const char *value, size_t len)
{
    char decoded[GATE_URI_MAX + 1];

    return gate_unescape(value, len, decoded, sizeof(decoded)) && is_utf8(decoded);
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
