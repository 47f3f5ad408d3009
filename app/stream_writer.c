/* SPDX-License-Identifier: MIT */
/* stream_writer.c -- the thread that writes the rows of queued orders.
 *
 * The writer tries all orders of its batch in rounds.  While PostgreSQL fails, the writer takes no
 * further orders.  Blocked orders, whose lock is busy, whose row somebody has locked or whose fence
 * is too old, must not delay the orders of other locks: the writer keeps at most BLOCKED_MAX of
 * them, and takes further orders into the free places of the batch.  The writer lets go of blocked
 * orders beyond that number; they are still in the stream, and a writer claims them after
 * --stream-claim. */
#include "app/stream_writer.h"

#include <stdlib.h>
#include <string.h>

#include "app/stream_sale.h"
#include "base/os/clock.h"
#include "base/os/condition.h"
#include "base/os/thread.h"

enum {
    LOOK_MS = 100, /* the time between two checks for orders to claim */
    PAUSE_FIRST_MS = 10,
    PAUSE_LAST_MS = 500,
    IDLE_ROUNDS_MAX = STREAM_TRIES_MAX, /* rounds in which no order was finished; an entry
                                         * that PostgreSQL refuses is poison by then */
    BLOCKED_MAX = STREAM_BATCH_MAX / 2,
    BLOCKED_ROUNDS_MAX = 3, /* rounds after which as many orders as before were blocked */
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
    size_t blocked; /* orders of the batch that were blocked in the last round */
    int idle_rounds, blocked_rounds;
    int64_t pause_ms;
};

/* Sleep until an order is queued or the thread has to end, at most `ms`. */
static void rest(struct stream_writer *t, int64_t ms)
{
    int64_t until_ns = dlock_clock_after(dlock_clock_ns(), ms);

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
        t->writings[i].is_tried = t->writings[i].is_blocked = false;
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
    if (it->state == STREAM_POISON)
        return it->entry.is_genuine ? "poison" : "forged";
    return it->state == STREAM_WRITTEN ? "written" : outcome_info(it->refusal)->name;
}

/* Count a finished order, and log a broken promise. */
static void tell(struct stream_writer *t, const struct stream_writing *it)
{
    struct metrics_cell *cell = t->worker->cell;
    const struct stream_entry *e = &it->entry;

    if (it->state == STREAM_WRITTEN) {
        metrics_count(&cell->stream_written);
    } else if (it->state == STREAM_POISON) {
        metrics_count(e->is_genuine ? &cell->stream_poison : &cell->stream_forged);
        LIMITED_ERROR("an entry of the stream was moved aside: entry %s, user %lld, request %s: %s",
                      e->id, (long long)e->user_id, e->request_id, it->reason);
    } else {
        metrics_count(&cell->stream_refused);
        LIMITED_ERROR("a promise is broken: order %lld of user %lld, request %s, was queued and "
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
    if (!stream_settle(t->service->stream, ends, ended)) {
        readiness_fail(t->service->readiness, READINESS_STREAM, 0, dlock_error());
        return false;
    }
    for (size_t i = 0; i < t->count; i++) {
        if (t->writings[i].state != STREAM_OPEN)
            tell(t, &t->writings[i]);
        else
            t->writings[left++] = t->writings[i];
    }
    t->count = left;
    return true;
}

/* Is the order in the batch already?  Redis hands an order out again to the writer that
 * keeps it for longer than --stream-claim. */
static bool is_kept(const struct stream_writer *t, const struct stream_entry *entry)
{
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->writings[i].entry.id, entry->id) == 0)
            return true;
    return false;
}

static void begin(struct stream_writer *t, struct stream_writing *it,
                  const struct stream_entry *entry)
{
    *it = (struct stream_writing){.entry = *entry};
    if (entry->is_claimed)
        metrics_count(&t->worker->cell->stream_claimed);
    if (entry->is_genuine)
        return;
    it->state = STREAM_POISON;
    (void)snprintf(it->reason, STREAM_REASON_MAX,
                   "it has no MAC by a key of --token-key-file, so no service made it");
}

/* Take orders into the free places of the batch, and put them before the blocked orders,
 * which may wait for their locks.  Returns the number of added orders. */
