/* SPDX-License-Identifier: MIT */
/* premise.c -- measures whether this machine was fast enough for a law. */
#include "tests/conformance/premise.h"

#include <pthread.h>
#include <stdio.h>

#include "tests/conformance/rig.h"

enum { PACE_MS = 2, WAKE_UPS = 8 /* of a request, see is_steady() */ };

int premise_stretch = 1;

/* The law that runs. */
static struct {
    const char *name;
    jmp_buf begin;
    bool may_begin_anew; /* at least one try is left */
} running;

void premise_run(const char *name, void (*law)(const char *variant),
                 const char *variant, void (*begin_anew)(void))
{
    /* longjmp() keeps the changed value of a local variable only if the variable is volatile. */
    volatile int tries = 0;

    running.name = name;
    premise_stretch = 1;
    if (setjmp(running.begin) != 0) {
        premise_stretch *= 2;
        begin_anew();
    }
    tries++;
    running.may_begin_anew = tries < PREMISE_TRIES;
    law(variant);
    premise_stretch = 1;
}

void premise_check(bool held, const char *what, const char *file, int line)
{
    if (held)
        return;
    if (running.may_begin_anew) {
        printf("# begun anew: %s: did not hold: %s (%s:%d)\n", running.name, what, file,
               line);
        fflush(stdout);
        longjmp(running.begin, 1);
    }
    print_error("the machine was never steady enough for this law: in each of its %d "
                "beginnings a premise did not hold, the last time %s\n",
                PREMISE_TRIES, what);
    _fail(file, line);
}

static struct {
    pthread_t thread;
    bool runs;
    atomic_bool stopping;
    atomic_llong due_ms;    /* when the thread should wake next */
    atomic_llong latest_ms; /* the longest delay so far */
} pace;

static void take_note(int64_t late_ms)
{
    if (late_ms > atomic_load(&pace.latest_ms))
        atomic_store(&pace.latest_ms, late_ms);
}

static void *keep_pace(void *arg)
{
    (void)arg;
    while (!atomic_load(&pace.stopping)) {
        int64_t due_ms = rig_now_ms() + PACE_MS;

        atomic_store(&pace.due_ms, due_ms);
        rig_pause_ms(PACE_MS);
        take_note(rig_now_ms() - due_ms);
    }
    return NULL;
}

void premise_watch_pace(void)
{
    atomic_store(&pace.due_ms, rig_now_ms() + PACE_MS);
    atomic_store(&pace.latest_ms, 0);
    if (pace.runs)
        return;
    atomic_store(&pace.stopping, false);
    assert_int_equal(0, pthread_create(&pace.thread, NULL, keep_pace, NULL));
    pace.runs = true;
}

void premise_note_request(int64_t took_ms)
{
    take_note(took_ms / WAKE_UPS);
}

int64_t premise_latest_ms(void)
{
    int64_t late_ms = pace.runs ? rig_now_ms() - atomic_load(&pace.due_ms) : 0;
    int64_t latest_ms = atomic_load(&pace.latest_ms);

    return late_ms > latest_ms ? late_ms : latest_ms;
}

void premise_end_pace(void)
{
    if (!pace.runs)
        return;
    atomic_store(&pace.stopping, true);
    pthread_join(pace.thread, NULL);
    pace.runs = false;
}
