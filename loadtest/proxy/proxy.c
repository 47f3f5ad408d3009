/* SPDX-License-Identifier: MIT */
/* proxy.c -- a proxy from outside: made, given faults, asked, ended.
 *
 * Every change is followed by a write to an eventfd, so that the thread looks at once. */
#include "loadtest/proxy/proxy.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/os/condition.h"
#include "base/os/thread.h"
#include "loadtest/proxy/target.h"
#include "loadtest/proxy/wire.h"

/* ---- the loop ---- */

struct proxy {
    struct dlock_mutex lock;
    struct dlock_condition struck;
    struct dlock_thread thread;
    struct proxy_options options;
    struct proxy_target target;
    struct proxy_arms arms;
    struct proxy_wire **wires;
    struct pollfd *polled;
    size_t wire_count, wire_room;
    struct proxy_stats ended; /* of the wires that are no more */
    int64_t rest_until_ns;    /* no accept(): there were no descriptors left */
    int port, listen_fd, wake_fd;
    bool stopping;
    bool again; /* a connection that was served already has something to do again */
};

enum { FIXED_FDS = 2, REST_MS = 100 };

/* Add the counts of a connection. */
static void proxy_loop_add_stats(struct proxy_stats *s, const struct proxy_wire *w)
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

/* Room for one wire more.  False: no memory. */
static bool proxy_loop_make_room(struct proxy *p)
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

/* The thread; its argument is the proxy.  The thread ends its wires when `stopping` is set and
 * the eventfd tells it to look. */
static void *proxy_loop_run(void *arg)
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

static void wake(const struct proxy *p)
{
    uint64_t one = 1;

    if (write(p->wake_fd, &one, sizeof one) < 0)
        return; /* the counter is full already, so the thread will wake */
}

/* ---- calls of the connections ---- */

/* Is it only for one connection?  With a WHEN, that is the one that is counted. */
static bool is_for_one(const struct proxy_fault *release)
{
    return release->scope == PROXY_NUMBER && release->when == PROXY_AT_ONCE;
}

static bool is_meant(const struct proxy_fault *f, const struct proxy_wire *w)
{
    return !is_for_one(f) || f->connection == w->number;
}

static bool is_held(const struct proxy_fault *f, void *arg)
{
    const struct proxy *p = arg;

    for (size_t i = 0; i < p->wire_count; i++)
        if (p->wires[i]->pipes[f->direction].held && is_meant(f, p->wires[i]))
            return true;
    return false;
}

/* The holds that a release ends for good, so that they do not stop later messages. */
static bool ends(const struct proxy_fault *release, const struct proxy_armed *armed)
{
    const struct proxy_fault *hold = &armed->fault;

    return hold->action == PROXY_HOLD && hold->direction == release->direction &&
           !armed->is_over &&
           (armed->strike.strikes > 0 || hold->when == PROXY_AT_ONCE) &&
           (!is_for_one(release) || (hold->scope == PROXY_NUMBER &&
                                               hold->connection == release->connection));
}

static void release(const struct proxy_fault *f, void *arg)
{
    struct proxy *p = arg;

    for (size_t i = 0; i < p->wire_count; i++)
        if (is_meant(f, p->wires[i]))
            p->wires[i]->pipes[f->direction].held = false;
    for (int i = 0; i < p->arms.count; i++)
        if (ends(f, &p->arms.armed[i]))
            p->arms.armed[i].is_over = true;
    p->again = true;
}

static void told(struct proxy_armed *armed, void *arg)
{
    struct proxy *p = arg;

    if (p->options.on_strike != NULL)
        p->options.on_strike(&armed->strike, p->options.arg);
    dlock_condition_broadcast(&p->struck);
}

static void seen(const struct proxy_glimpse *glimpse, void *arg)
{
    const struct proxy *p = arg;

    p->options.on_message(glimpse, p->options.arg);
}

/* ---- begin and end ---- */

