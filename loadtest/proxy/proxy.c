/* SPDX-License-Identifier: MIT */
/* proxy.c -- a proxy from outside: made, given faults, asked, ended.
 *
 * Every change is followed by a write to an eventfd, so that the thread looks at once. */
#include "loadtest/proxy/proxy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "loadtest/proxy/loop.h"
#include "base/os/clock.h"

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
