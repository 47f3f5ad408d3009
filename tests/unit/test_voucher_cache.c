/* SPDX-License-Identifier: MIT */
/* test_voucher_cache.c -- one thread reads a sale window for all threads that need it. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/voucher_cache.h"
#include "base/text/duration.h"
#include "tests/registered.h"

enum { ASKERS = 16, KNOWN = 7, OTHER = KNOWN + VOUCHER_CACHE_SLOTS };

/* A database whose reads the test can delay. */
struct source {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int reads;       /* reads that have begun */
    int let_through; /* the number of reads that may end */
    int ended;
    enum outcome outcome;
};

static struct source source = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0,
                               OUTCOME_ACCEPTED};
static struct voucher_cache *cache;

static enum outcome read_slowly(void *arg, int64_t voucher_id,
                                struct voucher_window *window)
{
    enum outcome outcome;
    int mine;

    (void)arg;
    (void)pthread_mutex_lock(&source.mutex);
    mine = ++source.reads;
    outcome = source.outcome; /* the state when the read began, as with a snapshot */
    (void)pthread_cond_broadcast(&source.changed);
    while (source.let_through < mine)
        (void)pthread_cond_wait(&source.changed, &source.mutex);
    source.ended++;
    (void)pthread_mutex_unlock(&source.mutex);
    *window = (struct voucher_window){voucher_id, mine, voucher_id * 1000 + mine,
                                      voucher_id * 2000 + mine, voucher_id == KNOWN};
    return outcome;
}

static void let_through(int count)
{
    (void)pthread_mutex_lock(&source.mutex);
    source.let_through = count;
    (void)pthread_cond_broadcast(&source.changed);
    (void)pthread_mutex_unlock(&source.mutex);
}

static void await_reads(int count)
{
    (void)pthread_mutex_lock(&source.mutex);
    while (source.reads < count)
        (void)pthread_cond_wait(&source.changed, &source.mutex);
    (void)pthread_mutex_unlock(&source.mutex);
}

struct asker {
    pthread_t thread;
    int64_t voucher_id;
    struct voucher_window window;
    enum outcome outcome;
};

static void *ask(void *arg)
{
    struct asker *me = arg;

    me->outcome =
        voucher_cache_get(cache, me->voucher_id, read_slowly, NULL, &me->window);
    return NULL;
}

static void start(struct asker *asker, int64_t voucher_id)
{
    *asker = (struct asker){.voucher_id = voucher_id};
    assert_int_equal(pthread_create(&asker->thread, NULL, ask, asker), 0);
}

static int begin(void **state)
{
    (void)state;
    cache = aligned_alloc(alignof(struct voucher_cache), sizeof(*cache));
    assert_non_null(cache);
    memset(cache, 0, sizeof(*cache));
    assert_true(voucher_cache_init(cache));
    source.reads = source.let_through = source.ended = 0;
    source.outcome = OUTCOME_ACCEPTED;
    return 0;
}

static int end(void **state)
{
    (void)state;
    free(cache);
    return 0;
}

TEST_WITH(begin, end, many_askers_cost_one_read)
{
    struct asker askers[ASKERS];

    for (int i = 0; i < ASKERS; i++)
        start(&askers[i], KNOWN);
    await_reads(1);
    let_through(ASKERS);
    for (int i = 0; i < ASKERS; i++) {
        (void)pthread_join(askers[i].thread, NULL);
        assert_int_equal(askers[i].outcome, OUTCOME_ACCEPTED);
        assert_int_equal(askers[i].window.begin_us, 1);
    }
    assert_int_equal(source.reads, 1);
}

TEST_WITH(begin, end, nothing_is_remembered_of_a_voucher_that_is_not_there)
{
    struct voucher_window window;

    source.outcome = OUTCOME_UNKNOWN_VOUCHER;
    let_through(ASKERS);
    assert_int_equal(voucher_cache_get(cache, KNOWN, read_slowly, NULL, &window),
                     OUTCOME_UNKNOWN_VOUCHER);
    source.outcome = OUTCOME_ACCEPTED;
    assert_int_equal(voucher_cache_get(cache, KNOWN, read_slowly, NULL, &window),
                     OUTCOME_ACCEPTED);
    assert_int_equal(source.reads, 2);
}

/* The voucher was created while a read was under way that could not see it yet. */
TEST_WITH(begin, end, a_read_that_began_before_the_question_cannot_say_no)
{
    struct asker early, late;

    source.outcome = OUTCOME_UNKNOWN_VOUCHER;
    start(&early, KNOWN);
    await_reads(1);
    (void)pthread_mutex_lock(&source.mutex);
    source.outcome = OUTCOME_ACCEPTED;
    (void)pthread_mutex_unlock(&source.mutex);
    start(&late, KNOWN);
    let_through(ASKERS);
    (void)pthread_join(early.thread, NULL);
    (void)pthread_join(late.thread, NULL);
    assert_int_equal(early.outcome, OUTCOME_UNKNOWN_VOUCHER);
    assert_int_equal(late.outcome, OUTCOME_ACCEPTED);
    assert_int_equal(late.window.begin_us, 2);
}

static bool has_begun_again(int reads)
{
    bool has;

    (void)pthread_mutex_lock(&source.mutex);
    has = source.reads > reads;
    (void)pthread_mutex_unlock(&source.mutex);
    return has;
}

/* While one thread reads an old window again, the other threads use the old one. */
TEST_WITH(begin, end, an_old_window_serves_while_it_is_read_again)
{
    struct voucher_window window;
    struct asker reader;
    int64_t begin_ns = monotonic_ns();

    let_through(1);
    assert_int_equal(voucher_cache_get(cache, KNOWN, read_slowly, NULL, &window),
                     OUTCOME_ACCEPTED);
    /* The test sets the age of the window, since waiting proves nothing on a slow machine. */
    atomic_store(&cache->slots[KNOWN].read_ns,
                 begin_ns - (int64_t)(VOUCHER_CACHE_MS + 1) * 1000000);
    start(&reader, KNOWN);
    await_reads(2);
    atomic_store(&cache->slots[KNOWN].read_ns,
                 monotonic_ns() - (int64_t)(VOUCHER_CACHE_MS + 1) * 1000000);
    assert_int_equal(voucher_cache_get(cache, KNOWN, read_slowly, NULL, &window),
                     OUTCOME_ACCEPTED);
    assert_int_equal(window.begin_us, 1);
    assert_false(has_begun_again(2));
    let_through(2);
    (void)pthread_join(reader.thread, NULL);
    assert_int_equal(reader.window.begin_us, 2);
}

TEST_WITH(begin, end, vouchers_that_share_a_slot_are_not_mixed_up)
{
    struct asker askers[ASKERS];

    let_through(10 * ASKERS);
    for (int i = 0; i < ASKERS; i++)
        start(&askers[i], i % 2 == 0 ? KNOWN : OTHER);
    for (int i = 0; i < ASKERS; i++) {
        (void)pthread_join(askers[i].thread, NULL);
        assert_int_equal(askers[i].outcome, OUTCOME_ACCEPTED);
        assert_int_equal(askers[i].window.voucher_id, askers[i].voucher_id);
        assert_int_equal(askers[i].window.end_us,
                         askers[i].voucher_id * 1000 + askers[i].window.begin_us);
        assert_int_equal(askers[i].window.clock_ahead_us,
                         askers[i].voucher_id * 2000 + askers[i].window.begin_us);
        assert_int_equal(askers[i].window.is_on_offer, askers[i].voucher_id == KNOWN);
    }
}
