/* SPDX-License-Identifier: MIT */
/* rig.c -- systems, names, other threads, waiting for states. */
#include "tests/conformance/rig.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/os/random.h"
#include "lock/fault.h"
#include "lock/process.h"
#include "lock/registry.h"
#include "tests/conformance/cutter.h"
#include "tests/conformance/database.h"
#include "tests/conformance/lab.h"
#include "tests/conformance/nodes.h"
#include "tests/conformance/refuser.h"
#include "tests/conformance/replica.h"
#include "tests/conformance/servers.h"
#include "tests/conformance/slots.h"

/* ---- premises ---- */

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

enum {
    SYSTEMS_MAX = 16,
    NAMES_KEPT = 16,
    HELPERS_MAX = 64,
    CANCELS_MAX = 4,
    DISMISSED_MS = 10000,
    ANSWER_MS = 10000, /* a slow answer of a loaded machine is no hung server */
};

int rig_patience_ms = 30000;

static dlock_system *systems[SYSTEMS_MAX];
static size_t system_count;

/* Helpers that no law has finished; and: has their law ended, so that they have to release? */
static struct rig_helper *helpers[HELPERS_MAX];
static atomic_bool helpers_dismissed;

static dlock_cancel *cancels[CANCELS_MAX];
static size_t cancel_count;

dlock_options rig_options(const char *variant)
{
    dlock_options opts = dlock_options_default();

    opts.variant = variant;
    opts.redis_url = getenv("SECKILL_REDIS_URL");
    opts.redlock_urls = getenv("SECKILL_REDLOCK_URLS");
    opts.database_url = getenv("SECKILL_DATABASE_URL");
    opts.zookeeper_url = getenv("SECKILL_ZOOKEEPER_URL");
    opts.etcd_url = getenv("SECKILL_ETCD_URL");
    opts.watchdog = false;
    opts.redis_timeout_ms = opts.redlock_node_timeout_ms = ANSWER_MS;
    opts.etcd_timeout_ms = opts.database_timeout_ms = opts.zookeeper_timeout_ms = ANSWER_MS;
    return opts;
}

static bool is_hasty(const dlock_options *opts)
{
    return opts->redis_timeout_ms < ANSWER_MS || opts->redlock_node_timeout_ms < ANSWER_MS ||
           opts->database_timeout_ms < ANSWER_MS ||
           opts->zookeeper_timeout_ms < ANSWER_MS || opts->etcd_timeout_ms < ANSWER_MS;
}

dlock_system *rig_open(const dlock_options *opts)
{
    dlock_system *sys = NULL;

    assert_true(system_count < SYSTEMS_MAX);
    if (is_hasty(opts))
        assert_comes(dlock_open(&sys, opts) == DLOCK_OK);
    else
        assert_status(OK, dlock_open(&sys, opts));
    systems[system_count++] = sys;
    return sys;
}

struct rig_pair rig_open_pair(const dlock_options *opts)
{
    return (struct rig_pair){rig_open(opts), rig_open(opts)};
}

void rig_close_systems(void)
{
    while (system_count > 0)
        dlock_close(systems[--system_count]);
}

struct rig_helper {
    dlock_system *sys;
    char name[DLOCK_NAME_MAX + 1];
    dlock_request request;
    pthread_t thread;
    int64_t asked_ms;
    dlock_lease lease; /* only the helper uses it until `acquired`, and from its release on */
    atomic_bool acquired;
    atomic_bool may_release;
    atomic_bool released; /* set in the last step of the helper's thread */
    dlock_status acquire_status;
    dlock_status release_status;
};

static bool forget(struct rig_helper *helper)
{
    for (int i = 0; i < HELPERS_MAX; i++)
        if (helpers[i] == helper) {
            helpers[i] = NULL;
            return true;
        }
    return false;
}

/* Free the helpers whose threads have ended. Returns the number of the others. */
static int count_helpers(void)
{
    int count = 0;

    for (int i = 0; i < HELPERS_MAX; i++) {
        struct rig_helper *helper = helpers[i];

        if (helper == NULL)
            continue;
        if (atomic_load(&helper->released)) {
            pthread_join(helper->thread, NULL);
            free(helper);
            helpers[i] = NULL;
        } else {
            count++;
        }
    }
    return count;
}

