/* SPDX-License-Identifier: MIT */
/* redis_link.c -- the connections to one server, and when to leave it alone.
 *
 * The mutex is never held while anything is sent or received. */
#include "lock/stores/redis_link.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "lock/clock.h"
#include "lock/dlock_variant.h"
#include "lock/stores/redis_pool.h"

enum { PAUSE_FIRST_MS = 50, PAUSE_MAX_MS = 500 };

struct redis_link {
    struct redis_url url;
    int timeout_ms;
    bool slow_is_down;
    pthread_mutex_t mutex; /* of all below */
    struct redis_conn *idle;
    int pause_ms;           /* 0: the server is up as far as we know */
    int64_t alone_until_ns;
    char why[REDIS_WHY_SIZE]; /* it is down */
};

dlock_status redis_link_open(struct redis_link **out, const char *url, int timeout_ms,
                             bool slow_is_down)
{
    struct redis_link *link = calloc(1, sizeof(*link));
    char why[REDIS_WHY_SIZE];

    *out = NULL;
    if (link == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for a link to Redis");
    if (!redis_url_parse(url, &link->url, why, sizeof(why))) {
        free(link);
        return dlock_fail(DLOCK_INVALID, "the Redis URL cannot be read: %s", why);
    }
    link->timeout_ms = timeout_ms;
    link->slow_is_down = slow_is_down;
    pthread_mutex_init(&link->mutex, NULL);
    *out = link;
    return DLOCK_OK;
}

static void close_all(struct redis_conn *conn)
{
    while (conn != NULL) {
        struct redis_conn *next = conn->next;

        redis_conn_close(conn);
        conn = next;
    }
}

void redis_link_close(struct redis_link *link)
{
    if (link == NULL)
        return;
    close_all(link->idle);
    pthread_mutex_destroy(&link->mutex);
    free(link);
}

const char *redis_link_label(const struct redis_link *link)
{
    return link->url.label;
}

int redis_link_timeout_ms(const struct redis_link *link)
{
    return link->timeout_ms;
}

bool redis_link_is_left_alone(struct redis_link *link)
{
    int64_t now_ns = dlock_clock_ns();
    bool alone = false;

    pthread_mutex_lock(&link->mutex);
    if (link->pause_ms > 0) {
        alone = now_ns < link->alone_until_ns;
        if (!alone) /* this caller finds out, and the others go on leaving it alone */
            link->alone_until_ns = dlock_clock_after(now_ns, link->timeout_ms);
    }
    pthread_mutex_unlock(&link->mutex);
    return alone;
}

/* An idle connection that is fit for use, or NULL.  The ones that died meanwhile (the
 * server restarted, or closed them) are closed. */
static struct redis_conn *take_idle(struct redis_link *link)
{
    for (;;) {
        struct redis_conn *conn;

        pthread_mutex_lock(&link->mutex);
        conn = link->idle;
        if (conn != NULL)
            link->idle = conn->next;
        pthread_mutex_unlock(&link->mutex);
        if (conn == NULL || redis_conn_is_idle(conn))
            return conn;
        redis_conn_close(conn);
    }
}

struct redis_conn *redis_link_take(struct redis_link *link, bool insist, char *why,
                                   size_t why_size)
{
    struct redis_conn *conn = take_idle(link);

    if (conn != NULL)
        return conn;
    if (!insist && redis_link_is_left_alone(link)) {
        pthread_mutex_lock(&link->mutex);
        snprintf(why, why_size, "%s", link->why);
        pthread_mutex_unlock(&link->mutex);
        return NULL;
    }
    conn = redis_conn_open(&link->url);
    if (conn == NULL)
        snprintf(why, why_size, "%s: no memory for a connection", link->url.label);
    return conn;
}

void redis_link_give(struct redis_link *link, struct redis_conn *conn)
{
    pthread_mutex_lock(&link->mutex);
    link->pause_ms = 0;
    conn->next = link->idle;
    link->idle = conn;
    pthread_mutex_unlock(&link->mutex);
}

void redis_link_drop(struct redis_link *link, struct redis_conn *conn, bool was_slow)
{
    if (!conn->was_ready || (was_slow && link->slow_is_down)) {
        pthread_mutex_lock(&link->mutex);
        link->pause_ms = link->pause_ms == 0 ? PAUSE_FIRST_MS : link->pause_ms * 2;
        if (link->pause_ms > PAUSE_MAX_MS)
            link->pause_ms = PAUSE_MAX_MS;
        link->alone_until_ns = dlock_clock_after(dlock_clock_ns(), link->pause_ms);
        snprintf(link->why, sizeof(link->why), "%s", conn->why);
        pthread_mutex_unlock(&link->mutex);
    }
    redis_conn_close(conn);
}
