/* SPDX-License-Identifier: MIT */
/* subscription.c -- one connection and one thread that listen for all waiters.
 *
 * Only the thread uses the connection.  Waiters change the lists of channels, and wake
 * the thread by an event. */
#include "base/redis/subscription.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/os/event.h"
#include "base/os/random.h"
#include "base/os/thread.h"
#include "base/redis/channels.h"
#include "base/redis/command.h"
#include "base/redis/connection.h"
#include "base/redis/resolve.h"
#include "base/redis/tls.h"

enum {
    PAUSE_FIRST_MS = 20, /* between connects; doubles until the server answers
                          * correctly */
    PAUSE_MAX_MS = 1000,
    PAUSE_MAX_SENTINEL_MS = 250, /* a fail-over lasts seconds, and waiters wait for it */
    VERB_SIZE = 16,
    QUIET_MS = 5000,     /* after such a silence a PING checks that the server lives */
};

struct redis_subscription {
    /* NULL: one server.  Otherwise only `router` and `routes` are used. */
    const struct redis_subscription_router *router;
    void *routes;
    struct redis_url url;
    int timeout_ms;
    int nudge_fd;
    struct redis_channels channels;
    struct dlock_mutex start_mutex;
    bool is_running; /* under start_mutex */
    struct dlock_thread thread;
    atomic_bool stopping;
    struct redis_watch *watch; /* watches the Sentinels; NULL: the URL names none */
    /* The thread's own: */
    struct redis_conn *conn;
    struct redis_message message;
    char *out;
    size_t out_len, out_sent;
    int pause_ms;
    int64_t heard_ns;
    bool has_pinged;
};

static void nudge(void *arg)
{
    const struct redis_subscription *sub = arg;

    dlock_event_raise(sub->nudge_fd, 1);
}

/* ---- the thread ---- */

/* Append a command to the send buffer.  False: no memory. */
static bool say_command(struct redis_subscription *sub,
                        const struct redis_command *command)
{
    struct redis_written written;
    char *longer;

    if (!redis_command_write(&written, command))
        return false;
    longer = realloc(sub->out, sub->out_len + written.len);
    if (longer != NULL) {
        memcpy(longer + sub->out_len, written.bytes, written.len);
        sub->out = longer;
        sub->out_len += written.len;
    }
    redis_written_free(&written);
    return longer != NULL;
}

static bool say(void *arg, const char *verb, const char *name)
{
    struct redis_subscription *sub = arg;
    char sharded[VERB_SIZE];
    struct redis_command command = {2, {verb, name}, REDIS_SHAPE_ANY};

    if (sub->channels.is_sharded) {
        snprintf(sharded, sizeof(sharded), "S%s", verb);
        command.argv[0] = sharded;
    }
    return say_command(sub, &command);
}

/* The kind of a message, without the leading "s" of sharded channels. */
static const char *kind_of(const struct redis_subscription *sub, const char *kind)
{
    return sub->channels.is_sharded && kind[0] == 's' ? kind + 1 : kind;
}

/* Read once from the socket, because what arrives may have no end, and handle all messages that
 * have come whole.  False: a message does not fit the commands that were sent. */
static bool hear_some(struct redis_subscription *sub)
{
    bool makes_sense = true;

    (void)redis_conn_feed(sub->conn);
    while (makes_sense && redis_conn_read_one(sub->conn)) {
        const char *const *parts = sub->message.parts;

        sub->heard_ns = dlock_clock_ns();
        sub->has_pinged = false;
        if (parts[0] != NULL && parts[1] != NULL)
            makes_sense = redis_channels_hear(&sub->channels, kind_of(sub, parts[0]), parts[1],
                                              parts[2]);
        else if (sub->message.is_error && sub->channels.is_sharded)
            makes_sense = false; /* the node does not have the slot of a channel, or not
                                  * yet */
        if (makes_sense && parts[0] != NULL)
            sub->pause_ms = PAUSE_FIRST_MS;
        redis_message_clear(&sub->message);
    }
    return makes_sense && sub->conn->state != REDIS_BROKEN;
}