/* A law that failed has left helpers inside of calls. The calls end when the servers are gone, or
 * when the locks that the helpers wait for are freed. Returns false if a call goes on. */
static bool dismiss_helpers(void)
{
    int64_t give_up_ms = rig_now_ms() + DISMISSED_MS;

    if (count_helpers() == 0)
        return true;
    servers_stop();
    atomic_store(&helpers_dismissed, true);
    while (count_helpers() > 0 && rig_now_ms() < give_up_ms) {
        for (int i = 0; i < HELPERS_MAX; i++)
            if (helpers[i] != NULL && !atomic_load(&helpers[i]->acquired) &&
                dlock_force_release(helpers[i]->sys, helpers[i]->name) != DLOCK_OK)
                rig_pause_ms(2); /* the lock was free, so the waiter is about to get it */
        rig_pause_ms(1);
    }
    atomic_store(&helpers_dismissed, false);
    return count_helpers() == 0;
}

void rig_reset(void)
{
    for (int point = 0; point < DLOCK_FAULT_POINT_COUNT; point++)
        dlock_fault_release((dlock_fault_point)point);
    dlock_process_shift_wall(0);
    servers_wake();
    database_wake();
    lab_mend();
    cutter_open();
    premise_end_pace();
    if (!dismiss_helpers())
        system_count = cancel_count = 0; /* not freed: helpers may use them */
    rig_close_systems();
    while (cancel_count > 0)
        dlock_cancel_free(cancels[--cancel_count]);
    slots_close();
    replica_stop();
    servers_stop();
    database_stop();
    cutter_stop();
    refuser_stop();
    nodes_stop();
}

int64_t rig_acquire_short(dlock_system *sys, const char *name,
                          const dlock_request *request, int lease_ms,
                          dlock_lease *lease)
{
    dlock_request plain = request != NULL ? *request : (dlock_request){0};
    int64_t asked_ms = rig_now_ms();
    dlock_status st = dlock_acquire_with(sys, name, &plain, lease);

    presume(rig_now_ms() - asked_ms < lease_ms / 2);
    assert_status(OK, st);
    return asked_ms + lease_ms - lease_ms / 20 - 5; /* less the room for drift, and roundings */
}

int rig_waiter_count(dlock_system *sys, const char *name)
{
    dlock_info info;

    assert_status(OK, dlock_inspect(sys, name, &info));
    return info.waiter_count;
}

void rig_let_wait(dlock_system *sys, const char *name, int ms)
{
    if (rig_waiter_count(sys, name) >= 0)
        assert_comes(rig_waiter_count(sys, name) > 0);
    rig_pause_ms(ms);
}

dlock_cancel *rig_cancel(void)
{
    assert_true(cancel_count < CANCELS_MAX);
    cancels[cancel_count] = dlock_cancel_new();
    assert_non_null(cancels[cancel_count]);
    return cancels[cancel_count++];
}

const char *rig_name(void)
{
    static char names[NAMES_KEPT][48];
    static unsigned drawn, random; /* an earlier process of this id may have left a lock */
    char *name = names[drawn % NAMES_KEPT];

    random = drawn == 0 ? dlock_random_below(0x10000) : random;
    snprintf(name, sizeof(names[0]), "conformance:%d:%04x:%u", (int)getpid(), random, drawn);
    drawn++;
    return name;
}

unsigned rig_caps(const char *variant)
{
    return dlock_variant_find(variant)->caps;
}

bool rig_is(const char *variant, const char *name)
{
    return strcmp(variant, name) == 0;
}

bool rig_uses_nodes(const char *variant)
{
    return strcmp(dlock_variant_find(variant)->store, "redis x5") == 0;
}

bool rig_is_watched(const char *variant)
{
    return dlock_registry_find(variant)->watched;
}

bool rig_may_be_handed_over(const char *variant)
{
    return dlock_registry_find(variant)->may_be_handed_over;
}

