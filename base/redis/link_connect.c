/* SPDX-License-Identifier: MIT */
/* link_connect.c -- connects a link to its server, step by step.
 *
 * The mutex is free while a host name is resolved.  The other threads of the group see their
 * requests end in time, and may drop the connection meanwhile. */
#include "base/redis/link_inside.h"
#include "base/redis/resolve.h"
#include "base/redis/traffic.h"
#include "base/redis/watch.h"

/* Begin to connect.  This can take long if a host name has to be resolved. */
static void connect_anew(struct redis_link *link)
{
    uint64_t serial = link->serial;
    struct redis_conn *conn;

    redis_link_group_unlock(link->group);
    conn = redis_resolve_open(&link->url, link->watch);
    redis_link_group_lock(link->group);
    if (link->serial != serial)
        redis_conn_close(conn);
    else if (conn == NULL)
        redis_link_break_by(link, REDIS_NO_MEMORY, "no memory for a connection");
    else
        link->conn = conn;
}

/* Open the wire to the next server that the connection needs, which can take as long. */
static void open_wire(struct redis_link *link)
{
    uint64_t serial = link->serial;
    struct redis_conn *conn = redis_link_borrow(link);
    struct redis_wire *wire;
    char why[REDIS_WHY_SIZE];

    redis_link_group_unlock(link->group);
    wire = redis_wire_open(conn->url, why);
    redis_link_group_lock(link->group);
    if (link->serial == serial)
        redis_conn_take_wire(conn, wire, why);
    else
        redis_wire_close(wire);
    redis_conn_return(link, conn, serial);
}

void redis_link_advance(struct redis_link *link)
{
    if (link->conn == NULL && redis_queue_count(&link->queue) > 0)
        connect_anew(link);
    while (link->conn != NULL) {
        redis_conn_advance(link->conn);
        if (link->conn->state != REDIS_OPENING)
            break;
        open_wire(link);
    }
    if (link->conn == NULL)
        return;
    if (link->conn->state == REDIS_READY && !link->is_ready) {
        link->is_ready = !redis_watch_is_elsewhere(link->watch, link->conn);
        if (link->is_ready)
            redis_traffic_opened();
    }
    if (link->conn->state == REDIS_READY && !link->is_ready)
        redis_link_break_by(link, REDIS_NOT_DONE, "a Sentinel has named another master");
    else if (link->conn->state == REDIS_BROKEN)
        redis_link_break(link, link->conn->outcome, link->conn->why, false);
}
