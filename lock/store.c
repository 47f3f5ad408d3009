/* SPDX-License-Identifier: MIT */
/* store.c -- the rows of stores.def, and the one place that reads a store's name. */
#include "lock/store.h"

#include <string.h>

static const struct dlock_store_row ROWS[DLOCK_STORE_COUNT] = {
#define LOCAL_STORE(id, name) {name, NULL, NULL, NULL, NULL},
#define STORE(id, name, product, field, flag, environment, timeout, server, protocol,  \
              question)                                                                \
    {name, product, flag, environment, question},
#include "lock/stores.def"
#undef LOCAL_STORE
#undef STORE
};

const struct dlock_store_row *dlock_store_row(enum dlock_store store)
{
    return &ROWS[store];
}

/* The row of that name; DLOCK_STORE_COUNT: there is none. */
static enum dlock_store find_row(const char *name)
{
    unsigned store = 0;

    while (store < DLOCK_STORE_COUNT && strcmp(ROWS[store].name, name) != 0)
        store++;
    return (enum dlock_store)store;
}

enum dlock_store dlock_store_of(const dlock_variant_info *variant)
{
    return find_row(variant->store);
}
