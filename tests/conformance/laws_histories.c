/* SPDX-License-Identifier: MIT */
/* laws_histories.c -- many threads make random calls, and the laws check their histories. */
#include <pthread.h>
#include <stdio.h>

#include "base/os/random.h"
#include "tests/conformance/laws.h"

enum { ACTORS = 8, STEPS = 60, NAMES = 3, WAIT_MS = 30 };

struct actor {
    dlock_system *sys;
    const char *names[NAMES];
    atomic_int *inside; /* per name: the number of threads that hold it */
    bool nests;
    int wrong_count; /* answers that are not allowed, and other threads inside */
    int granted_count;
    pthread_t thread;
};

/* Hold the lock for a moment, sometimes with a second level. */
static void be_inside(struct actor *actor, size_t which)
{
    dlock_lease inner;

    actor->granted_count++;
    actor->wrong_count += atomic_fetch_add(&actor->inside[which], 1) != 0;
    if (actor->nests && dlock_random_below(2) == 0) {
        actor->wrong_count +=
            dlock_acquire(actor->sys, actor->names[which], 0, &inner) != DLOCK_OK ||
            dlock_release(actor->sys, &inner) != DLOCK_OK;
    }
    if (dlock_random_below(4) == 0)
        rig_pause_ms(1);
    actor->wrong_count += atomic_fetch_sub(&actor->inside[which], 1) != 1;
}

static void *act(void *arg)
{
    struct actor *actor = arg;

    for (int step = 0; step < STEPS; step++) {
        size_t which = dlock_random_below(NAMES);
        int64_t wait_ms = dlock_random_below(3) * (int64_t)dlock_random_below(WAIT_MS);
        dlock_lease lease;
        dlock_status st =
            dlock_acquire(actor->sys, actor->names[which], wait_ms, &lease);

        if (st == DLOCK_OK) {
            be_inside(actor, which);
            st = dlock_release(actor->sys, &lease);
            actor->wrong_count += st != DLOCK_OK;
        } else {
            actor->wrong_count += st != (wait_ms == 0 ? DLOCK_BUSY : DLOCK_TIMEOUT);
        }
    }
    return NULL;
}

static void play(const dlock_options *opts)
{
    struct rig_pair pair = rig_open_pair(opts);
    const char *names[NAMES] = {rig_name(), rig_name(), rig_name()};
    atomic_int inside[NAMES] = {0};
    struct actor actors[ACTORS];
    int granted_count = 0;

    for (int i = 0; i < ACTORS; i++) {
        actors[i] = (struct actor){
            .sys = i % 2 == 0 ? pair.a : pair.b,
            .names = {names[0], names[1], names[2]},
            .inside = inside,
            .nests = rig_caps(opts->variant) & DLOCK_CAP_REENTRANT,
        };
        assert_int_equal(0, pthread_create(&actors[i].thread, NULL, act, &actors[i]));
    }
    for (int i = 0; i < ACTORS; i++)
        pthread_join(actors[i].thread, NULL);
    for (int i = 0; i < ACTORS; i++) {
        assert_int_equal(0, actors[i].wrong_count);
        granted_count += actors[i].granted_count;
    }
    assert_true(granted_count > 0);
    for (int i = 0; i < NAMES; i++)
        assert_status(OK, rig_try(pair.a, names[i]));
}

void any_history_has_one_inside(const char *variant)
{
    dlock_options opts = rig_options(variant);

    play(&opts);
}

void handed_histories_have_one_inside(const char *variant)
{
    dlock_options opts = rig_options(variant);

    opts.handover = 3;
    opts.watchdog = true;
    play(&opts);
}
