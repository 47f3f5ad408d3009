/* SPDX-License-Identifier: MIT */
/* unknown_orders.c -- remembers the requests that this process answered with `unknown`. */
#include "app/unknown_orders.h"

/* FNV-1a with 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
static const uint64_t FNV_OFFSET = 14695981039346656037ULL;
static const uint64_t FNV_PRIME = 1099511628211ULL;

/* The id of a request is unique for its user only. */
static uint64_t hash_of(const struct order_request *request)
{
    uint64_t hash = FNV_OFFSET ^ (uint64_t)request->user_id;

    for (const char *c = request->request_id; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * FNV_PRIME;
    return hash != 0 ? hash : 1;
}

void unknown_orders_note(struct unknown_orders *orders, const struct order_request *request)
{
    uint64_t hash = hash_of(request);

    atomic_store(&orders->hashes[hash % UNKNOWN_ORDERS_MAX], hash);
}

bool unknown_orders_has(const struct unknown_orders *orders,
                        const struct order_request *request)
{
    uint64_t hash = hash_of(request);

    return atomic_load(&orders->hashes[hash % UNKNOWN_ORDERS_MAX]) == hash;
}
