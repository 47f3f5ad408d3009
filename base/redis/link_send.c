/* SPDX-License-Identifier: MIT */
/* link_send.c -- sends queued requests. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/redis/link_inside.h"

enum { HOLD_NS = 500000 };

bool redis_link_holds(const struct redis_link *link)
{
    return link->hold_until_ns != 0 && redis_queue_is_answering(&link->queue) &&
           dlock_clock_ns() < link->hold_until_ns;
}

/* Everything is sent.  The link holds later requests back only if the driver is awake,
 * because the driver then sleeps no longer than until the link has to send. */
static void begin_to_hold(struct redis_link *link)
{
    const struct redis_link_group *group = link->group;

    link->hold_until_ns = 0;
    if (group->link_count > 1 && !link->is_twin && group->is_driven && !group->is_polling)
        link->hold_until_ns = dlock_clock_ns() + HOLD_NS;
}

/* Send `len` bytes with the mutex free.  As redis_wire_send(). */
static ssize_t send_some(struct redis_link *link, const char *bytes, size_t len)
{
    struct redis_wire *wire = link->conn->wire;
    ssize_t sent;

    redis_link_group_unlock(link->group);
    sent = redis_wire_send(wire, bytes, len);
    redis_link_group_lock(link->group);
    return sent;
}

void redis_link_send(struct redis_link *link)
{
    struct redis_conn *conn;
    uint64_t serial = link->serial;

    if (!link->is_ready || link->is_sending || link->is_full ||
        !redis_queue_has_to_send(&link->queue) || redis_link_holds(link))
        return;
    conn = redis_link_borrow(link);
    link->is_sending = true;
    do {
        size_t len;
        const char *bytes = redis_queue_to_send(&link->queue, &len);
        char *buffer = link->queue.leaving.at;
        ssize_t sent = send_some(link, bytes, len);

        if (link->serial != serial) {
            free(buffer);
            break;
        }
        if (sent >= 0) {
            redis_queue_sent(&link->queue, (size_t)sent);
            begin_to_hold(link);
        } else if (sent == -EAGAIN) {
            link->is_full = true;
            redis_link_group_nudge(link->group);
        } else {
            link->is_sending = false; /* these bytes were not sent */
            redis_link_break_by(link, REDIS_NOT_DONE, redis_wire_why(conn->wire, (int)-sent));
            break;
        }
    } while (!link->is_full && redis_queue_has_to_send(&link->queue) &&
             !redis_link_holds(link));
    if (link->serial == serial)
        link->is_sending = false;
    redis_conn_return(link, conn, serial);
}

void redis_link_send_now(struct redis_link *link)
{
    link->hold_until_ns = 0;
    redis_link_send(link);
}