dlock_status rig_try(dlock_system *sys, const char *name)
{
    dlock_lease lease;
    dlock_status st = dlock_acquire(sys, name, 0, &lease);

    if (st == DLOCK_OK)
        dlock_release(sys, &lease);
    return st;
}

static void *help(void *arg)
{
    struct rig_helper *helper = arg;
    helper->asked_ms = rig_now_ms();
    helper->acquire_status =
        dlock_acquire_with(helper->sys, helper->name, &helper->request, &helper->lease);
    atomic_store(&helper->acquired, true);
    while (helper->acquire_status == DLOCK_OK && !atomic_load(&helper->may_release) &&
           !atomic_load(&helpers_dismissed))
        rig_pause_ms(1);
    if (helper->acquire_status == DLOCK_OK)
        helper->release_status = dlock_release(helper->sys, &helper->lease);
    atomic_store(&helper->released, true);
    return NULL;
}

struct rig_helper *rig_helper_ask(dlock_system *sys, const char *name,
                                  const dlock_request *request)
{
    struct rig_helper *helper = calloc(1, sizeof(*helper));

    assert_non_null(helper);
    helper->sys = sys;
    snprintf(helper->name, sizeof(helper->name), "%s", name);
    helper->request = *request;
    for (int i = 0; i < HELPERS_MAX; i++)
        if (helpers[i] == NULL) {
            helpers[i] = helper;
            assert_int_equal(0, pthread_create(&helper->thread, NULL, help, helper));
            return helper;
        }
    free(helper);
    fail_msg("more than %d helpers at once", HELPERS_MAX);
    return NULL;
}

struct rig_helper *rig_helper_start(dlock_system *sys, const char *name,
                                    int64_t wait_ms)
{
    dlock_request request = {.wait_ms = wait_ms};

    return rig_helper_ask(sys, name, &request);
}

int64_t rig_helper_asked_ms(struct rig_helper *helper)
{
    assert_comes(rig_helper_is_done(helper));
    return helper->asked_ms;
}

int64_t rig_helper_told_within_ms(struct rig_helper *helper, int64_t told_ms)
{
    int64_t now_ms = rig_now_ms();

    return is_steady(LOOK_LEAST_MS) &&
                   now_ms - rig_helper_asked_ms(helper) < LOOK_LEAST_MS
               ? now_ms - told_ms
               : INT64_MAX;
}

bool rig_helper_is_done(struct rig_helper *helper)
{
    return atomic_load(&helper->acquired);
}

dlock_status rig_helper_acquired(struct rig_helper *helper)
{
    assert_comes(rig_helper_is_done(helper));
    return helper->acquire_status;
}

const dlock_lease *rig_helper_lease(const struct rig_helper *helper)
{
    return &helper->lease;
}

uint64_t rig_helper_fence(const struct rig_helper *helper)
{
    return helper->lease.fence;
}

void rig_helper_begin_release(struct rig_helper *helper)
{
    atomic_store(&helper->may_release, true);
}

bool rig_helper_has_released(struct rig_helper *helper)
{
    return atomic_load(&helper->released);
}

dlock_status rig_helper_finish(struct rig_helper *helper)
{
    dlock_status st;

    rig_helper_begin_release(helper);
    pthread_join(helper->thread, NULL);
    st = helper->release_status;
    assert_true(forget(helper));
    free(helper);
    return st;
}

dlock_status rig_try_elsewhere(dlock_system *sys, const char *name)
{
    struct rig_helper *helper = rig_helper_start(sys, name, 0);
    dlock_status st = rig_helper_acquired(helper);

    rig_helper_finish(helper);
    return st;
}

int64_t rig_now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void rig_pause_ms(int ms)
{
    struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

    nanosleep(&ts, NULL);
}

void rig_check_status(dlock_status want, dlock_status got, const char *what,
                      const char *file, int line)
{
    if (want == got)
        return;
    print_error("%s\n  answered %s, not %s; %s\n", what, dlock_status_id(got),
                dlock_status_id(want), dlock_error());
    _fail(file, line);
}
