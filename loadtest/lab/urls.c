/* SPDX-License-Identifier: MIT */
/* urls.c -- the URLs of the stores in a lab. */
#include "loadtest/lab/urls.h"

#include <string.h>

#include "loadtest/lab/kind.h"

enum lab_role lab_store_role(enum dlock_store store)
{
    static const enum lab_role ROLES[DLOCK_STORE_COUNT] = {
#define LOCAL_STORE(id, name) LAB_ROLE_COUNT,
#define STORE(id, name, product, field, flag, environment, timeout, server, ...)       \
    LAB_##server,
#include "lock/stores.def"
#undef LOCAL_STORE
#undef STORE
    };

    return ROLES[store];
}

char *lab_url_of(struct lab_urls *urls, enum dlock_store store)
{
    switch (store) {
#define LOCAL_STORE(id, name)
#define STORE(id, name, product, field, ...)                                           \
    case DLOCK_STORE_##id:                                                             \
        return urls->field;
#include "lock/stores.def"
#undef LOCAL_STORE
#undef STORE
    default:
        return NULL;
    }
}

void lab_urls_use(const struct lab_urls *urls, dlock_options *options)
{
#define LOCAL_STORE(id, name)
#define STORE(id, name, product, field, ...)                                           \
    options->field = urls->field[0] != '\0' ? urls->field : NULL;
#include "lock/stores.def"
#undef LOCAL_STORE
#undef STORE
}

void lab_store_url(const struct lab *lab, enum dlock_store store,
                   const struct lab_route *route, char out[LAB_URL_MAX])
{
    lab_role_url(lab, lab_store_role(store), route, out);
}

void lab_role_url(const struct lab *lab, enum lab_role role, const struct lab_route *route,
                  char out[LAB_URL_MAX])
{
    static const struct lab_route straight = {0};
    size_t used = 0;

    out[0] = '\0';
    if (route == NULL)
        route = &straight;
    for (int i = 0; role != LAB_ROLE_COUNT && i < lab_role_count(role); i++) {
        const struct lab_kind_row *kind = lab_kind_row(lab_role_kind(role));
        int port = route->ports ? route->ports[i] : lab_port(lab, role, i);

        if (i > 0)
            out[used++] = ',';
        if (kind->url)
            kind->url(lab, port, route->database, out + used, LAB_URL_MAX - used);
        else
            snprintf(out + used, LAB_URL_MAX - used, "127.0.0.1:%d", port);
        used += strlen(out + used);
    }
}