/* Sleep until nudged, something to read or room to write, or until `until_ns`. */
static void rest(struct redis_subscription *sub, int64_t until_ns)
{
    struct redis_wire_look look = {.wanted = REDIS_WIRE_CAN_RECEIVE};

    if (sub->conn != NULL)
        look.wire = sub->conn->wire;
    if (sub->out_sent < sub->out_len)
        look.wanted |= REDIS_WIRE_CAN_SEND;
    (void)redis_wire_wait(&look, 1, sub->nudge_fd, until_ns);
}

static void pause_before_connect(struct redis_subscription *sub)
{
    int most_ms = sub->watch != NULL ? PAUSE_MAX_SENTINEL_MS : PAUSE_MAX_MS;
    int half_ms = sub->pause_ms / 2;
    int pause_ms = half_ms + (int)dlock_random_below((uint32_t)half_ms + 1);
    int64_t until_ns = dlock_clock_after(dlock_clock_ns(), pause_ms);

    while (!atomic_load(&sub->stopping) && dlock_clock_ns() < until_ns)
        rest(sub, until_ns);
    sub->pause_ms = sub->pause_ms * 2 > most_ms ? most_ms : sub->pause_ms * 2;
}

static bool open_connection(struct redis_subscription *sub)
{
    struct redis_conn *conn = redis_resolve_open(&sub->url, sub->watch);

    if (conn == NULL)
        return false;
    redis_conn_finish(conn, dlock_clock_after(dlock_clock_ns(), sub->timeout_ms));
    if (conn->state != REDIS_READY) {
        redis_conn_close(conn);
        return false;
    }
    sub->conn = conn;
    redis_conn_expect_messages(conn, &sub->message);
    sub->heard_ns = dlock_clock_ns();
    sub->has_pinged = false;
    return true;
}

static void close_connection(struct redis_subscription *sub)
{
    redis_conn_close(sub->conn);
    sub->conn = NULL;
    free(sub->out);
    sub->out = NULL;
    sub->out_len = sub->out_sent = 0;
    redis_channels_reset(&sub->channels);
}

/* Send the commands that are due.  False: close the connection. */
static bool speak(struct redis_subscription *sub)
{
    if (!redis_channels_settle(&sub->channels, say, sub) ||
        !redis_conn_send(sub->conn, sub->out, sub->out_len, &sub->out_sent))
        return false;
    if (sub->out_sent == sub->out_len)
        sub->out_sent = sub->out_len = 0;
    return true;
}

/* Has the server been silent for too long?  Before that, one PING is sent. */
static bool is_dead(struct redis_subscription *sub, int64_t *look_again_ns)
{
    static const struct redis_command ping = {1, {"PING"}, REDIS_SHAPE_ANY};
    int64_t now_ns = dlock_clock_ns();

    *look_again_ns = dlock_clock_after(
        sub->heard_ns, sub->has_pinged ? QUIET_MS + sub->timeout_ms : QUIET_MS);
    if (now_ns < *look_again_ns)
        return false;
    if (sub->has_pinged || !say_command(sub, &ping))
        return true;
    sub->has_pinged = true;
    *look_again_ns = dlock_clock_after(now_ns, sub->timeout_ms);
    return false;
}

static void listen_on(struct redis_subscription *sub)
{
    int64_t look_again_ns;
    int64_t linger_ns;

    while (!atomic_load(&sub->stopping)) {
        if (is_dead(sub, &look_again_ns) ||
            redis_watch_is_elsewhere(sub->watch, sub->conn) || !speak(sub))
            return;
        linger_ns = dlock_clock_after(dlock_clock_ns(), REDIS_LINGER_MS);
        rest(sub, look_again_ns < linger_ns ? look_again_ns : linger_ns);
        if (!hear_some(sub))
            return;
    }
}

static void *run(void *arg)
{
    struct redis_subscription *sub = arg;

    while (!atomic_load(&sub->stopping)) {
        if (sub->channels.is_sharded && redis_channels_is_empty(&sub->channels)) {
            rest(sub, dlock_clock_after(dlock_clock_ns(), REDIS_LINGER_MS));
            continue;
        }
        if (open_connection(sub))
            listen_on(sub);
        close_connection(sub);
        pause_before_connect(sub);
    }
    return NULL;
}

