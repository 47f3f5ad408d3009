/* SPDX-License-Identifier: MIT */
/* url_form.c -- the forms of the addresses of Redis, for messages. */
#include <string.h>

#include "base/redis/url.h"

const char *redis_url_form(const char *text)
{
    static const struct {
        const char *beginning, *form;
    } FORMS[] = {
        {"redis://", "redis://[user:password@]host[:port][/db]"},
        {"rediss://", "rediss://[user:password@]host[:port][/db][?ca=FILE&...]"},
        {"redis-sentinel://", "redis-sentinel://[user:password@]host[:port],.../name[?db=N&...]"},
        {"rediss-sentinel://", "rediss-sentinel://[user:password@]host[:port],.../name[?...]"},
        {"redis-cluster://", "redis-cluster://[user:password@]host[:port],..."},
        {"rediss-cluster://", "rediss-cluster://[user:password@]host[:port],...[?ca=FILE&...]"},
        {"unix://", "unix:///path[?db=N]"},
    };

    for (size_t i = 0; text != NULL && i < sizeof(FORMS) / sizeof(FORMS[0]); i++)
        if (strncmp(text, FORMS[i].beginning, strlen(FORMS[i].beginning)) == 0)
            return FORMS[i].form;
    return "redis://host:port, redis-sentinel://host:port,.../name, redis-cluster://host:port,..., "
           "rediss in place of redis for TLS, or unix:///path";
}
