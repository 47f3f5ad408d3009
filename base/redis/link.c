/* SPDX-License-Identifier: MIT */
/* link.c -- the connection to one server: used and dropped; and when to leave the server
 * alone.
 *
 * A thread that uses the connection without the mutex has borrowed it.  If the
 * connection is dropped meanwhile, the last borrower closes it; the borrowers recognise
 * that by the serial. */
#include "base/redis/link.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/os/fiber.h"
#include "base/redis/link_inside.h"
#include "base/redis/tls.h"
#include "base/redis/traffic.h"
#include "base/redis/watch.h"

enum { PAUSE_FIRST_MS = 50, PAUSE_MAX_MS = 500 };

/* ---- life ---- */

static struct redis_link *new_link(struct redis_link *beside, const struct redis_url *url,
                                   int timeout_ms, bool slow_is_down)
{
    struct redis_link_group *group =
        beside != NULL ? beside->group : redis_link_group_open();
    struct redis_link *link = calloc(1, sizeof(*link));

    if (link != NULL && group != NULL && group->link_count < REDIS_GROUP_LINKS_MAX) {
        link->url = *url;
        link->group = group;
        link->timeout_ms = timeout_ms;
        link->slow_is_down = slow_is_down;
        group->links[group->link_count++] = link;
        group->user_count++;
    } else {
        free(link);
        link = NULL;
    }
    if (beside == NULL && group != NULL)
        redis_link_group_let_go(group);
    return link;
}

struct redis_link *redis_link_new(struct redis_link *beside, const struct redis_url *url,
                                  int timeout_ms, bool slow_is_down)
{
    struct redis_link *link = new_link(beside, url, timeout_ms, slow_is_down);

    if (link == NULL || (redis_tls_make(&link->url) && redis_link_follow_master(link)))
        return link;
    redis_link_close(link);
    return NULL;
}

struct redis_link *redis_link_new_routed(const struct redis_router *router, void *routes,
                                         const char *label)
{
    struct redis_link *link = calloc(1, sizeof(*link));

    if (link == NULL)
        return NULL;
    link->router = router;
    link->routes = routes;
    snprintf(link->url.label, sizeof(link->url.label), "%s", label);
    return link;
}

void redis_link_close(struct redis_link *link)
{
    struct redis_link_group *group;
    int last;

    if (link == NULL)
        return;
    if (link->router != NULL) {
        link->router->close(link->routes);
        free(link);
        return;
    }
    if (!link->is_twin)
        redis_watch_close(link->watch);
    for (int i = 0; i < REDIS_TWINS; i++)
        redis_link_close(atomic_load(&link->twins[i]));
    group = link->group;
    last = --group->link_count;
    for (int i = 0; i < last; i++)
        if (group->links[i] == link)
            group->links[i] = group->links[last];
    redis_conn_close(link->conn);
    while (link->talkers != NULL) {
        struct redis_conn *next = link->talkers->next;

        redis_conn_close(link->talkers);
        link->talkers = next;
    }
    redis_queue_free(&link->queue);
    if (!link->is_twin)
        redis_tls_drop(&link->url);
    explicit_bzero(&link->url, sizeof(link->url));
    free(link);
    redis_link_group_let_go(group);
}

/* Make a twin of a link for fibers.  The twins of links that are asked together can
 * be asked together too.  The caller holds the mutex. */
static struct redis_link *make_twin(struct redis_link *link, int which)
{
    struct redis_link *beside = NULL;
    struct redis_link *twin;

    for (int i = 0; i < link->group->link_count && beside == NULL; i++)
        beside = atomic_load(&link->group->links[i]->twins[which]);
    twin = new_link(beside, &link->url, link->timeout_ms, link->slow_is_down);
    if (twin != NULL) {
        twin->is_twin = true;
        redis_link_route(twin, link->late, link->late_arg);
        twin->watch = link->watch;
    }
    return twin;
}

struct redis_link *redis_link_here(struct redis_link *link)
{
    const struct dlock_fiber *fiber = dlock_fiber_here();
    int which = fiber != NULL && fiber->is_inner;
    struct redis_link *twin;

    if (fiber == NULL || link->is_twin)
        return link;
    twin = atomic_load(&link->twins[which]);
    if (twin != NULL)
        return twin;
    redis_link_group_lock(link->group);
    twin = atomic_load(&link->twins[which]);
    if (twin == NULL) {
        twin = make_twin(link, which);
        atomic_store(&link->twins[which], twin);
    }
    redis_link_group_unlock(link->group);
    return twin;
}

const char *redis_link_label(const struct redis_link *link)
{
    return link->url.label;
}

uint64_t redis_link_era(const struct redis_link *link)
{
    return redis_link_key_era(link, NULL);
}

uint64_t redis_link_key_era(const struct redis_link *link, const char *key)
{
    return link->router != NULL ? link->router->era(link->routes, key)
                                : redis_watch_era(link->watch);
}

bool redis_link_is_routed(const struct redis_link *link)
{
    return link->router != NULL;
}

void redis_link_need_replicas(struct redis_link *link, int count)
{
    link->replicas_needed = count;
}

int redis_link_replicas_needed(const struct redis_link *link)
{
    return link->replicas_needed;
}

const char *redis_link_script_text(const struct redis_link *link, const char *text)
{
    return link->router != NULL ? link->router->script_text(link->routes, text) : text;
}

void redis_link_address(const struct redis_link *link, struct redis_address *out)
{
    memcpy(out->host, link->url.host, sizeof(out->host));
    out->port = link->url.port;
}

