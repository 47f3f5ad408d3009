/* SPDX-License-Identifier: MIT */
/* health_check.c -- a thread that asks a question at most once a second, and keeps the
 * answer. */
#include "app/health_check.h"

#include <stdio.h>

#include "base/os/clock.h"

static const int64_t NS_PER_MS = 1000000;
static const int64_t EVERY_MS = 1000;      /* while health_check_ask() is called */
static const int64_t PAUSE_AFTER_MS = 60000; /* without a question */
static const int64_t FIRST_WAIT_MS = 1000; /* for the check that ends a pause */
static const int64_t SILENT_MS = 2000;     /* a check that takes longer counts as no
                                            * answer */

static bool is_asked_for(const struct health_check *p, int64_t now_ns)
{
    return p->asked_ns != 0 && now_ns - p->asked_ns < PAUSE_AFTER_MS * NS_PER_MS;
}

/* Ask the question once.  The mutex is held before and after, but not meanwhile. */
static void run_once(struct health_check *p)
{
    char said[HEALTH_SAID_MAX] = "";
    bool is_well;

    p->is_wanted = false;
    p->is_running = true;
    p->begun_ns = dlock_clock_ns();
    dlock_mutex_unlock(&p->mutex);
    is_well = p->question(p->arg, said);
    dlock_mutex_lock(&p->mutex);
    p->is_well = is_well;
    (void)snprintf(p->said, sizeof(p->said), "%s", said);
    p->is_running = p->is_waking = false;
    p->ended_ns = dlock_clock_ns();
    dlock_condition_broadcast(&p->changed);
}

static void *keep_checking(void *arg)
{
    struct health_check *p = arg;

    dlock_mutex_lock(&p->mutex);
    while (!p->is_ending) {
        int64_t now_ns = dlock_clock_ns();
        int64_t due_ns = p->ended_ns == 0 ? 0 : p->ended_ns + EVERY_MS * NS_PER_MS;

        if (!p->is_wanted && !is_asked_for(p, now_ns))
            dlock_condition_wait(&p->changed, &p->mutex);
        else if (now_ns < due_ns)
            (void)dlock_condition_wait_until(&p->changed, &p->mutex, due_ns);
        else
            run_once(p);
    }
    dlock_mutex_unlock(&p->mutex);
    return NULL;
}

bool health_check_start(struct health_check *p, health_check_question *question, void *arg)
{
    *p = (struct health_check){.question = question, .arg = arg};
    dlock_mutex_init(&p->mutex);
    p->has_thread = dlock_condition_init(&p->changed) &&
                    dlock_thread_start(&p->thread, keep_checking, p) == 0;
    return p->has_thread;
}

void health_check_stop(struct health_check *p)
{
    if (!p->has_thread)
        return;
    dlock_mutex_lock(&p->mutex);
    p->is_ending = true;
    dlock_condition_broadcast(&p->changed);
    dlock_mutex_unlock(&p->mutex);
    dlock_thread_join(&p->thread);
    p->has_thread = false;
}

bool health_check_ask(struct health_check *p, char *said, size_t size)
{
    int64_t now_ns = dlock_clock_ns();
    int64_t limit_ns = now_ns + FIRST_WAIT_MS * NS_PER_MS;
    bool is_well = false;
    int64_t silent_ms;

    dlock_mutex_lock(&p->mutex);
    if (!is_asked_for(p, now_ns))
        p->is_wanted = p->is_waking = true;
    p->asked_ns = now_ns;
    dlock_condition_broadcast(&p->changed);
    for (; p->is_waking && now_ns < limit_ns; now_ns = dlock_clock_ns())
        (void)dlock_condition_wait_until(&p->changed, &p->mutex, limit_ns);
    silent_ms = p->is_running ? (now_ns - p->begun_ns) / NS_PER_MS : 0;
    if (p->is_waking || silent_ms >= SILENT_MS) {
        (void)snprintf(said, size, "there has been no answer for %lld ms",
                       (long long)silent_ms);
    } else {
        (void)snprintf(said, size, "%s", p->said);
        is_well = p->is_well;
    }
    dlock_mutex_unlock(&p->mutex);
    return is_well;
}