static void destroy(struct proxy *p)
{
    if (p->listen_fd >= 0)
        close(p->listen_fd);
    if (p->wake_fd >= 0)
        close(p->wake_fd);
    dlock_condition_destroy(&p->struck);
    dlock_mutex_destroy(&p->lock);
    free(p->wires);
    free(p->polled);
    free(p);
}

static struct proxy *make(const struct proxy_options *options)
{
    struct proxy *p = calloc(1, sizeof *p);

    if (p == NULL)
        return NULL;
    if (!dlock_condition_init(&p->struck)) {
        free(p);
        return NULL;
    }
    p->options = *options;
    p->port = options->port;
    p->listen_fd = -1;
    p->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    p->arms.protocol = options->protocol;
    p->arms.told = told;
    p->arms.release = release;
    p->arms.is_held = is_held;
    p->arms.seen = seen;
    p->arms.arg = p;
    dlock_mutex_init(&p->lock);
    return p;
}

bool proxy_open(struct proxy **out, const struct proxy_options *options, char *why)
{
    struct proxy *p = make(options);

    *out = NULL;
    snprintf(why, PROXY_WHY_MAX, "no memory or no descriptors for a proxy");
    if (p == NULL)
        return false;
    if (p->wake_fd < 0 || !proxy_loop_make_room(p) ||
        !proxy_target_find(&p->target, options->target, why))
        goto out;
    p->listen_fd = proxy_target_listen(&p->port);
    if (p->listen_fd < 0) {
        snprintf(why, PROXY_WHY_MAX, "cannot listen on port %d: %s", p->port,
                 strerror(errno));
        goto out;
    }
    if (dlock_thread_start(&p->thread, proxy_loop_run, p) == 0) {
        *out = p;
        *why = '\0';
    }
out:
    if (*out == NULL)
        destroy(p);
    return *out != NULL;
}

void proxy_close(struct proxy *p)
{
    if (p == NULL)
        return;
    dlock_mutex_lock(&p->lock);
    p->stopping = true;
    wake(p);
    dlock_mutex_unlock(&p->lock);
    dlock_thread_join(&p->thread);
    destroy(p);
}

int proxy_port(const struct proxy *p)
{
    return p->port;
}

/* ---- faults ---- */

static const struct proxy_wire *find_wire(const struct proxy *p, uint64_t number)
{
    for (size_t i = 0; i < p->wire_count; i++)
        if (p->wires[i]->number == number)
            return p->wires[i];
    return NULL;
}

static bool is_hold_armed(const struct proxy *p, const struct proxy_fault *f)
{
    for (int i = 0; i < p->arms.count; i++)
        if (ends(f, &p->arms.armed[i]))
            return true;
    return false;
}

/* NULL: the fault can still strike; otherwise why it cannot. */
static const char *objection(struct proxy *p, const struct proxy_fault *f)
{
    const struct proxy_wire *w;

    if (p->arms.count == PROXY_FAULTS_MAX)
        return "this proxy was given too many faults";
    if (f->action == PROXY_RELEASE && f->when == PROXY_AT_ONCE && !is_held(f, p) &&
        !is_hold_armed(p, f))
        return "nothing is held there";
    if (f->scope != PROXY_NUMBER || f->connection > p->ended.connections)
        return NULL;
    w = find_wire(p, f->connection);
    if (w == NULL)
        return "that connection has ended";
    return proxy_wire_is_past(w, f) ? "that connection is past that point" : NULL;
}

/* A release without a WHEN needs no connection, and is carried out at once. */
static void release_at_once(struct proxy *p, struct proxy_armed *armed)
{
    release(&armed->fault, p);
    armed->strike.strikes = 1;
    armed->strike.first_ns = armed->strike.last_ns = dlock_clock_ns();
    armed->is_over = true;
    p->arms.strikes++;
    told(armed, p);
}

