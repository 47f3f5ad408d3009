/* SPDX-License-Identifier: MIT */
/* link_master.c -- a link whose server is the master that Sentinels name: connections
 * to an earlier master are cut. */
#include <stdatomic.h>

#include "base/redis/link_inside.h"
#include "base/redis/watch.h"

/* Does the connection lead to an earlier master?  A connection that still asks a
 * Sentinel leads to no master yet, and will get the new one. */
static bool leads_to_old_master(const struct redis_link *link)
{
    return link->conn != NULL && link->conn->era != 0 &&
           redis_watch_is_elsewhere(link->watch, link->conn);
}

/* Cut the connections to the old master, and do not leave the server alone, because the
 * new address was not tried yet. */
static void leave_old_master(struct redis_link *link)
{
    redis_link_group_lock(link->group);
    if (leads_to_old_master(link))
        redis_wire_cut(link->conn->wire);
    link->pause_ms = 0;
    redis_link_group_unlock(link->group);
}

/* In the thread of the watch. */
static void on_named(void *arg)
{
    struct redis_link *link = arg;

    leave_old_master(link);
    for (int i = 0; i < REDIS_TWINS; i++)
        if (atomic_load(&link->twins[i]) != NULL)
            leave_old_master(atomic_load(&link->twins[i]));
}

bool redis_link_follow_master(struct redis_link *link)
{
    return link->url.sentinel_count == 0 ||
           redis_watch_open(&link->watch, &link->url, on_named, link);
}