static size_t take(struct stream_writer *t)
{
    struct stream_entry entries[STREAM_BATCH_MAX];
    size_t count, added = 0;
    int64_t missing = 0;

    if (t->count == STREAM_BATCH_MAX)
        return 0;
    if (!stream_take(t->service->stream, entries, STREAM_BATCH_MAX - t->count, &count, &missing)) {
        readiness_fail(t->service->readiness, READINESS_STREAM, 0, "orders cannot be taken");
        return 0;
    }
    if (missing > 0)
        atomic_fetch_add(&t->worker->cell->stream_vanished, (uint64_t)missing);
    if (missing != 0)
        LIMITED_ERROR("the stream has %lld entries %s than the services have queued",
                      llabs((long long)missing), missing > 0 ? "fewer" : "more");
    for (size_t i = 0; i < count; i++)
        if (!is_kept(t, &entries[i]))
            entries[added++] = entries[i];
    memmove(&t->writings[added], t->writings, t->count * sizeof(t->writings[0]));
    for (size_t i = 0; i < added; i++)
        begin(t, &t->writings[i], &entries[i]);
    t->count += added;
    if (added > 0)
        t->idle_rounds = 0;
    return added;
}

/* Count the rounds without progress, after a round that began with `before` orders. */
static void count_rounds(struct stream_writer *t, size_t before)
{
    size_t blocked_before = t->blocked;

    t->blocked = 0;
    for (size_t i = 0; i < t->count; i++)
        t->blocked += t->writings[i].is_blocked;
    if (blocked_before > 0 && t->blocked >= blocked_before)
        t->blocked_rounds++;
    else
        t->blocked_rounds = 0;
    if (t->count == before)
        t->idle_rounds++;
    else
        t->idle_rounds = 0;
}

/* Let go of orders that would delay others: the blocked orders beyond BLOCKED_MAX that
 * were taken last, and with several databases the orders of a database that is down.
 * They are claimed again after --stream-claim. */
static void return_orders(struct stream_writer *t)
{
    bool is_down = partitions_count(t->service->databases) > 1 && t->blocked < t->count &&
                   t->idle_rounds >= IDLE_ROUNDS_MAX;
    size_t too_many = t->blocked_rounds >= BLOCKED_ROUNDS_MAX && t->blocked > BLOCKED_MAX
                          ? t->blocked - BLOCKED_MAX
                          : 0;
    size_t kept = 0;

    t->blocked -= too_many;
    for (size_t i = 0; i < t->count; i++) {
        bool is_blocked = t->writings[i].is_blocked;

        if (is_blocked ? too_many == 0 : !is_down)
            t->writings[kept++] = t->writings[i];
        else if (is_blocked)
            too_many--;
    }
    t->count = kept;
}

/* Try every order of the batch once, and settle those that are finished.  After the time
 * of a stop, no further voucher is tried. */
static void write_round(struct stream_writer *t)
{
    struct stream_writing *group[STREAM_BATCH_MAX];
    size_t before = t->count, count;

    begin_round(t);
    while (!is_over(t) && (count = next_group(t, group)) > 0)
        stream_sell(t->worker, group, count);
    (void)settle(t);
    count_rounds(t, before);
    return_orders(t);
}

/* Wait before the next round.  A new order ends the wait if the writer may take it. */
static void pause_round(struct stream_writer *t)
{
    t->pause_ms = t->idle_rounds > 0 ? t->pause_ms * 2 : PAUSE_FIRST_MS;
    t->pause_ms = t->pause_ms < PAUSE_LAST_MS ? t->pause_ms : PAUSE_LAST_MS;
    if (t->blocked == t->count && t->count < STREAM_BATCH_MAX && !is_ending(t))
        rest(t, t->pause_ms);
    else
        dlock_clock_sleep_until(dlock_clock_after(dlock_clock_ns(), t->pause_ms));
}

static void *run(void *arg)
{
    struct stream_writer *t = arg;

    t->pause_ms = PAUSE_FIRST_MS;
    while (!is_over(t)) {
        bool was_ending = is_ending(t);
        size_t added = t->blocked == t->count ? take(t) : 0;

        if (t->count == 0 && was_ending)
            break;
        if (t->count == 0) {
            rest(t, LOOK_MS);
            continue;
        }
        write_round(t);
        if (t->count > 0 && (added == 0 || t->blocked < t->count) && !is_over(t))
            pause_round(t);
    }
    return NULL;
}

/* ---- start and stop ---- */

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
