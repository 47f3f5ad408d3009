/* SPDX-License-Identifier: MIT */
/* master.c -- computes which server is the master, from the answers of several
 * Sentinels. */
#include "base/redis/master.h"

#include <string.h>

#include "base/os/clock.h"

void redis_master_init(struct redis_master *master, int sentinel_count)
{
    memset(master, 0, sizeof(*master));
    dlock_mutex_init(&master->mutex);
    master->sentinel_count = sentinel_count;
}

void redis_master_destroy(struct redis_master *master)
{
    dlock_mutex_destroy(&master->mutex);
}

static bool is_same(const struct redis_address *a, const struct redis_address *b)
{
    return a->port == b->port && strcmp(a->host, b->host) == 0;
}

/* Has no Sentinel named the known address lately, and do more than half of the
 * Sentinels name `place`? */
static bool is_agreed(const struct redis_master *master, const struct redis_address *place,
                      int64_t now_ns)
{
    int agreed_count = 0;

    if (now_ns - master->named_ns < REDIS_MASTER_FORGET_MS * DLOCK_NS_PER_MS)
        return false;
    for (int i = 0; i < master->sentinel_count; i++)
        agreed_count += is_same(&master->views[i].place, place);
    return agreed_count > master->sentinel_count / 2;
}

uint64_t redis_master_hear(struct redis_master *master, int number,
                           const struct redis_view *view, int64_t now_ns)
{
    uint64_t era;

    dlock_mutex_lock(&master->mutex);
    master->views[number] = *view;
    era = atomic_load(&master->era);
    if (era > 0 && is_same(&master->known.place, &view->place)) {
        if (view->epoch > master->known.epoch)
            master->known.epoch = view->epoch;
        master->named_ns = now_ns;
    } else if (era == 0 || view->epoch > master->known.epoch ||
               is_agreed(master, &view->place, now_ns)) {
        master->known = *view;
        master->named_ns = now_ns;
        atomic_store(&master->era, ++era);
    } else {
        era = 0;
    }
    dlock_mutex_unlock(&master->mutex);
    return era;
}
