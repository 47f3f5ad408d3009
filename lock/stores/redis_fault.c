/* SPDX-License-Identifier: MIT */
/* redis_fault.c -- requests to Redis that are made to fail. */
#include "lock/stores/redis_fault.h"

#include <sys/socket.h>

#include "base/redis/link_inside.h"
#include "lock/dlock_variant.h"

/* Whoever reads from it finds its end, as if the server had hung up. */
static void cut(struct redis_conn *conn)
{
    if (conn != NULL && conn->context != NULL)
        shutdown(conn->context->fd, SHUT_RDWR);
}

static dlock_status fail(dlock_status st, struct redis_link *link, const char *what)
{
    return dlock_fail(st, "%s: %s, by a fault that was armed", redis_link_label(link),
                      what);
}

dlock_status redis_fault_reach(struct redis_link *link, dlock_fault_point point,
                               const char *key)
{
    dlock_fault_action action = DLOCK_FAULT_ASK(point, key);

    if (action == DLOCK_FAULT_FAIL)
        return fail(DLOCK_IO, link, "not sent");
    if (action == DLOCK_FAULT_CUT) {
        redis_hub_lock(link->hub);
        cut(link->conn);
        redis_hub_unlock(link->hub);
    }
    return DLOCK_OK;
}

dlock_status redis_fault_reach_talk(struct redis_talk *talk, dlock_fault_point point,
                                    const char *key)
{
    dlock_fault_action action = DLOCK_FAULT_ASK(point, key);

    if (action == DLOCK_FAULT_FAIL)
        return fail(DLOCK_IO, talk->link, "not sent");
    if (action == DLOCK_FAULT_CUT)
        cut(talk->conn);
    return DLOCK_OK;
}

dlock_status redis_fault_reach_after(struct redis_link *link, const char *key)
{
    dlock_status st = redis_fault_reach(link, DLOCK_FAULT_AFTER_REPLY, key);

    return st == DLOCK_OK ? st : fail(DLOCK_UNKNOWN, link, "the answer is dropped");
}
