/* SPDX-License-Identifier: MIT */
/* connections.c -- every client connection of the process, and its state. */
#include "app/connections.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "app/limited.h"
#include "app/metrics.h"
#include "base/text/log.h"

struct connections {
    struct connections_limits limits;
    pthread_mutex_t mutex; /* for adding, removing and ending; the state changes without */
    size_t descriptors;
    size_t used; /* above the highest descriptor so far */
    _Atomic int64_t open[CONNECTION_LISTENERS];
    _Atomic int64_t ending[CONNECTION_LISTENERS]; /* of those, shut down and not closed */
    uint64_t ends[CONNECTION_LISTENERS][CONNECTION_END_COUNT];
    struct connection at[]; /* by descriptor */
};

struct connections *connections_new(size_t descriptors,
                                    const struct connections_limits *limits)
{
    struct connections *cs =
        calloc(1, sizeof(*cs) + descriptors * sizeof(struct connection));

    if (cs == NULL)
        return NULL;
    (void)pthread_mutex_init(&cs->mutex, NULL);
    cs->limits = *limits;
    cs->descriptors = descriptors;
    return cs;
}

void connections_free(struct connections *cs)
{
    if (cs != NULL)
        (void)pthread_mutex_destroy(&cs->mutex);
    free(cs);
}

/* May it be ended in this state? */
static bool may_end(int state)
{
    switch (state) {
#define X(id, name, may)                                                               \
    case CONNECTION_##id: return may;
        CONNECTION_STATES(X)
#undef X
    default: return false;
    }
}

/* Shut it down, unless its thread has just begun to work; the mutex is held. */
static bool end_one(struct connections *cs, struct connection *c,
                    enum connection_end why)
{
    int state = atomic_load(&c->state);

    if (!may_end(state) ||
        !atomic_compare_exchange_strong(&c->state, &state, CONNECTION_ENDED))
        return false;
    c->end = why;
    cs->ending[c->listener]++;
    (void)shutdown(c->fd, SHUT_RDWR);
    return true;
}

/* End the one that has been without a request for longest, but not `newest`: of this
 * listener, and of this address if one is given.  False: none could be ended. */
static bool end_oldest(struct connections *cs, const struct connection *newest,
                       uint32_t address, enum connection_end why)
{
    struct connection *oldest = NULL;
    int64_t oldest_ns = INT64_MAX;

    for (size_t i = 0; i < cs->used; i++) {
        struct connection *c = &cs->at[i];
        int64_t since_ns = atomic_load_explicit(&c->since_ns, memory_order_relaxed);

        if (c == newest || c->listener != newest->listener || since_ns >= oldest_ns ||
            (address != 0 && c->address != address) ||
            !may_end(atomic_load_explicit(&c->state, memory_order_relaxed)))
            continue;
        oldest = c;
        oldest_ns = since_ns;
    }
    return oldest != NULL && end_one(cs, oldest, why);
}

/* Loopback and the fronts bring many clients' requests. */
static bool is_bounded(const struct connections *cs, uint32_t address)
{
    if (cs->limits.per_address == 0 || (ntohl(address) >> 24) == 127)
        return false;
    for (size_t i = 0; i < cs->limits.front_count; i++)
        if (cs->limits.fronts[i] == address)
            return false;
    return true;
}

static int64_t count_address(const struct connections *cs, const struct connection *of)
{
    int64_t count = 0;

    for (size_t i = 0; i < cs->used; i++) {
        int state = atomic_load_explicit(&cs->at[i].state, memory_order_relaxed);

        count += state != CONNECTION_FREE && state != CONNECTION_ENDED &&
                 cs->at[i].address == of->address && cs->at[i].listener == of->listener;
    }
    return count;
}

bool connections_are_crowded(struct connections *cs, int listener)
{
    return atomic_load_explicit(&cs->open[listener], memory_order_relaxed) -
               atomic_load_explicit(&cs->ending[listener], memory_order_relaxed) >
           cs->limits.open[listener];
}

/* Count the connection as closed; the mutex is held. */
static void forget(struct connections *cs, struct connection *c)
{
    int state = atomic_load(&c->state);

    if (state == CONNECTION_FREE)
        return;
    cs->ending[c->listener] -= state == CONNECTION_ENDED;
    cs->open[c->listener]--;
    cs->ends[c->listener][c->end]++;
    atomic_store(&c->state, CONNECTION_FREE);
}