/* ---- for the others ---- */

struct redis_subscription *redis_subscription_new(const struct redis_url *url,
                                                  int timeout_ms)
{
    struct redis_subscription *sub = calloc(1, sizeof(*sub));

    if (sub == NULL)
        return NULL;
    sub->url = *url;
    sub->timeout_ms = timeout_ms;
    sub->pause_ms = PAUSE_FIRST_MS;
    sub->nudge_fd = dlock_event_open();
    if (sub->nudge_fd < 0 || !redis_tls_make(&sub->url) ||
        (url->sentinel_count > 0 && !redis_watch_open(&sub->watch, &sub->url, nudge, sub))) {
        dlock_event_close(sub->nudge_fd);
        redis_tls_drop(&sub->url);
        free(sub);
        return NULL;
    }
    dlock_mutex_init(&sub->start_mutex);
    redis_channels_init(&sub->channels, nudge, sub);
    return sub;
}

struct redis_subscription *redis_subscription_new_sharded(
    const struct redis_url *url, int timeout_ms,
    struct redis_channels *(*elsewhere)(void *arg, const char *name), void *arg)
{
    struct redis_subscription *sub = redis_subscription_new(url, timeout_ms);

    if (sub == NULL)
        return NULL;
    sub->channels.is_sharded = true;
    sub->channels.elsewhere = elsewhere;
    sub->channels.elsewhere_arg = arg;
    return sub;
}

struct redis_subscription *redis_subscription_new_routed(
    const struct redis_subscription_router *router, void *routes)
{
    struct redis_subscription *sub = calloc(1, sizeof(*sub));

    if (sub == NULL)
        return NULL;
    sub->router = router;
    sub->routes = routes;
    return sub;
}

void redis_subscription_tell(struct redis_subscription *sub,
                             bool (*tell)(void *arg, const char *channel), void *arg)
{
    if (sub->router != NULL) {
        sub->router->tell(sub->routes, tell, arg);
        return;
    }
    sub->channels.tell = tell;
    sub->channels.tell_arg = arg;
}

bool redis_subscription_listens(struct redis_subscription *sub, const char *channel)
{
    if (sub->router != NULL)
        sub = sub->router->pick(sub->routes, channel);
    return sub != NULL && redis_channels_listens(&sub->channels, channel);
}

void redis_subscription_close(struct redis_subscription *sub)
{
    if (sub == NULL)
        return;
    if (sub->router != NULL) {
        sub->router->close(sub->routes);
        free(sub);
        return;
    }
    if (sub->is_running) {
        atomic_store(&sub->stopping, true);
        nudge(sub);
        dlock_thread_join(&sub->thread);
    }
    redis_watch_close(sub->watch);
    redis_channels_destroy(&sub->channels);
    dlock_mutex_destroy(&sub->start_mutex);
    dlock_event_close(sub->nudge_fd);
    redis_tls_drop(&sub->url);
    explicit_bzero(&sub->url, sizeof(sub->url));
    free(sub);
}

struct redis_channels *redis_subscription_channels(struct redis_subscription *sub)
{
    bool is_running;

    dlock_mutex_lock(&sub->start_mutex);
    if (!sub->is_running)
        sub->is_running = dlock_thread_start(&sub->thread, run, sub) == 0;
    is_running = sub->is_running;
    dlock_mutex_unlock(&sub->start_mutex);
    return is_running ? &sub->channels : NULL;
}

struct redis_waiter *redis_subscription_join(struct redis_subscription *sub,
                                             const char *channel,
                                             struct redis_wake wake)
{
    struct redis_channels *channels;

    if (sub->router != NULL)
        sub = sub->router->pick(sub->routes, channel);
    channels = sub != NULL ? redis_subscription_channels(sub) : NULL;
    return channels != NULL ? redis_channels_join(channels, channel, wake) : NULL;
}
