/* SPDX-License-Identifier: MIT */
/* request.c -- finds headers and parts of the query of a request. */
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

/* The next part of a query, after its '&'; NULL: there is none. */
static const char *next_part(const char *part)
{
    const char *p = strchr(part, '&');

    return p != NULL ? p + 1 : NULL;
}

static bool is_key(const char *part, const char *key)
{
    size_t len = strlen(key);

    return strcspn(part, "=&") == len && strncmp(part, key, len) == 0;
}

/* The part of the query with this key; NULL: there is none. */
static const char *find_part(const struct request *rq, const char *key)
{
    const char *p = rq->head->query;

    while (p != NULL && *p != '\0' && !is_key(p, key))
        p = next_part(p);
    return p != NULL && *p != '\0' ? p : NULL;
}

bool request_has_query(const struct request *rq, const char *key)
{
    return find_part(rq, key) != NULL;
}

bool request_query(const struct request *rq, const char *key, char *out, size_t size)
{
    const char *part = find_part(rq, key);
    const char *value = part != NULL ? part + strlen(key) : NULL;

    out[0] = '\0';
    if (value == NULL || *value != '=')
        return false;
    if (gate_unescape(value + 1, strcspn(value + 1, "&"), out, size))
        return true;
    out[0] = '\0';
    return false;
}

bool request_query_is_of(const struct request *rq, const char *const *keys)
{
    const char *p = rq->head->query;

    for (; p != NULL && *p != '\0'; p = next_part(p)) {
        size_t i = 0;

        while (keys[i] != NULL && !is_key(p, keys[i]))
            i++;
        if (keys[i] == NULL)
            return false;
    }
    return true;
}
