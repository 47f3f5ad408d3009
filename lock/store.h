/* SPDX-License-Identifier: MIT */
/* store.h -- the stores that a lock can be kept in: the rows of stores.def, as an enum
 * to branch on and a row to print from. */
#ifndef DLOCK_STORE_H
#define DLOCK_STORE_H

#include "lock/dlock.h"

/* A LOCAL_STORE has no server; a STORE has a server, which a URL names. */
enum dlock_store {
#define LOCAL_STORE(id, name) DLOCK_STORE_##id,
#define STORE(id, ...) DLOCK_STORE_##id,
#include "lock/stores.def"
#undef LOCAL_STORE
#undef STORE
    DLOCK_STORE_COUNT
};

struct dlock_store_row {
    const char *name;        /* dlock_variant_info.store: "redis x5"                  */
    const char *product;     /* "Redis"; NULL, as is all that follows: no server      */
    const char *flag;        /* of the URL, of every program: "--redlock-urls"        */
    const char *environment; /* the same: "SECKILL_REDLOCK_URLS"                      */
    const char *question;    /* the cheapest request to the store: "PING"             */
};

/* The row of a store below DLOCK_STORE_COUNT. */
const struct dlock_store_row *dlock_store_row(enum dlock_store store);

/* The store of that variant. dlock_variant_flaw() has to accept the variant. */
enum dlock_store dlock_store_of(const dlock_variant_info *variant);

#endif /* DLOCK_STORE_H */
