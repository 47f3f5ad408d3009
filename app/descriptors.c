/* SPDX-License-Identifier: MIT */
/* descriptors.c -- computes how many connections the limit of file descriptors
 * allows. */
#include "app/descriptors.h"

#include <sys/resource.h>

enum {
    OTHERS = 128,    /* logs, Redis, ZooKeeper, the lock's own sessions, libraries */
    CLIENTS_MIN = 16 /* with fewer connections the service does not start, unless the
                      * setting is lower */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Divide the room between the listeners: a quarter for the admin listener, if both get
 * their minimum and no more than their setting. */
static void divide(int64_t room, int64_t min_orders, int64_t min_admin, int64_t open[2])
{
    int64_t low = most(min_admin, room - open[0]);
    int64_t high = least(open[1], room - min_orders);

    open[1] = least(most(room / 4, low), high);
    open[0] = room - open[1];
}

bool descriptors_plan(const struct config *c, int64_t queued, int64_t open[2],
                      size_t *descriptors)
{
    struct rlimit limit = {0};
    /* Readiness has a connection of its own to each database. */
    int64_t databases = (c->database_connections + 1) * (int64_t)c->databases.count;
    int64_t others = OTHERS + queued + databases + c->workers;
    int64_t min_orders = least(open[0], CLIENTS_MIN);
    int64_t min_admin = least(open[1], CLIENTS_MIN);
    int64_t needed = min_orders + min_admin + others;
    int64_t wanted = open[0] + open[1] + others;
    int64_t allowed = wanted;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < (rlim_t)wanted)
        allowed = (int64_t)limit.rlim_cur;
    if (allowed < needed) {
        log_error("out of file descriptors: the limit is %lld; this service needs at least "
                  "%lld, and %lld for --connections=%lld and --admin-connections=%lld; raise "
                  "`ulimit -n`, or lower --workers or --database-connections",
                  (long long)allowed, (long long)needed, (long long)wanted,
                  (long long)open[0], (long long)open[1]);
        return false;
    }
    if (allowed < wanted) {
        divide(allowed - others, min_orders, min_admin, open);
        log_warn("--connections=%lld and --admin-connections=%lld need %lld file "
                 "descriptors and the limit is %lld (`ulimit -n`): %lld and %lld clients "
                 "may be connected at once",
                 (long long)c->connections, (long long)c->admin_connections,
                 (long long)wanted, (long long)allowed, (long long)open[0],
                 (long long)open[1]);
    }
    *descriptors = (size_t)wanted + OTHERS;
    return true;
}
