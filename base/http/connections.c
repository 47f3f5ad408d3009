/* SPDX-License-Identifier: MIT */
/* connections.c -- the table of the client connections of the process. */
#include "base/http/connections.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/os/clock.h"
#include "base/os/mutex.h"

struct connections {
    struct connections_limits limits;
    struct dlock_mutex mutex; /* held to add, remove and end; the state changes without
                               * it */
    size_t descriptors;
    size_t used; /* above the highest descriptor so far */
    _Atomic int64_t open[CONNECTION_LISTENERS];
    _Atomic int64_t ending[CONNECTION_LISTENERS]; /* connections that were shut down and
                                                   * are not closed yet */
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
    dlock_mutex_init(&cs->mutex);
    cs->limits = *limits;
    cs->descriptors = descriptors;
    return cs;
}

void connections_free(struct connections *cs)
{
    if (cs != NULL)
        dlock_mutex_destroy(&cs->mutex);
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

/* Shut a connection down, unless its thread has just begun to work.  The caller holds
 * the mutex. */
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

/* End the connection that has been without a request for longest, among those of this
 * listener, and of this address if one is given, except `newest`.  False: none could be
 * ended. */
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

/* Does the limit per address hold?  Not for loopback and the fronts, because they bring
 * the requests of many clients. */
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

/* Count a connection as closed.  The caller holds the mutex. */
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
    dlock_mutex_lock(&cs->mutex);
    c = &cs->at[fd];
    forget(cs, c); /* a connection that was closed without a thread */
    c->fd = fd;
    c->listener = listener;
    c->address = address;
    c->is_over = false;
    c->end = CONNECTION_END_CLIENT;
    atomic_store(&c->since_ns, dlock_clock_ns());
    atomic_store(&c->state, CONNECTION_NEW);
    cs->open[listener]++;
    if (cs->used <= (size_t)fd)
        cs->used = (size_t)fd + 1;
    if (is_bounded(cs, address) && count_address(cs, c) > cs->limits.per_address)
        c->is_over = !end_oldest(cs, c, address, CONNECTION_END_ADDRESS);
    while (connections_are_crowded(cs, listener) &&
           end_oldest(cs, c, 0, CONNECTION_END_CROWDED))
        ;
    dlock_mutex_unlock(&cs->mutex);
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
    dlock_mutex_lock(&cs->mutex);
    forget(cs, c);
    dlock_mutex_unlock(&cs->mutex);
}

bool connection_enter(struct connection *c, enum connection_state state)
{
    int before = CONNECTION_FREE;

    if (c == NULL)
        return true;
    before = atomic_load_explicit(&c->state, memory_order_relaxed);
    if (state != CONNECTION_WORKING) /* a working connection must not be ended */
        atomic_store_explicit(&c->since_ns, dlock_clock_ns(), memory_order_relaxed);
    return before != CONNECTION_ENDED &&
           atomic_compare_exchange_strong(&c->state, &before, (int)state);
}

void connections_end_idle(struct connections *cs, int64_t answering_ms)
{
    int64_t before_ns = dlock_clock_ns() - answering_ms * 1000000;

    dlock_mutex_lock(&cs->mutex);
    for (size_t i = 0; i < cs->used; i++)
        if (atomic_load(&cs->at[i].state) != CONNECTION_ANSWERING ||
            atomic_load(&cs->at[i].since_ns) < before_ns)
            (void)end_one(cs, &cs->at[i], CONNECTION_END_STOPPING);
    dlock_mutex_unlock(&cs->mutex);
}

void connections_read_stats(struct connections *cs, struct connections_stats *out)
{
    *out = (struct connections_stats){0};
    dlock_mutex_lock(&cs->mutex);
    for (size_t i = 0; i < cs->used; i++)
        out->states[cs->at[i].listener][atomic_load(&cs->at[i].state)]++;
    memcpy(out->ends, cs->ends, sizeof(out->ends));
    dlock_mutex_unlock(&cs->mutex);
}
