/* SPDX-License-Identifier: MIT */
/* etcd_watches.c -- wakes waiters when the key before theirs is deleted.
 *
 * One thread runs the watches of all locks that are waited for.  It starts with the first
 * waiter.  A lock stays watched for a while after its last waiter has left, because
 * another waiter is likely to come. */
#include "lock/stores/etcd_watches.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/os/clock.h"
#include "base/os/hash_table.h"
#include "base/os/mutex.h"
#include "base/os/thread.h"
#include "lock/stores/etcd_stream.h"

enum {
    LINGER_MS = 2000,
    BACKOFF_FIRST_MS = 20,
    BACKOFF_LAST_MS = 1000,
    FOREVER_MS = 3600000,
};

struct etcd_waiter {
    struct etcd_watches *watches;
    struct lock_watch *lock;
    struct etcd_turn turn;
};

/* The watch of one lock. */
struct lock_watch {
    struct etcd_watches *watches;
    char name[DLOCK_NAME_MAX + 1];
    struct etcd_turns turns;
    bool is_used;    /* a waiter has slept, so the revision to begin with is known */
    int64_t idle_ns; /* since when no thread waits */
    bool is_doubted;
    /* Only for the thread of the watches. */
    struct etcd_stream *stream;
    int64_t retry_ns;
    int64_t backoff_ms;
    UT_hash_handle hh;
};

struct etcd_watches {
    struct etcd_http *http;
    CURLM *multi;
    struct dlock_thread thread;
    struct dlock_mutex mutex; /* protects what follows */
    bool has_thread;
    bool stopping;
    struct lock_watch *locks;
};

struct etcd_watches *etcd_watches_open(struct etcd_http *http)
{
    struct etcd_watches *watches = calloc(1, sizeof(*watches));

    if (watches == NULL)
        return NULL;
    watches->http = http;
    watches->multi = curl_multi_init();
    if (watches->multi == NULL) {
        free(watches);
        return NULL;
    }
    dlock_mutex_init(&watches->mutex);
    return watches;
}

static void free_lock(struct etcd_watches *watches, struct lock_watch *lock)
{
    etcd_stream_end(lock->stream);
    HASH_DEL(watches->locks, lock);
    free(lock);
}

void etcd_watches_close(struct etcd_watches *watches)
{
    struct lock_watch *lock, *next;
    bool has_thread;

    if (watches == NULL)
        return;
    dlock_mutex_lock(&watches->mutex);
    watches->stopping = true;
    has_thread = watches->has_thread;
    dlock_mutex_unlock(&watches->mutex);
    if (has_thread) {
        (void)curl_multi_wakeup(watches->multi);
        dlock_thread_join(&watches->thread);
    }
    HASH_ITER(hh, watches->locks, lock, next)
        free_lock(watches, lock);
    (void)curl_multi_cleanup(watches->multi);
    dlock_mutex_destroy(&watches->mutex);
    free(watches);
}

/* --- the thread --- */

static void on_told(void *arg, const struct etcd_end *ends, size_t count, uint64_t revision)
{
    struct lock_watch *lock = arg;

    dlock_mutex_lock(&lock->watches->mutex);
    etcd_turns_told(&lock->turns, ends, count, revision);
    lock->backoff_ms = 0;
    dlock_mutex_unlock(&lock->watches->mutex);
}

static void on_forgotten(void *arg, uint64_t revision)
{
    struct lock_watch *lock = arg;

    dlock_mutex_lock(&lock->watches->mutex);
    etcd_turns_forget(&lock->turns, revision);
    dlock_mutex_unlock(&lock->watches->mutex);
}

static void begin_stream(struct lock_watch *lock, int64_t now_ns)
{
    struct etcd_news news = {on_told, on_forgotten, lock};

    lock->is_doubted = false;
    lock->backoff_ms = lock->backoff_ms == 0                     ? BACKOFF_FIRST_MS
                       : lock->backoff_ms * 2 < BACKOFF_LAST_MS ? lock->backoff_ms * 2
                                                                : BACKOFF_LAST_MS;
    lock->retry_ns = dlock_clock_after(now_ns, lock->backoff_ms);
    lock->stream = etcd_stream_begin(lock->watches->http, lock->watches->multi, lock->name,
                                     lock->turns.seen, &news);
}

