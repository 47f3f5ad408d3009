/* SPDX-License-Identifier: MIT */
/* request.c -- finds what handlers want to know of a request. */
#include "app/request.h"

#include <string.h>
#include <strings.h>

const char *request_header(const struct request *rq, const char *name)
{
    for (size_t i = 0; i < rq->head->header_count; i++)
        if (strcasecmp(rq->head->headers[i].name, name) == 0)
            return rq->head->headers[i].value;
    return NULL;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decode up to the next '&'.  False: malformed, or it does not fit. */
static bool decode(const char *p, char *out, size_t size)
{
    size_t n = 0;

    for (; *p != '\0' && *p != '&'; p++) {
        int value = (unsigned char)*p;

        if (*p == '+')
            value = ' ';
        if (*p == '%') {
            int high = hex_value(p[1]);
            int low = high < 0 ? -1 : hex_value(p[2]);

            value = low < 0 ? -1 : high << 4 | low;
            p += 2;
        }
        if (value < ' ' || value == 0x7f || n + 1 >= size)
            return false;
        out[n++] = (char)value;
    }
    out[n] = '\0';
    return true;
}

bool request_query(const struct request *rq, const char *key, char *out, size_t size)
{
    size_t key_len = strlen(key);
    const char *p = rq->head->query;

    out[0] = '\0';
    while (p != NULL && *p != '\0') {
        if (strncmp(p, key, key_len) == 0 && p[key_len] == '=') {
            if (decode(p + key_len + 1, out, size))
                return true;
            out[0] = '\0';
            return false;
        }
        p = strchr(p, '&');
        p = p != NULL ? p + 1 : NULL;
    }
    return false;
}
