/* SPDX-License-Identifier: MIT */
/* voucher_cache.h -- caches the sale window of each voucher for a second.
 *
 * All threads share one cache.  A hit reads a few words and writes nothing, so hits do
 * not slow each other down.  If a window has to be read, one thread reads it and the
 * others use its answer, so many requests for the same voucher cost one query.  A
 * window that is older than a second is used for one more second while it is read
 * again.
 *
 * The absence of a voucher is not cached, because the voucher may be created the next
 * moment: each answer UNKNOWN_VOUCHER comes from a read that began after the question.
 *
 * Threads     Any, after voucher_cache_init().
 */
#ifndef APP_VOUCHER_CACHE_H
#define APP_VOUCHER_CACHE_H

#include <stdalign.h>
#include <stdatomic.h>

#include "app/outcome.h"
#include "base/os/condition.h"
#include "db/voucher.h"

enum {
    VOUCHER_CACHE_SLOTS = 1024, /* numbers that differ by a multiple of this share a slot */
    VOUCHER_CACHE_MS = 1000,
    VOUCHER_CACHE_OLD_MS = 2000,
};

/* The cached facts of one voucher, and the state of its read. */
struct voucher_slot {
    alignas(64) _Atomic uint64_t version; /* odd while the six below change */
    _Atomic int64_t voucher_id;
    _Atomic int64_t begin_us;
    _Atomic int64_t end_us;
    _Atomic int64_t clock_ahead_us;
    _Atomic int64_t is_on_offer;
    _Atomic int64_t read_ns; /* when the window was read; 0: empty */
    /* Below: under the mutex. */
    uint64_t begun;        /* reads that have begun */
    bool is_being_read;    /* the last of them has not ended */
    int64_t asked_id;      /* the voucher of the last one */
    enum outcome outcome;  /* the outcome of the last one */
};

struct voucher_cache {
    struct voucher_slot slots[VOUCHER_CACHE_SLOTS];
    struct dlock_mutex mutex;
    struct dlock_condition read; /* signalled when a read has ended */
};

/* Read a window from the database.
 *   ACCEPTED  *window is the window
 *   UNKNOWN_VOUCHER   there is no such voucher
 *   otherwise the database could not be asked */
typedef enum outcome voucher_read(void *arg, int64_t voucher_id,
                                  struct voucher_window *window);

/* Initialise an empty cache.  False: no memory. */
bool voucher_cache_init(struct voucher_cache *cache);

/* Get the window of a voucher, from the cache or by `read`, which is called at most
 * once, in this thread.  The call may wait for a read of another thread, and its answer
 * may be that of the other read.  Answers as `read`. */
enum outcome voucher_cache_get(struct voucher_cache *cache, int64_t voucher_id,
                               voucher_read *read, void *arg,
                               struct voucher_window *window);

#endif /* APP_VOUCHER_CACHE_H */
