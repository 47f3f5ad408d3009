/* SPDX-License-Identifier: MIT */
/* by_async.c -- the blocking calls of the laws, implemented by the asynchronous interface.
 *
 * The linker redirects each call of dlock_*() in the laws to this file (-Wl,--wrap). Before
 * by_async_begin() the calls go on to the library. After it, each system gets an asynchronous
 * interface with a thread of its own. Each thread that calls is a named owner of this interface,
 * and waits for the completion of each call. */
#include <pthread.h>
#include <string.h>

#include "base/os/bell.h"
#include "base/os/fiber.h"
#include "base/os/fork.h"
#include "lock/dlock_async.h"
#include "lock/status.h"
#include "lock/system.h"
#include "tests/conformance/laws.h"

enum { INTERFACES_MAX = 64, OWNERS_MAX = 64 };

/* ---- the library's own functions, and the functions that the linker puts in their place ---- */

dlock_status __real_dlock_acquire(dlock_system *, const char *, int64_t, dlock_lease *);
dlock_status __real_dlock_acquire_with(dlock_system *, const char *, const dlock_request *,
                                       dlock_lease *);
dlock_status __real_dlock_release(dlock_system *, dlock_lease *);
dlock_status __real_dlock_renew(dlock_system *, dlock_lease *);
dlock_status __real_dlock_abandon(dlock_system *, dlock_lease *);
void __real_dlock_close(dlock_system *);
dlock_status __wrap_dlock_acquire(dlock_system *, const char *, int64_t, dlock_lease *);
dlock_status __wrap_dlock_acquire_with(dlock_system *, const char *, const dlock_request *,
                                       dlock_lease *);
dlock_status __wrap_dlock_release(dlock_system *, dlock_lease *);
dlock_status __wrap_dlock_renew(dlock_system *, dlock_lease *);
dlock_status __wrap_dlock_abandon(dlock_system *, dlock_lease *);
void __wrap_dlock_close(dlock_system *);

static bool is_enabled;

void by_async_begin(void)
{
    is_enabled = true;
}

bool by_async_applies(const char *variant, const char *law)
{
    static const char *const OF_THREADS[] = {
        "a thread that ended", /* an owner of an interface is no thread */
        "a cancel of a thread", "a cancelled thread",
        "its threads share one connection", /* fibers have other connections */
        /* dlock_release_later() has no asynchronous form: a program need not wait for a
         * completion. */
        "without waiting",
        "debt",
        "owes nothing",
    };
    const char *store = dlock_variant_find(variant)->store;

    if (strcmp(store, "postgresql") == 0 || strcmp(store, "zookeeper") == 0 ||
        strcmp(store, "etcd") == 0)
        return false;
    for (size_t i = 0; i < sizeof(OF_THREADS) / sizeof(OF_THREADS[0]); i++)
        if (strstr(law, OF_THREADS[i]) != NULL)
            return false;
    return true;
}

/* ---- the interface of a system, and the owner that asks ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
    dlock_system *sys;
    dlock_async *async;
    uint64_t serial; /* tells an interface from an earlier interface at the same address */
} interfaces[INTERFACES_MAX];
static uint64_t last_serial;

/* The calling thread as an owner of an interface. */
static _Thread_local struct owner {
    uint64_t serial;
    dlock_async_owner *owner;
    uint64_t number; /* by which the table of holds knows it; 0: it was granted nothing yet */
} owners[OWNERS_MAX];
static _Thread_local unsigned evict;

/* The interface of the system. NULL: the call goes on to the library. */
static dlock_async *interface_of(dlock_system *sys, uint64_t *serial)
{
    dlock_async *async = NULL;
    int free_at = -1;

    if (!is_enabled || dlock_fiber_here() != NULL || sys == NULL ||
        sys->generation != dlock_fork_generation())
        return NULL;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < INTERFACES_MAX && async == NULL; i++) {
        if (interfaces[i].sys == NULL && free_at < 0)
            free_at = i;
        if (interfaces[i].sys == sys) {
            async = interfaces[i].async;
            *serial = interfaces[i].serial;
        }
    }
    if (async == NULL && free_at >= 0 &&
        dlock_async_open(&async, sys, DLOCK_ASYNC_THREAD) == DLOCK_OK) {
        interfaces[free_at].sys = sys;
        interfaces[free_at].async = async;
        interfaces[free_at].serial = *serial = ++last_serial;
    }
    pthread_mutex_unlock(&mutex);
    return async;
}

