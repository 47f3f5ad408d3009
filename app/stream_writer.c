/* SPDX-License-Identifier: MIT */
/* stream_writer.c -- the thread that writes the rows of queued orders. */
#include "app/stream_writer.h"

#include <stdlib.h>
#include <string.h>

#include "app/stream_sale.h"
#include "base/os/clock.h"
#include "base/os/condition.h"
#include "base/os/thread.h"
#include "base/text/limited.h"

enum {
    LOOK_MS = 100, /* the time between two checks for orders to claim */
    PAUSE_FIRST_MS = 10,
    PAUSE_LAST_MS = 500,
    IDLE_ROUNDS_MAX = 2, /* rounds in which no order was finished */
};

struct stream_writer {
    struct service *service;
    struct worker *worker;
    struct dlock_thread thread;
    struct dlock_mutex mutex; /* protects the next four fields */
    struct dlock_condition changed;
    bool is_nudged;
    bool is_ending;
    int64_t until_ns; /* after is_ending was set */
    struct stream_writing writings[STREAM_BATCH_MAX]; /* this and the rest belong to the
                                                       * thread */
    size_t count;
};

/* Sleep until an order is queued or the thread has to end, at most LOOK_MS. */
static void rest(struct stream_writer *t)
{
    int64_t until_ns = dlock_clock_after(dlock_clock_ns(), LOOK_MS);

    dlock_mutex_lock(&t->mutex);
    while (!t->is_ending && !t->is_nudged &&
           dlock_condition_wait_until(&t->changed, &t->mutex, until_ns))
        ; /* the wait may end early */
    t->is_nudged = false;
    dlock_mutex_unlock(&t->mutex);
}

static bool is_ending(struct stream_writer *t)
{
    bool ending;

    dlock_mutex_lock(&t->mutex);
    ending = t->is_ending;
    dlock_mutex_unlock(&t->mutex);
    return ending;
}

static bool is_over(struct stream_writer *t)
{
    bool over;

    dlock_mutex_lock(&t->mutex);
    over = t->is_ending && dlock_clock_ns() >= t->until_ns;
    dlock_mutex_unlock(&t->mutex);
    return over;
}

/* ---- a batch ---- */

static void begin_round(struct stream_writer *t)
{
    for (size_t i = 0; i < t->count; i++)
        t->writings[i].is_tried = false;
}

/* Choose the next orders of this round, all of one voucher.  Returns their number. */
static size_t next_group(struct stream_writer *t, struct stream_writing **group)
{
    size_t count = 0;

    for (size_t i = 0; i < t->count; i++) {
        struct stream_writing *it = &t->writings[i];

        if (it->state == STREAM_OPEN && !it->is_tried &&
            (count == 0 || group[0]->entry.voucher_id == it->entry.voucher_id))
            group[count++] = it;
    }
    return count;
}

static const char *verdict_of(const struct stream_writing *it)
{
    if (it->state == STREAM_WRITTEN)
        return "written";
    return it->state == STREAM_POISON ? "poison" : outcome_info(it->refusal)->name;
}

/* Count a finished order, and log a broken promise. */
static void tell(struct stream_writer *t, const struct stream_writing *it)
{
    struct metrics_cell *cell = t->worker->cell;
    const struct stream_entry *e = &it->entry;

    if (it->state == STREAM_WRITTEN) {
        metrics_count(&cell->stream_written);
    } else if (it->state == STREAM_POISON) {
        metrics_count(&cell->stream_poison);
        log_error("a queued order cannot be written and was moved aside: entry %s, user %lld, "
                  "request %s: %s",
                  e->id, (long long)e->user_id, e->request_id, it->reason);
    } else {
        metrics_count(&cell->stream_refused);
        log_error("a promise is broken: order %lld of user %lld, request %s, was queued and "
                  "is refused: %s",
                  (long long)e->order_id, (long long)e->user_id, e->request_id,
                  verdict_of(it));
    }
}

/* Settle the finished orders in the stream, and remove them from the batch.  False:
 * Redis did not confirm; this writer or another one settles them later. */
static bool settle(struct stream_writer *t)
{
    struct stream_end ends[STREAM_BATCH_MAX];
    size_t ended = 0, left = 0;

    for (size_t i = 0; i < t->count; i++)
        if (t->writings[i].state != STREAM_OPEN)
            ends[ended++] = (struct stream_end){
                &t->writings[i].entry, verdict_of(&t->writings[i]), t->writings[i].reason};
    if (!stream_settle(t->service->stream, ends, ended))
        return false;
    for (size_t i = 0; i < t->count; i++) {
        if (t->writings[i].state != STREAM_OPEN)
            tell(t, &t->writings[i]);
        else
            t->writings[left++] = t->writings[i];
    }
    t->count = left;
    return true;
}