int proxy_arm(struct proxy *p, const char *fault, char *why)
{
    struct proxy_fault f;
    const char *no;
    int number = -1;

    if (!proxy_fault_parse(&f, p->options.protocol, fault, why))
        return -1;
    dlock_mutex_lock(&p->lock);
    no = objection(p, &f);
    if (no != NULL) {
        snprintf(why, PROXY_WHY_MAX, "\"%s\": %s", f.text, no);
    } else {
        struct proxy_armed *armed = &p->arms.armed[p->arms.count];

        number = p->arms.count++;
        *armed = (struct proxy_armed){.fault = f, .strike = {.fault = number}};
        strcpy(armed->strike.text, f.text);
        if (f.action == PROXY_RELEASE && f.when == PROXY_AT_ONCE)
            release_at_once(p, armed);
        wake(p);
    }
    dlock_mutex_unlock(&p->lock);
    return number;
}

int proxy_arm_script(struct proxy *p, const char *script, char *why)
{
    char fault[PROXY_TEXT_MAX + 1];
    int count = 0;

    for (; proxy_script_next(&script, fault, why); count++)
        if (proxy_arm(p, fault, why) < 0)
            return -1;
    if (*why != '\0')
        return -1;
    if (count == 0)
        snprintf(why, PROXY_WHY_MAX, "there is no fault in this script");
    return count > 0 ? count : -1;
}

static bool exists(const struct proxy *p, int fault)
{
    return fault >= 0 && fault < p->arms.count;
}

void proxy_disarm(struct proxy *p, int fault)
{
    dlock_mutex_lock(&p->lock);
    if (exists(p, fault)) {
        struct proxy_armed *armed = &p->arms.armed[fault];

        armed->is_over = true;
        for (size_t i = 0; i < p->wire_count; i++)
            if (armed->fault.action == PROXY_HOLD &&
                p->wires[i]->marks[fault].is_struck)
                p->wires[i]->pipes[armed->fault.direction].held = false;
        wake(p);
    }
    dlock_mutex_unlock(&p->lock);
}

void proxy_forget(struct proxy *p, int fault)
{
    proxy_disarm(p, fault);
    dlock_mutex_lock(&p->lock);
    if (exists(p, fault) && fault == p->arms.count - 1) {
        for (size_t i = 0; i < p->wire_count; i++)
            p->wires[i]->marks[fault] = (struct proxy_mark){0};
        p->arms.count--;
    }
    dlock_mutex_unlock(&p->lock);
}

bool proxy_wait(struct proxy *p, int fault, int64_t timeout_ms)
{
    int64_t end_ns = dlock_clock_after(dlock_clock_ns(), timeout_ms);
    bool struck = false;

    dlock_mutex_lock(&p->lock);
    while (exists(p, fault) && !struck) {
        struck = p->arms.armed[fault].strike.strikes > 0;
        if (struck || dlock_clock_ns() >= end_ns)
            break;
        (void)dlock_condition_wait_until(&p->struck, &p->lock, end_ns);
    }
    dlock_mutex_unlock(&p->lock);
    return struck;
}

bool proxy_look(struct proxy *p, int fault, struct proxy_strike *out)
{
    bool found;

    dlock_mutex_lock(&p->lock);
    found = exists(p, fault);
    if (found)
        *out = p->arms.armed[fault].strike;
    dlock_mutex_unlock(&p->lock);
    return found;
}

void proxy_read_stats(struct proxy *p, struct proxy_stats *out)
{
    dlock_mutex_lock(&p->lock);
    *out = p->ended;
    out->open = p->wire_count;
    for (size_t i = 0; i < p->wire_count; i++)
        proxy_loop_add_stats(out, p->wires[i]);
    out->strikes = p->arms.strikes;
    out->armed = p->arms.count;
    for (int i = 0; i < p->arms.count; i++)
        out->unstruck += p->arms.armed[i].strike.strikes == 0;
    dlock_mutex_unlock(&p->lock);
}