static struct owner *owner_here(dlock_async *async, uint64_t serial)
{
    unsigned at;

    for (at = 0; at < OWNERS_MAX; at++)
        if (owners[at].serial == serial)
            return &owners[at];
    at = evict++ % OWNERS_MAX;
    owners[at] = (struct owner){serial, dlock_async_owner_new(async), 0};
    return &owners[at];
}

void __wrap_dlock_close(dlock_system *sys)
{
    dlock_async *async = NULL;

    pthread_mutex_lock(&mutex);
    for (int i = 0; i < INTERFACES_MAX && sys != NULL; i++)
        if (interfaces[i].sys == sys) {
            async = interfaces[i].async;
            interfaces[i].sys = NULL;
        }
    pthread_mutex_unlock(&mutex);
    (void)dlock_async_close(async);
    __real_dlock_close(sys);
}

/* ---- calls ---- */

struct answer {
    struct dlock_bell bell;
    dlock_status status;
    dlock_lease *lease; /* the caller's lease, which the completion writes */
    bool writes_always; /* writes the lease after every status, not only after OK */
    char error[DLOCK_ERROR_SIZE];
};

static void done(dlock_status st, dlock_lease *lease, void *arg)
{
    struct answer *answer = arg;

    answer->status = st;
    strncpy(answer->error, dlock_error(), sizeof(answer->error) - 1);
    if (st == DLOCK_OK || answer->writes_always)
        *answer->lease = *lease;
    dlock_bell_ring(&answer->bell);
}

static dlock_status wait_for(dlock_status taken, struct answer *answer)
{
    if (taken != DLOCK_OK)
        return taken;
    (void)dlock_bell_wait(&answer->bell, INT64_MAX);
    dlock_error_set(answer->error);
    return answer->status;
}

dlock_status __wrap_dlock_acquire_with(dlock_system *sys, const char *name,
                                       const dlock_request *request, dlock_lease *lease)
{
    uint64_t serial = 0;
    dlock_async *async = lease != NULL && request != NULL ? interface_of(sys, &serial) : NULL;
    struct answer answer = {.lease = lease};
    struct dlock_owner of = {0};
    struct owner *owner;
    dlock_status st;

    if (async == NULL)
        return __real_dlock_acquire_with(sys, name, request, lease);
    owner = owner_here(async, serial);
    st = wait_for(dlock_async_acquire(async, name, request, owner->owner, done, &answer, NULL),
                  &answer);
    if (st == DLOCK_OK && dlock_holds_owner(sys->holds, lease->hold, &of))
        owner->number = of.thread;
    return st;
}

dlock_status __wrap_dlock_acquire(dlock_system *sys, const char *name, int64_t wait_ms,
                                  dlock_lease *lease)
{
    dlock_request request = {.wait_ms = wait_ms};

    return __wrap_dlock_acquire_with(sys, name, &request, lease);
}

/* The interface, if the calling thread got the lease through this interface. */
static dlock_async *interface_for(dlock_system *sys, const dlock_lease *lease)
{
    uint64_t serial = 0;
    dlock_async *async = lease != NULL ? interface_of(sys, &serial) : NULL;
    struct dlock_owner of;

    if (async == NULL || !dlock_holds_owner(sys->holds, lease->hold, &of))
        return NULL;
    return of.thread == owner_here(async, serial)->number ? async : NULL;
}

dlock_status __wrap_dlock_release(dlock_system *sys, dlock_lease *lease)
{
    dlock_async *async = interface_for(sys, lease);
    struct answer answer = {.lease = lease, .writes_always = true};

    if (async == NULL)
        return __real_dlock_release(sys, lease);
    return wait_for(dlock_async_release(async, lease, done, &answer), &answer);
}

dlock_status __wrap_dlock_renew(dlock_system *sys, dlock_lease *lease)
{
    dlock_async *async = interface_for(sys, lease);
    struct answer answer = {.lease = lease};

    if (async == NULL)
        return __real_dlock_renew(sys, lease);
    return wait_for(dlock_async_renew(async, lease, done, &answer), &answer);
}

dlock_status __wrap_dlock_abandon(dlock_system *sys, dlock_lease *lease)
{
    dlock_async *async = interface_for(sys, lease);
    struct answer answer = {.lease = lease, .writes_always = true};

    if (async == NULL)
        return __real_dlock_abandon(sys, lease);
    return wait_for(dlock_async_abandon(async, lease, done, &answer), &answer);
}