static void take(struct stream_writer *t)
{
    struct stream_entry entries[STREAM_BATCH_MAX];

    if (!stream_take(t->service->stream, entries, &t->count))
        t->count = 0;
    for (size_t i = 0; i < t->count; i++) {
        t->writings[i] = (struct stream_writing){.entry = entries[i]};
        if (entries[i].is_claimed)
            metrics_count(&t->worker->cell->stream_claimed);
        if (entries[i].is_readable)
            continue;
        t->writings[i].state = STREAM_POISON;
        (void)snprintf(t->writings[i].reason, STREAM_REASON_MAX,
                       "the entry has not the fields of an order");
    }
}

/* Must the writer give up the rest of the batch?  With several databases, one that is
 * down must not delay the orders of the others.  The orders that are given up are
 * claimed again after --stream-claim. */
static bool must_leave(struct stream_writer *t, int idle_rounds)
{
    if (partitions_count(t->service->databases) == 1 || idle_rounds < IDLE_ROUNDS_MAX)
        return false;
    t->count = 0;
    return true;
}

/* Write the orders that were taken, in rounds, until all of them are finished. */
static void write_batch(struct stream_writer *t)
{
    int64_t pause_ms = PAUSE_FIRST_MS;
    int idle_rounds = 0;

    while (t->count > 0) {
        struct stream_writing *group[STREAM_BATCH_MAX];
        size_t before = t->count, count;

        begin_round(t);
        while ((count = next_group(t, group)) > 0)
            stream_sell(t->worker, group, count);
        if (settle(t) && t->count == 0)
            return;
        if (is_over(t))
            return;
        if (t->count == before && must_leave(t, ++idle_rounds))
            return;
        pause_ms = t->count < before ? PAUSE_FIRST_MS : pause_ms * 2;
        pause_ms = pause_ms < PAUSE_LAST_MS ? pause_ms : PAUSE_LAST_MS;
        dlock_clock_sleep_until(dlock_clock_after(dlock_clock_ns(), pause_ms));
    }
}

static void *run(void *arg)
{
    struct stream_writer *t = arg;

    while (!is_over(t)) {
        bool was_ending = is_ending(t);

        take(t);
        if (t->count > 0)
            write_batch(t);
        else if (was_ending)
            break;
        else
            rest(t);
    }
    return NULL;
}

/* ---- its life ---- */

struct stream_writer *stream_writer_start(struct service *service)
{
    struct stream_writer *t = calloc(1, sizeof(*t));

    if (t == NULL)
        return NULL;
    dlock_mutex_init(&t->mutex);
    t->service = service;
    t->worker = worker_new(service);
    if (t->worker == NULL || !dlock_condition_init(&t->changed))
        goto no_condition;
    if (dlock_thread_start(&t->thread, run, t) == 0)
        return t;
    dlock_condition_destroy(&t->changed);
no_condition:
    worker_free(t->worker);
    dlock_mutex_destroy(&t->mutex);
    free(t);
    return NULL;
}

void stream_writer_nudge(struct stream_writer *t)
{
    dlock_mutex_lock(&t->mutex);
    if (!t->is_nudged)
        dlock_condition_signal(&t->changed);
    t->is_nudged = true;
    dlock_mutex_unlock(&t->mutex);
}

void stream_writer_stop(struct stream_writer *t, int64_t until_ns)
{
    int64_t left;

    if (t == NULL)
        return;
    dlock_mutex_lock(&t->mutex);
    t->is_ending = true;
    t->until_ns = until_ns;
    dlock_condition_signal(&t->changed);
    dlock_mutex_unlock(&t->mutex);
    dlock_thread_join(&t->thread);
    left = stream_leave(t->service->stream);
    if (left > 0)
        log_warn("%lld orders are left in the stream %s: the next writer takes them",
                 (long long)left, t->service->config->stream_name);
    else if (left < 0)
        log_warn("Redis does not say how many orders are left in the stream %s",
                 t->service->config->stream_name);
    worker_free(t->worker);
    dlock_condition_destroy(&t->changed);
    dlock_mutex_destroy(&t->mutex);
    free(t);
}