bool connections_add(struct connections *cs, int listener, int fd, uint32_t address)
{
    struct connection *c = NULL;

    if ((size_t)fd >= cs->descriptors)
        return false;
    (void)pthread_mutex_lock(&cs->mutex);
    c = &cs->at[fd];
    forget(cs, c); /* one that was closed without a thread */
    c->fd = fd;
    c->listener = listener;
    c->address = address;
    c->is_over = false;
    c->end = CONNECTION_END_CLIENT;
    atomic_store(&c->since_ns, monotonic_ns());
    atomic_store(&c->state, CONNECTION_NEW);
    cs->open[listener]++;
    if (cs->used <= (size_t)fd)
        cs->used = (size_t)fd + 1;
    if (is_bounded(cs, address) && count_address(cs, c) > cs->limits.per_address)
        c->is_over = !end_oldest(cs, c, address, CONNECTION_END_ADDRESS);
    while (connections_are_crowded(cs, listener) &&
           end_oldest(cs, c, 0, CONNECTION_END_CROWDED))
        ;
    (void)pthread_mutex_unlock(&cs->mutex);
    return true;
}

struct connection *connections_find(struct connections *cs, int fd)
{
    if (fd < 0 || (size_t)fd >= cs->descriptors ||
        atomic_load(&cs->at[fd].state) == CONNECTION_FREE)
        return NULL;
    return &cs->at[fd];
}

void connections_remove(struct connections *cs, struct connection *c)
{
    if (c == NULL)
        return;
    (void)pthread_mutex_lock(&cs->mutex);
    forget(cs, c);
    (void)pthread_mutex_unlock(&cs->mutex);
}

/* A state in which a client can stay for long begins at the exact time, so that the oldest
 * connection is found; the other states of a request follow within microseconds. */
static int64_t now_ns(enum connection_state state)
{
    bool is_exact = state == CONNECTION_HEAD || state == CONNECTION_BETWEEN;

    return is_exact ? monotonic_ns() : monotonic_coarse_ns();
}

bool connection_enter(struct connection *c, enum connection_state state)
{
    int before = CONNECTION_FREE;

    if (c == NULL)
        return true;
    before = atomic_load_explicit(&c->state, memory_order_relaxed);
    if (state != CONNECTION_WORKING) /* which may not be ended, however long it takes */
        atomic_store_explicit(&c->since_ns, now_ns(state), memory_order_relaxed);
    return before != CONNECTION_ENDED &&
           atomic_compare_exchange_strong(&c->state, &before, (int)state);
}

void connections_end_idle(struct connections *cs, int64_t answering_ms)
{
    int64_t before_ns = monotonic_ns() - answering_ms * 1000000;

    (void)pthread_mutex_lock(&cs->mutex);
    for (size_t i = 0; i < cs->used; i++)
        if (atomic_load(&cs->at[i].state) != CONNECTION_ANSWERING ||
            atomic_load(&cs->at[i].since_ns) < before_ns)
            (void)end_one(cs, &cs->at[i], CONNECTION_END_STOPPING);
    (void)pthread_mutex_unlock(&cs->mutex);
}

static const char *const LISTENERS[CONNECTION_LISTENERS] = {"orders", "admin"};

static void write_states(struct connections *cs, struct text *out)
{
    static const char *const NAMES[] = {
#define X(id, name, may_end) name,
        CONNECTION_STATES(X)
#undef X
    };
    int64_t counts[CONNECTION_LISTENERS][CONNECTION_ENDED + 1] = {{0}};

    for (size_t i = 0; i < cs->used; i++)
        counts[cs->at[i].listener][atomic_load(&cs->at[i].state)]++;
    metrics_head(out, "seckill_http_connections", "gauge",
                 "Open client connections, by what they are doing.");
    for (int l = 0; l < CONNECTION_LISTENERS; l++)
        for (int s = CONNECTION_FREE + 1; s < CONNECTION_ENDED; s++)
            text_add(out,
                     "seckill_http_connections{listener=\"%s\",state=\"%s\"} %" PRId64
                     "\n",
                     LISTENERS[l], NAMES[s - 1], counts[l][s]);
}

void connections_write(struct connections *cs, struct text *out)
{
    static const char *const REASONS[] = {
#define X(id, name) name,
        CONNECTION_ENDS(X)
#undef X
    };

    (void)pthread_mutex_lock(&cs->mutex);
    write_states(cs, out);
    metrics_head(out, "seckill_http_connections_ended_total", "counter",
                 "Client connections that came to their end, by the reason.");
    for (int l = 0; l < CONNECTION_LISTENERS; l++)
        for (int r = 0; r < CONNECTION_END_COUNT; r++)
            text_add(out,
                     "seckill_http_connections_ended_total{listener=\"%s\",reason=\"%s\"} "
                     "%" PRIu64 "\n",
                     LISTENERS[l], REASONS[r], cs->ends[l][r]);
    (void)pthread_mutex_unlock(&cs->mutex);
}