/* ---- redirects ---- */

void redis_link_route(struct redis_link *link, void (*late)(void *arg), void *arg)
{
    link->late = late;
    link->late_arg = arg;
}

void redis_link_judge_redirect(const struct redis_link *link, struct redis_answer *answer)
{
    if (link->late != NULL && answer->redirect != REDIS_NO_REDIRECT)
        answer->outcome = REDIS_NOT_DONE;
}

/* ---- leaving it alone ---- */

bool redis_link_rests(struct redis_link *link)
{
    int64_t now_ns = dlock_clock_ns();

    if (link->pause_ms == 0)
        return false;
    if (now_ns < link->alone_until_ns)
        return true;
    /* This caller tries the server; for the others it stays left alone. */
    link->alone_until_ns = dlock_clock_after(now_ns, link->timeout_ms);
    return false;
}

bool redis_link_is_left_alone(struct redis_link *asked)
{
    struct redis_link *link = asked->router == NULL ? redis_link_here(asked) : NULL;
    bool rests;

    if (link == NULL)
        return false; /* several servers; or no memory, which the exchange says */
    redis_link_group_lock(link->group);
    rests = redis_link_rests(link);
    redis_link_group_unlock(link->group);
    return rests;
}

void redis_link_failed(struct redis_link *link, enum redis_outcome outcome, const char *why)
{
    link->alone_outcome = outcome == REDIS_PROTOCOL ? REDIS_PROTOCOL : REDIS_NOT_DONE;
    link->pause_ms = link->pause_ms == 0 ? PAUSE_FIRST_MS : link->pause_ms * 2;
    if (link->pause_ms > PAUSE_MAX_MS)
        link->pause_ms = PAUSE_MAX_MS;
    link->alone_until_ns = dlock_clock_after(dlock_clock_ns(), link->pause_ms);
    snprintf(link->why, sizeof(link->why), "%s", why);
}

/* ---- the connection ---- */

struct redis_conn *redis_link_borrow(struct redis_link *link)
{
    if (link->conn != NULL)
        link->conn->user_count++;
    return link->conn;
}

void redis_conn_return(struct redis_link *link, struct redis_conn *conn,
                       uint64_t serial)
{
    if (--conn->user_count == 0 && link->serial != serial)
        redis_conn_close(conn);
}

static void fail_all(struct redis_link *link, enum redis_outcome outcome, const char *why)
{
    uint64_t safe_from = redis_queue_safe_from(&link->queue, link->is_sending);

    while (redis_queue_count(&link->queue) > 0) {
        struct redis_request request = redis_queue_pop(&link->queue);
        bool has_left = request.begins_at < safe_from;

        if (request.trip == NULL)
            continue;
        redis_answer_fail(&request.trip->leg->answer,
                          outcome == REDIS_NOT_DONE && has_left ? REDIS_UNKNOWN
                                                                : outcome,
                          why);
        redis_leg_end(link->group, request.trip);
    }
    link->group->answered_count = 0; /* no exchange ended */
}

void redis_link_break(struct redis_link *link, enum redis_outcome outcome, const char *why,
                      bool was_slow)
{
    struct redis_conn *conn = link->conn;

    redis_traffic_failed();
    if (!link->is_ready || (was_slow && link->slow_is_down))
        redis_link_failed(link, outcome, why);
    fail_all(link, outcome, why);
    redis_queue_reset(&link->queue, link->is_sending);
    link->conn = NULL;
    link->is_ready = link->is_sending = link->is_full = false;
    link->hold_until_ns = 0;
    link->serial++;
    if (conn == NULL)
        return;
    redis_wire_cut(conn->wire); /* wakes a thread that sleeps on it */
    if (conn->user_count == 0)
        redis_conn_close(conn);
}

void redis_link_break_by(struct redis_link *link, enum redis_outcome outcome, const char *what)
{
    char why[REDIS_WHY_SIZE];

    snprintf(why, sizeof(why), "%.100s: %s", link->url.label, what);
    redis_link_break(link, outcome, why, false);
}

void redis_link_overdue(struct redis_link *link)
{
    char why[REDIS_WHY_SIZE];

    snprintf(why, sizeof(why), "%.100s: %s", link->url.label,
             link->conn != NULL && link->conn->wire != NULL ? redis_wire_silence(link->conn->wire)
                                                            : "no answer in time");
    redis_link_break(link, REDIS_NOT_DONE, why, true);
}

static void cut(struct redis_link *link)
{
    redis_link_group_lock(link->group);
    if (link->conn != NULL)
        redis_wire_cut(link->conn->wire);
    redis_link_group_unlock(link->group);
}

void redis_link_cut(struct redis_link *asked)
{
    struct redis_link *link;

    if (asked->router != NULL) {
        asked->router->cut(asked->routes);
        return;
    }
    link = redis_link_here(asked);
    if (link != NULL)
        cut(link);
}

/* Break the link.  A cut would wake the driver, but if only posts are under way there
 * is no driver, and no thread would end them. */
static void drop(struct redis_link *link)
{
    redis_link_group_lock(link->group);
    if (link->conn != NULL || redis_queue_count(&link->queue) > 0)
        redis_link_break_by(link, REDIS_NOT_DONE, "another server has its place");
    redis_link_group_unlock(link->group);
}

void redis_link_drop(struct redis_link *link)
{
    drop(link);
    for (int i = 0; i < REDIS_TWINS; i++)
        if (atomic_load(&link->twins[i]) != NULL)
            drop(atomic_load(&link->twins[i]));
}
