/* SPDX-License-Identifier: MIT */
/* store_options.c -- makes the options of the stores' connections from the settings. */
#include "app/store_options.h"

#include "db/guard.h"
#include "lock/store.h"

struct db_options stores_database_options(const struct config *c, size_t partition)
{
    struct db_options opts = db_options_default(partition_url(&c->databases, partition));

    opts.application_name = c->process_name;
    opts.mark = c->allow_mixed_settings ? 0 : stores_mark(c);
    opts.mark_binds = STORES_MARK_BINDS;
    opts.statement_timeout_ms = (int)c->statement_timeout_ms;
    opts.idle_timeout_ms = (int)c->idle_transaction_ms;
    (void)postgres_pooler_read(c->database_pooler, &opts.pooler); /* the setting was checked */
    return opts;
}

dlock_options stores_lock_options(const struct config *c)
{
    dlock_options opts = dlock_options_default();

    opts.variant = c->lock;
#define LOCAL_STORE(id, name)
#define STORE(id, name, product, field, ...) opts.field = c->field;
#include "lock/stores.def"
#undef LOCAL_STORE
#undef STORE
    opts.database_url = c->lock_database_url != NULL ? c->lock_database_url
                                                     : partition_url(&c->databases, 0);
    opts.record_dir = c->record;
    opts.database_pooler = c->database_pooler;
    opts.database_timeout_ms = (int)c->statement_timeout_ms;
    opts.zookeeper_timeout_ms = (int)c->zookeeper_timeout_ms;
    opts.etcd_timeout_ms = c->etcd_timeout_ms;
    opts.replicas_acknowledge = c->replicas_acknowledge;
    opts.lease_ms = (int)c->lock_lease_ms;
    opts.watchdog = c->watchdog;
    opts.retry = c->retry;
    opts.handover = c->handover;
    opts.redlock_sequential = c->redlock_is_sequential;
    opts.redis_timeout_ms = (int)c->redis_timeout_ms;
    opts.redlock_node_timeout_ms = (int)c->redlock_node_timeout_ms;
    return opts;
}

/* Add a text, or NULL, to a hash: FNV-1a with 32 bits. */
static uint32_t mark_add(uint32_t hash, const char *text)
{
    for (; text != NULL && *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return (hash ^ '\n') * 16777619u;
}

/* The guard `none` agrees with no other guard; a lock without a store excludes no process. */
int stores_mark(const struct config *c)
{
    dlock_options opts = stores_lock_options(c);
    const struct stock_guard *guard = guard_find(c->stock_guard);
    bool relies = c->duplicates != DUPLICATE_GUARD_UNIQUE || guard == &guard_read_write ||
                  guard == &guard_decrement; /* on the lock */
    uint32_t hash = mark_add(mark_add(2166136261u, c->lock), c->lock_scope);

#define LOCAL_STORE(id, name)
#define STORE(id, name, product, field, ...) hash = mark_add(hash, opts.field);
#include "lock/stores.def"
#undef LOCAL_STORE
#undef STORE
    if (c->duplicates == DUPLICATE_GUARD_NONE)
        hash = mark_add(hash, c->duplicate_guard);
    if (relies && dlock_store_row(dlock_store_of(dlock_variant_find(c->lock)))->flag == NULL)
        hash ^= c->process_number;
    if (config_has_stream(c))
        hash = mark_add(hash, c->stream_name);
    return (int)((hash & (STORES_MARK_BINDS - 1)) |
                 (relies || config_has_stream(c) ? STORES_MARK_BINDS : 0));
}
