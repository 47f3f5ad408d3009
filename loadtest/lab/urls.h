/* SPDX-License-Identifier: MIT */
/* urls.h -- the URLs of the stores in a lab, for the options with which a lock is opened. */
#ifndef LOADTEST_LAB_URLS_H
#define LOADTEST_LAB_URLS_H

#include "loadtest/lab/lab.h"
#include "lock/store.h"

enum { LAB_URL_MAX = LAB_ADDRESS_MAX };

/* A URL of each store; "": there is none. */
struct lab_urls {
#define LOCAL_STORE(id, name)
#define STORE(id, name, product, field, ...) char field[LAB_URL_MAX];
#include "lock/stores.def"
#undef LOCAL_STORE
#undef STORE
};

/* A way to the servers of a store through other ports, such as proxies. */
struct lab_route {
    const int *ports; /* one for each server, such as proxies'; NULL: the servers' own */
    int database;     /* of Redis                                                      */
};

/* The role of a store's servers; LAB_ROLE_COUNT: the store has no server. */
enum lab_role lab_store_role(enum dlock_store store);

/* The URL of a store, with the service's passwords; `route` may be NULL. */
void lab_store_url(const struct lab *lab, enum dlock_store store,
                   const struct lab_route *route, char out[LAB_URL_MAX]);

/* The URLs of the servers of a role, with commas between. */
void lab_role_url(const struct lab *lab, enum lab_role role, const struct lab_route *route,
                  char out[LAB_URL_MAX]);

/* The place of a store's URL; NULL: it needs none. */
char *lab_url_of(struct lab_urls *urls, enum dlock_store store);

/* Point the options to those that are there.  `urls` has to live as long. */
void lab_urls_use(const struct lab_urls *urls, dlock_options *options);

#endif /* LOADTEST_LAB_URLS_H */
