/* SPDX-License-Identifier: MIT */
/* voucher_cache.c -- caches the sale window of each voucher for a second.
 *
 * A slot is a sequence lock.  Each of its words is stored with release and loaded with
 * acquire, so a reader that saw a word of a later write also sees that write's odd version
 * when it looks at the version again.
 */
#include "app/voucher_cache.h"

#include "base/os/clock.h"

bool voucher_cache_init(struct voucher_cache *cache)
{
    dlock_mutex_init(&cache->mutex);
    return dlock_condition_init(&cache->read);
}

static int64_t load(const _Atomic int64_t *word)
{
    return atomic_load_explicit(word, memory_order_acquire);
}

static void store(_Atomic int64_t *word, int64_t value)
{
    atomic_store_explicit(word, value, memory_order_release);
}

/* The age in ns of the slot's copy of this voucher; INT64_MAX: the slot has no copy. */
static int64_t peek(const struct voucher_slot *slot, int64_t voucher_id,
                    struct voucher_window *window)
{
    uint64_t version = atomic_load_explicit(&slot->version, memory_order_acquire);
    int64_t read_ns;

    window->voucher_id = load(&slot->voucher_id);
    window->begin_us = load(&slot->begin_us);
    window->end_us = load(&slot->end_us);
    window->clock_ahead_us = load(&slot->clock_ahead_us);
    window->is_on_offer = load(&slot->is_on_offer) != 0;
    read_ns = load(&slot->read_ns);
    if (version % 2 != 0 || read_ns == 0 || window->voucher_id != voucher_id ||
        atomic_load_explicit(&slot->version, memory_order_relaxed) != version)
        return INT64_MAX;
    return dlock_clock_ns() - read_ns;
}

/* Fill the slot.  Only the thread that set is_being_read calls this. */
static void fill(struct voucher_slot *slot, const struct voucher_window *window,
                 int64_t read_ns)
{
    uint64_t version = atomic_load_explicit(&slot->version, memory_order_relaxed);

    atomic_store_explicit(&slot->version, version + 1, memory_order_relaxed);
    store(&slot->voucher_id, window->voucher_id);
    store(&slot->begin_us, window->begin_us);
    store(&slot->end_us, window->end_us);
    store(&slot->clock_ahead_us, window->clock_ahead_us);
    store(&slot->is_on_offer, window->is_on_offer);
    store(&slot->read_ns, read_ns);
    atomic_store_explicit(&slot->version, version + 2, memory_order_release);
}

/* Read the window for all waiting threads.  The mutex is held before and after, but not
 * meanwhile. */
static enum outcome read_for_all(struct voucher_cache *cache, struct voucher_slot *slot,
                                 int64_t voucher_id, voucher_read *read, void *arg,
                                 struct voucher_window *window)
{
    int64_t now_ns = dlock_clock_ns();
    enum outcome outcome;

    slot->is_being_read = true;
    slot->asked_id = voucher_id;
    slot->begun++;
    dlock_mutex_unlock(&cache->mutex);
    outcome = read(arg, voucher_id, window);
    if (outcome == OUTCOME_ACCEPTED)
        fill(slot, window, now_ns);
    dlock_mutex_lock(&cache->mutex);
    slot->outcome = outcome;
    slot->is_being_read = false;
    dlock_condition_broadcast(&cache->read);
    return outcome;
}

/* Get the window by a read, of this thread or another.  The caller holds the mutex.  A
 * failed read during the wait is this thread's answer too.  UNKNOWN_VOUCHER counts only
 * from a read that began after the question. */
static enum outcome get_slowly(struct voucher_cache *cache, struct voucher_slot *slot,
                               int64_t voucher_id, voucher_read *read, void *arg,
                               struct voucher_window *window)
{
    uint64_t begun = slot->begun;
    bool has_waited = false;

    for (;;) {
        bool is_shared = has_waited && slot->asked_id == voucher_id &&
                         !slot->is_being_read &&
                         (slot->outcome != OUTCOME_UNKNOWN_VOUCHER || slot->begun > begun);

        if (peek(slot, voucher_id, window) < (int64_t)VOUCHER_CACHE_MS * 1000000)
            return OUTCOME_ACCEPTED;
        if (is_shared && slot->outcome != OUTCOME_ACCEPTED)
            return slot->outcome;
        if (!slot->is_being_read)
            return read_for_all(cache, slot, voucher_id, read, arg, window);
        dlock_condition_wait(&cache->read, &cache->mutex);
        has_waited = true;
    }
}

enum outcome voucher_cache_get(struct voucher_cache *cache, int64_t voucher_id,
                               voucher_read *read, void *arg,
                               struct voucher_window *window)
{
    struct voucher_slot *slot =
        &cache->slots[(uint64_t)voucher_id % VOUCHER_CACHE_SLOTS];
    int64_t age_ns = peek(slot, voucher_id, window);
    enum outcome outcome = OUTCOME_ACCEPTED;

    if (age_ns < (int64_t)VOUCHER_CACHE_MS * 1000000)
        return OUTCOME_ACCEPTED;
    dlock_mutex_lock(&cache->mutex);
    if (age_ns >= (int64_t)VOUCHER_CACHE_OLD_MS * 1000000 || !slot->is_being_read)
        outcome = get_slowly(cache, slot, voucher_id, read, arg, window);
    dlock_mutex_unlock(&cache->mutex);
    return outcome;
}