/* Begin, restart or end the watch of one lock as needed.  Returns when to check again.
 * The caller holds the mutex. */
static int64_t attend(struct lock_watch *lock, int64_t now_ns)
{
    int64_t over_ns = dlock_clock_after(lock->idle_ns, LINGER_MS);

    if (lock->turns.waiters == NULL && now_ns >= over_ns) {
        free_lock(lock->watches, lock);
        return INT64_MAX;
    }
    if (lock->is_doubted) {
        etcd_stream_end(lock->stream);
        lock->stream = NULL;
    }
    if (lock->stream == NULL && lock->is_used && lock->turns.waiters != NULL &&
        now_ns >= lock->retry_ns)
        begin_stream(lock, now_ns);
    if (lock->turns.waiters == NULL)
        return over_ns;
    return lock->stream == NULL && lock->is_used ? lock->retry_ns : INT64_MAX;
}

/* Remove the streams that have ended. */
static void clear_broken(struct etcd_watches *watches)
{
    struct lock_watch *lock, *next;
    int rest;

    for (CURLMsg *said; (said = curl_multi_info_read(watches->multi, &rest)) != NULL;) {
        struct etcd_stream *broken = etcd_stream_of(said->easy_handle);

        etcd_stream_broke(broken);
        HASH_ITER(hh, watches->locks, lock, next)
            if (lock->stream == broken)
                lock->stream = NULL;
        etcd_stream_end(broken);
    }
}

static void *run(void *arg)
{
    struct etcd_watches *watches = arg;
    struct lock_watch *lock, *next;
    int running;

    dlock_mutex_lock(&watches->mutex);
    while (!watches->stopping) {
        int64_t now_ns = dlock_clock_ns();
        int64_t next_ns = dlock_clock_after(now_ns, FOREVER_MS);

        clear_broken(watches);
        HASH_ITER(hh, watches->locks, lock, next) {
            int64_t due_ns = attend(lock, now_ns);

            if (due_ns < next_ns)
                next_ns = due_ns;
        }
        dlock_mutex_unlock(&watches->mutex);
        (void)curl_multi_perform(watches->multi, &running);
        (void)curl_multi_poll(watches->multi, NULL, 0, dlock_clock_poll_ms(next_ns), NULL);
        (void)curl_multi_perform(watches->multi, &running);
        dlock_mutex_lock(&watches->mutex);
    }
    dlock_mutex_unlock(&watches->mutex);
    return NULL;
}

/* --- what this process knows by itself --- */

/* Find the watch of a lock.  NULL: no thread has waited for it lately.  The caller
 * holds the mutex. */
static struct lock_watch *find(struct etcd_watches *watches, const char *name)
{
    struct lock_watch *lock = NULL;

    HASH_FIND_STR(watches->locks, name, lock);
    return lock;
}

void etcd_watches_note(struct etcd_watches *watches, const char *name,
                       const struct etcd_end *end, uint64_t first_created)
{
    struct lock_watch *lock;

    dlock_mutex_lock(&watches->mutex);
    lock = find(watches, name);
    if (lock != NULL)
        etcd_turns_note(&lock->turns, end, first_created);
    dlock_mutex_unlock(&watches->mutex);
}

uint64_t etcd_watches_known(struct etcd_watches *watches, const char *name)
{
    const struct lock_watch *lock;
    uint64_t known;

    dlock_mutex_lock(&watches->mutex);
    lock = find(watches, name);
    known = lock != NULL ? lock->turns.known : 0;
    dlock_mutex_unlock(&watches->mutex);
    return known;
}

bool etcd_watches_wait(struct etcd_watches *watches, const char *name)
{
    const struct lock_watch *lock;
    bool waits;

    dlock_mutex_lock(&watches->mutex);
    lock = find(watches, name);
    waits = lock != NULL && lock->turns.waiters != NULL;
    dlock_mutex_unlock(&watches->mutex);
    return waits;
}

