/* SPDX-License-Identifier: MIT */
/* request.c -- finds what handlers want to know of a request. */
#include "app/request.h"

#include <string.h>
#include <strings.h>

#include "app/gate_target.h"

const char *request_header(const struct request *rq, const char *name)
{
    for (size_t i = 0; i < rq->head->header_count; i++)
        if (strcasecmp(rq->head->headers[i].name, name) == 0)
            return rq->head->headers[i].value;
    return NULL;
}

bool request_query(const struct request *rq, const char *key, char *out, size_t size)
{
    size_t key_len = strlen(key);
    const char *p = rq->head->query;

    out[0] = '\0';
    while (p != NULL && *p != '\0') {
        if (strncmp(p, key, key_len) == 0 && p[key_len] == '=') {
            p += key_len + 1;
            if (gate_unescape(p, strcspn(p, "&"), out, size))
                return true;
            out[0] = '\0';
            return false;
        }
        p = strchr(p, '&');
        p = p != NULL ? p + 1 : NULL;
    }
    return false;
}
