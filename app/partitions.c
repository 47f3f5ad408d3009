/* SPDX-License-Identifier: MIT */
/* partitions.c -- the databases of the service. */
#include "app/partitions.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "app/store_options.h"

struct partition {
    struct db_pool *pool;
    atomic_int_fast64_t inside;
    atomic_uint_fast64_t turned_away;
};

struct partitions {
    size_t count;
    int64_t inside_max; /* the limit of requests for one database */
    atomic_size_t next;
    struct partition each[];
};

struct partitions *partitions_open(const struct config *c)
{
    size_t count = c->databases.count;
    struct partitions *p = calloc(1, sizeof(*p) + count * sizeof(p->each[0]));

    if (p == NULL)
        return NULL;
    p->count = count;
    p->inside_max = c->workers * 2 / ((int64_t)count + 1);
    if (p->inside_max < 1)
        p->inside_max = 1;
    for (size_t i = 0; i < count; i++) {
        struct db_options opts = stores_database_options(c, i);

        p->each[i].pool = db_pool_new(&opts, (size_t)c->database_connections);
        if (p->each[i].pool != NULL)
            continue;
        partitions_close(p);
        return NULL;
    }
    return p;
}

void partitions_close(struct partitions *p)
{
    if (p == NULL)
        return;
    for (size_t i = 0; i < p->count; i++)
        db_pool_free(p->each[i].pool);
    free(p);
}

size_t partitions_count(const struct partitions *p)
{
    return p->count;
}

struct db_pool *partitions_pool(struct partitions *p, size_t i)
{
    return p->each[i].pool;
}

bool partitions_enter(struct partitions *p, size_t i)
{
    if (p->count == 1 || atomic_fetch_add(&p->each[i].inside, 1) < p->inside_max)
        return true;
    (void)atomic_fetch_sub(&p->each[i].inside, 1);
    (void)atomic_fetch_add(&p->each[i].turned_away, 1);
    return false;
}

void partitions_enter_again(struct partitions *p, size_t i)
{
    if (p->count > 1)
        (void)atomic_fetch_add(&p->each[i].inside, 1);
}

void partitions_leave(struct partitions *p, size_t i)
{
    if (p->count > 1)
        (void)atomic_fetch_sub(&p->each[i].inside, 1);
}

size_t partitions_next(struct partitions *p)
{
    return p->count == 1 ? 0 : atomic_fetch_add(&p->next, 1) % p->count;
}

void partitions_read_stats(struct partitions *p, size_t i, struct partition_stats *out)
{
    db_pool_read_stats(p->each[i].pool, &out->pool);
    out->inside = atomic_load(&p->each[i].inside);
    out->turned_away = atomic_load(&p->each[i].turned_away);
}