void etcd_watches_doubt(struct etcd_watches *watches, const char *name)
{
    struct lock_watch *lock;

    dlock_mutex_lock(&watches->mutex);
    lock = find(watches, name);
    if (lock != NULL)
        lock->is_doubted = true;
    dlock_mutex_unlock(&watches->mutex);
    (void)curl_multi_wakeup(watches->multi);
}

void etcd_watches_restart(struct etcd_watches *watches, const char *name, uint64_t revision)
{
    struct lock_watch *lock;

    dlock_mutex_lock(&watches->mutex);
    lock = find(watches, name);
    if (lock != NULL && etcd_turns_restart(&lock->turns, revision))
        lock->is_doubted = true;
    dlock_mutex_unlock(&watches->mutex);
    (void)curl_multi_wakeup(watches->multi);
}

/* --- to wait --- */

/* Find or make the watch of a lock.  NULL: no memory.  The caller holds the mutex. */
static struct lock_watch *find_or_make(struct etcd_watches *watches, const char *name)
{
    struct lock_watch *lock = find(watches, name);

    if (lock != NULL)
        return lock;
    lock = calloc(1, sizeof(*lock));
    if (lock == NULL)
        return NULL;
    lock->watches = watches;
    snprintf(lock->name, sizeof(lock->name), "%s", name);
    HASH_ADD_STR(watches->locks, name, lock);
    return lock;
}

struct etcd_waiter *etcd_waiter_begin(struct etcd_watches *watches, const char *name)
{
    struct etcd_waiter *waiter = calloc(1, sizeof(*waiter));

    if (waiter == NULL || !dlock_condition_init(&waiter->turn.told)) {
        free(waiter);
        return NULL;
    }
    waiter->watches = watches;
    dlock_mutex_lock(&watches->mutex);
    if (!watches->has_thread)
        watches->has_thread = dlock_thread_start(&watches->thread, run, watches) == 0;
    if (watches->has_thread)
        waiter->lock = find_or_make(watches, name);
    if (waiter->lock != NULL)
        etcd_turns_add(&waiter->lock->turns, &waiter->turn);
    dlock_mutex_unlock(&watches->mutex);
    if (waiter->lock != NULL)
        return waiter;
    dlock_condition_destroy(&waiter->turn.told);
    free(waiter);
    return NULL;
}

/* The first sleeping waiter sets the revision at which the watch begins.  The caller
 * holds the mutex. */
static void use(struct lock_watch *lock, uint64_t revision)
{
    bool has_to_begin = !lock->is_used || lock->stream == NULL;

    if (!lock->is_used)
        etcd_turns_begin(&lock->turns, revision);
    lock->is_used = true;
    if (has_to_begin)
        (void)curl_multi_wakeup(lock->watches->multi);
}

enum etcd_told etcd_waiter_sleep(struct etcd_waiter *waiter, const struct etcd_stand *stand,
                                 int64_t until_ns)
{
    struct dlock_mutex *mutex = &waiter->watches->mutex;
    struct etcd_turns *turns = &waiter->lock->turns;
    enum etcd_told told;

    dlock_mutex_lock(mutex);
    use(waiter->lock, stand->revision);
    etcd_turns_place(turns, &waiter->turn, stand);
    waiter->turn.sleeps = true;
    while ((told = etcd_turns_news(turns, &waiter->turn)) == ETCD_TOLD_NOTHING &&
           dlock_clock_ns() < until_ns)
        (void)dlock_condition_wait_until(&waiter->turn.told, mutex, until_ns);
    waiter->turn.sleeps = false;
    dlock_mutex_unlock(mutex);
    return told;
}

void etcd_waiter_end(struct etcd_waiter *waiter)
{
    struct etcd_watches *watches = waiter->watches;

    dlock_mutex_lock(&watches->mutex);
    etcd_turns_remove(&waiter->lock->turns, &waiter->turn);
    if (waiter->lock->turns.waiters == NULL) {
        waiter->lock->idle_ns = dlock_clock_ns();
        (void)curl_multi_wakeup(watches->multi);
    }
    dlock_mutex_unlock(&watches->mutex);
    dlock_condition_destroy(&waiter->turn.told);
    free(waiter);
}
