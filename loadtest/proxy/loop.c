/* SPDX-License-Identifier: MIT */
/* loop.c -- one thread polls all connections.  The thread holds the proxy's lock except
 * while it polls. */
#include "loadtest/proxy/loop.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/os/clock.h"

enum { FIXED_FDS = 2, REST_MS = 100 };

void proxy_loop_add_stats(struct proxy_stats *s, const struct proxy_wire *w)
{
    for (int d = 0; d < 2; d++) {
        s->received[d] += w->pipes[d].received;
        s->sent[d] += w->pipes[d].sent;
        s->dropped[d] += w->pipes[d].dropped;
        s->messages[d] += w->pipes[d].messages;
        s->lost += w->pipes[d].scanner.is_lost;
    }
}

static void end_wire(struct proxy *p, size_t i)
{
    struct proxy_wire *w = p->wires[i];

    p->wires[i] = p->wires[--p->wire_count];
    proxy_loop_add_stats(&p->ended, w);
    proxy_wire_free(w, &p->arms);
}

bool proxy_loop_make_room(struct proxy *p)
{
    size_t room = p->wire_room > 0 ? 2 * p->wire_room : 16;
    struct proxy_wire **wires;
    struct pollfd *polled;

    if (p->wire_count < p->wire_room)
        return true;
    wires = realloc(p->wires, room * sizeof(struct proxy_wire *));
    if (wires != NULL)
        p->wires = wires;
    polled = realloc(p->polled, (FIXED_FDS + 2 * room) * sizeof *polled);
    if (polled != NULL)
        p->polled = polled;
    if (wires == NULL || polled == NULL)
        return false;
    p->wire_room = room;
    return true;
}

static void cut_client(struct proxy *p, int client)
{
    struct linger reset = {.l_onoff = 1};

    setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(client);
    p->ended.refused++;
}

static void take_in(struct proxy *p)
{
    int client = accept4(p->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    bool is_connecting = false;
    struct proxy_wire *w;
    int server, yes = 1;

    if (client < 0) {
        if (errno == EMFILE || errno == ENFILE)
            p->rest_until_ns = dlock_clock_after(dlock_clock_ns(), REST_MS);
        return;
    }
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    p->ended.connections++;
    server = -1;
    if (proxy_loop_make_room(p))
        server = proxy_target_connect(&p->target, &is_connecting);
    if (server < 0) {
        cut_client(p, client);
        return;
    }
    w = proxy_wire_new(p->ended.connections, client, server, p->options.protocol);
    if (w == NULL)
        return;
    w->is_connecting = is_connecting;
    for (int d = 0; d < 2; d++)
        w->pipes[d].is_watched = p->options.on_message != NULL;
    p->wires[p->wire_count++] = w;
    p->again = true; /* a fault that is armed with "at once" strikes now */
}

/* The events to poll for at the reading end of direction `d`. */
static short wanted(const struct proxy_wire *w, int d, int64_t now_ns)
{
    bool is_due = proxy_pipe_due_ns(&w->pipes[d]) <= now_ns;
    bool connects = w->is_connecting && d == PROXY_TO_SERVER;
    bool reads = !w->is_cut && !connects && proxy_pipe_wants_input(&w->pipes[!d]);

    return (short)((is_due || connects ? POLLOUT : 0) | (reads ? POLLIN : 0));
}

static int64_t next_ns(const struct proxy_wire *w, int64_t now_ns)
{
    int64_t next = INT64_MAX;

    if (w->is_cut) /* poll() does not report that sent bytes have arrived */
        return dlock_clock_after(now_ns, 1);
    for (int d = 0; d < 2; d++) {
        int64_t due_ns = proxy_pipe_due_ns(&w->pipes[d]);

        if (due_ns > now_ns && due_ns < next)
            next = due_ns;
    }
    return next;
}

/* Prepare the poll and its timeout.  A single reading of the clock serves both: with two
 * readings an event could be not yet due by the first and already past by the second, and
 * never be served. */
static int prepare(struct proxy *p)
{
    int64_t now_ns = dlock_clock_ns();
    bool rests = p->rest_until_ns > now_ns;
    int64_t until_ns = rests ? p->rest_until_ns : INT64_MAX;

    p->polled[0] = (struct pollfd){.fd = p->wake_fd, .events = POLLIN};
    p->polled[1] = (struct pollfd){.fd = rests ? -1 : p->listen_fd, .events = POLLIN};
    for (size_t i = 0; i < p->wire_count; i++) {
        const struct proxy_wire *w = p->wires[i];

        for (int d = 0; d < 2; d++) {
            short events = wanted(w, d, now_ns);

            /* poll() would report a hang-up again and again that nobody can act on. */
            p->polled[FIXED_FDS + 2 * i + (size_t)d] =
                (struct pollfd){.fd = events != 0 ? w->fds[d] : -1, .events = events};
        }
        if (next_ns(w, now_ns) < until_ns)
            until_ns = next_ns(w, now_ns);
    }
    if (p->again)
        return 0;
    return until_ns == INT64_MAX ? -1 : dlock_clock_poll_ms(until_ns);
}

static bool has_connected(struct proxy *p, struct proxy_wire *w)
{
    int error = 0;
    socklen_t size = sizeof error;

    getsockopt(w->fds[PROXY_TO_SERVER], SOL_SOCKET, SO_ERROR, &error, &size);
    w->is_connecting = false;
    p->ended.refused += error != 0;
    return error == 0;
}

/* Serve a wire as poll() told.  False: it is at its end. */
static bool serve(struct proxy *p, struct proxy_wire *w, const struct pollfd *polled)
{
    for (int d = 0; d < 2; d++) {
        if (polled[d].revents == 0)
            continue;
        if (w->is_connecting && d == PROXY_TO_SERVER && !has_connected(p, w))
            return false;
        if ((polled[d].events & POLLIN) != 0 &&
            !proxy_pipe_read(&w->pipes[!d], w->fds[d]))
            return false;
    }
    return proxy_wire_step(w, &p->arms);
}

static void turn(struct proxy *p)
{
    uint64_t count;

    p->again = false;
    /* The index goes down, because the last connection moves to the place of one that
     * ended, and was served already. */
    for (size_t i = p->wire_count; i-- > 0;)
        if (!serve(p, p->wires[i], &p->polled[FIXED_FDS + 2 * i]))
            end_wire(p, i);
    if (p->polled[0].revents != 0 && read(p->wake_fd, &count, sizeof count) < 0)
        return;
    if (p->polled[1].revents != 0)
        take_in(p);
}

void *proxy_loop_run(void *arg)
{
    struct proxy *p = arg;

    dlock_mutex_lock(&p->lock);
    while (!p->stopping) {
        int timeout_ms = prepare(p);
        nfds_t count = FIXED_FDS + 2 * p->wire_count;

        dlock_mutex_unlock(&p->lock);
        if (poll(p->polled, count, timeout_ms) < 0)
            for (nfds_t i = 0; i < count; i++)
                p->polled[i].revents = 0;
        dlock_mutex_lock(&p->lock);
        turn(p);
    }
    while (p->wire_count > 0)
        end_wire(p, p->wire_count - 1);
    dlock_mutex_unlock(&p->lock);
    return NULL;
}
