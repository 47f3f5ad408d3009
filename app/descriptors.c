/* SPDX-License-Identifier: MIT */
/* descriptors.c -- computes how many connections the limit of file descriptors
 * allows. */
#include "app/descriptors.h"

#include <sys/resource.h>

enum {
    OTHERS = 128,    /* logs, Redis, ZooKeeper, the lock's own sessions, libraries */
    CLIENTS_MIN = 16 /* with fewer connections the service does not start */
};

bool descriptors_plan(const struct config *c, int64_t queued, int64_t open[2],
                      size_t *descriptors)
{
    struct rlimit limit = {0};
    /* Readiness has a connection of its own to each database. */
    int64_t databases = (c->database_connections + 1) * (int64_t)c->databases.count;
    int64_t others = OTHERS + queued + databases + c->workers;
    int64_t wanted = open[0] + open[1] + others;
    int64_t allowed = wanted;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < (rlim_t)wanted)
        allowed = (int64_t)limit.rlim_cur;
    if (allowed < wanted) {
        int64_t room = allowed - others;

        open[1] = open[1] < room / 4 ? open[1] : room / 4;
        open[0] = room - open[1];
        if (open[1] < CLIENTS_MIN || open[0] < CLIENTS_MIN) {
            log_error("out of file descriptors: the limit is %lld and this service needs "
                      "%lld; raise `ulimit -n`, or lower --connections, --workers or "
                      "--database-connections",
                      (long long)allowed, (long long)wanted);
            return false;
        }
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
