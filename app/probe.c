/* SPDX-License-Identifier: MIT */
/* probe.c -- a question that a thread of its own asks, at most once a second. */
#include "app/probe.h"

#include <stdio.h>
#include <time.h>

#include "base/text/duration.h"

static const int64_t NS_PER_MS = 1000000;
static const int64_t EVERY_MS = 1000;      /* while somebody asks */
static const int64_t PAUSE_AFTER_MS = 60000; /* without a question */
static const int64_t FIRST_WAIT_MS = 1000; /* for the probe that ends a pause */
static const int64_t SILENT_MS = 2000;     /* a probe this long says: no answer */

static void wait_until(struct probe *p, int64_t deadline_ns)
{
    const struct timespec until = {.tv_sec = (time_t)(deadline_ns / 1000000000),
                                   .tv_nsec = (long)(deadline_ns % 1000000000)};

    (void)pthread_cond_timedwait(&p->changed, &p->mutex, &until);
}

static bool is_asked_for(const struct probe *p, int64_t now_ns)
{
    return p->asked_ns != 0 && now_ns - p->asked_ns < PAUSE_AFTER_MS * NS_PER_MS;
}

/* The mutex is held, but not while the question is asked. */
static void run_once(struct probe *p)
{
    char said[PROBE_SAID_MAX] = "";
    bool is_well;

    p->is_wanted = false;
    p->is_running = true;
    p->begun_ns = monotonic_ns();
    (void)pthread_mutex_unlock(&p->mutex);
    is_well = p->question(p->arg, said);
    (void)pthread_mutex_lock(&p->mutex);
    p->is_well = is_well;
    (void)snprintf(p->said, sizeof(p->said), "%s", said);
    p->is_running = p->is_waking = false;
    p->ended_ns = monotonic_ns();
    (void)pthread_cond_broadcast(&p->changed);
}

static void *keep_probing(void *arg)
{
    struct probe *p = arg;

    (void)pthread_mutex_lock(&p->mutex);
    while (!p->is_ending) {
        int64_t now_ns = monotonic_ns();
        int64_t due_ns = p->ended_ns == 0 ? 0 : p->ended_ns + EVERY_MS * NS_PER_MS;

        if (!p->is_wanted && !is_asked_for(p, now_ns))
            (void)pthread_cond_wait(&p->changed, &p->mutex);
        else if (now_ns < due_ns)
            wait_until(p, due_ns);
        else
            run_once(p);
    }
    (void)pthread_mutex_unlock(&p->mutex);
    return NULL;
}

bool probe_start(struct probe *p, probe_question *question, void *arg)
{
    pthread_condattr_t attributes;

    *p = (struct probe){.question = question, .arg = arg};
    (void)pthread_mutex_init(&p->mutex, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&p->changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    p->has_thread = pthread_create(&p->thread, NULL, keep_probing, p) == 0;
    return p->has_thread;
}

void probe_stop(struct probe *p)
{
    if (!p->has_thread)
        return;
    (void)pthread_mutex_lock(&p->mutex);
    p->is_ending = true;
    (void)pthread_cond_broadcast(&p->changed);
    (void)pthread_mutex_unlock(&p->mutex);
    (void)pthread_join(p->thread, NULL);
    p->has_thread = false;
}

bool probe_ask(struct probe *p, char *said, size_t size)
{
    int64_t now_ns = monotonic_ns();
    int64_t limit_ns = now_ns + FIRST_WAIT_MS * NS_PER_MS;
    bool is_well = false;
    int64_t silent_ms;

    (void)pthread_mutex_lock(&p->mutex);
    if (!is_asked_for(p, now_ns))
        p->is_wanted = p->is_waking = true;
    p->asked_ns = now_ns;
    (void)pthread_cond_broadcast(&p->changed);
    for (; p->is_waking && now_ns < limit_ns; now_ns = monotonic_ns())
        wait_until(p, limit_ns);
    silent_ms = p->is_running ? (now_ns - p->begun_ns) / NS_PER_MS : 0;
    if (p->is_waking || silent_ms >= SILENT_MS) {
        (void)snprintf(said, size, "there has been no answer for %lld ms",
                       (long long)silent_ms);
    } else {
        (void)snprintf(said, size, "%s", p->said);
        is_well = p->is_well;
    }
    (void)pthread_mutex_unlock(&p->mutex);
    return is_well;
}
