/* SPDX-License-Identifier: MIT */
/* test_lock_holds.c -- the table of the holds of a system; the read hold and the
 * write hold of one owner. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/os/clock.h"
#include "lock/holds.h"
#include "tests/registered.h"

static int64_t in_ms(int64_t ms)
{
    return dlock_clock_after(dlock_clock_ns(), ms);
}

/* Acquire a name with a lease of `ms`. */
static uint64_t take(struct dlock_holds *holds, const char *name, int64_t ms)
{
    struct dlock_hold *hold = dlock_holds_begin(holds, name, false);

    assert_non_null(hold);
    return dlock_holds_grant(holds, hold, in_ms(ms), in_ms(ms / 3), true);
}

/* The same as a reader or a writer of "a". */
static uint64_t take_as(struct dlock_holds *holds, bool shared, int64_t ms,
                        int lease_ms, bool watched)
{
    struct dlock_hold *hold = dlock_holds_begin(holds, "a", shared);

    assert_non_null(hold);
    hold->facts.lease_ms = lease_ms;
    return dlock_holds_grant(holds, hold, in_ms(ms), in_ms(ms / 3), watched);
}

/* Release the hold; returns its level. */
static int give(struct dlock_holds *holds, uint64_t id)
{
    int level = 0;
    struct dlock_hold *hold = dlock_holds_release(holds, id, &level);

    if (hold != NULL)
        dlock_holds_finish(holds, hold);
    return level;
}

enum { MANY = 5000, READERS = 2, CHURNS = 20000 };

TEST(a_lease_is_good_until_it_is_given_back)
{
    struct dlock_holds *holds = dlock_holds_open(false);
    struct dlock_hold *begun = dlock_holds_begin(holds, "a", false);
    uint64_t id;

    assert_int_equal(DLOCK_HOLD_BEGUN, begun->state);
    assert_int_equal(0, begun->id);
    dlock_holds_abandon(holds, begun);
    id = take(holds, "a", 60000);
    assert_true(dlock_holds_deadline_ns(holds, id) > dlock_clock_ns());
    assert_non_null(dlock_holds_find(holds, id));
    assert_int_equal(1, give(holds, id));
    assert_int_equal(0, dlock_holds_deadline_ns(holds, id));
    assert_null(dlock_holds_find(holds, id));
    assert_int_equal(0, give(holds, id));
    dlock_holds_close(holds);
}

TEST(made_up_ids_are_refused)
{
    struct dlock_holds *holds = dlock_holds_open(true);
    struct dlock_holds *other = dlock_holds_open(true);
    uint64_t id = take(holds, "a", 60000);
    const uint64_t bad[] = {0, 1, id + 1, id ^ (UINT64_C(1) << 24), ~id, UINT64_MAX,
                            0xffffff, id | 0xfffff0, UINT64_C(1) << 63};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(0, dlock_holds_deadline_ns(holds, bad[i]));
        assert_int_equal(0, give(holds, bad[i]));
    }
    take(other, "a", 60000);
    assert_int_equal(0, dlock_holds_deadline_ns(other, id));
    assert_int_equal(0, give(other, id));
    assert_int_equal(1, give(holds, id));
    dlock_holds_close(holds);
    dlock_holds_close(other);
}

TEST(a_used_slot_has_a_new_id)
{
    struct dlock_holds *holds = dlock_holds_open(false);
    uint64_t first = take(holds, "a", 60000);
    uint64_t second;

    give(holds, first);
    second = take(holds, "a", 60000);
    assert_true(first != second);
    assert_int_equal(first & 0xffffff, second & 0xffffff);
    assert_int_equal(0, dlock_holds_deadline_ns(holds, first));
    assert_int_equal(0, give(holds, first));
    assert_int_equal(1, give(holds, second));
    dlock_holds_close(holds);
}

TEST(levels_share_a_deadline_and_end_in_any_order)
{
    struct dlock_holds *holds = dlock_holds_open(true);
    uint64_t outer = take(holds, "a", 1000);
    uint64_t inner = take(holds, "a", 60000);
    uint64_t other = take(holds, "b", 500);

    assert_true(dlock_holds_deadline_ns(holds, outer) ==
                dlock_holds_deadline_ns(holds, inner));
    assert_true(dlock_holds_find(holds, outer) == dlock_holds_find(holds, inner));
    assert_true(dlock_holds_find(holds, other) != dlock_holds_find(holds, inner));
    assert_int_equal(2, give(holds, outer));
    assert_int_equal(0, give(holds, outer));
    assert_int_equal(0, dlock_holds_deadline_ns(holds, outer));
    assert_true(dlock_holds_deadline_ns(holds, inner) > dlock_clock_ns());
    outer = take(holds, "a", 60000);
    assert_int_equal(2, give(holds, inner));
    assert_int_equal(1, give(holds, outer));
    assert_int_equal(1, give(holds, other));
    dlock_holds_close(holds);
}

TEST(without_reentry_levels_are_strangers)
{
    struct dlock_holds *holds = dlock_holds_open(false);
    uint64_t first = take(holds, "a", 1000);
    uint64_t second = take(holds, "a", 60000);

    assert_true(dlock_holds_find(holds, first) != dlock_holds_find(holds, second));
    assert_int_equal(1, give(holds, first));
    assert_int_equal(1, give(holds, second));
    dlock_holds_close(holds);
}

TEST(a_hold_past_its_deadline_is_given_up)
{
    struct dlock_holds *holds = dlock_holds_open(true);
    uint64_t late = take(holds, "a", 0);
    char number[DLOCK_NUMBER_SIZE];
    struct dlock_hold *fresh;

    strcpy(number, dlock_owner_here()->number);
    fresh = dlock_holds_begin(holds, "a", false);
    assert_ptr_equal(fresh, fresh->root);
    /* The new hold has a new number, which the release of the old hold does not fit. */
    assert_string_not_equal(number, fresh->facts.number);
    assert_int_equal(0, dlock_holds_deadline_ns(holds, late));
    dlock_holds_abandon(holds, fresh);
    assert_int_equal(1, give(holds, late));
    dlock_holds_close(holds);
}

TEST(a_renewal_moves_only_what_is_held)
{
    struct dlock_holds *holds = dlock_holds_open(true);
    uint64_t id = take(holds, "a", 1000);
    struct dlock_hold *root = dlock_holds_find(holds, id);
    uint64_t serial = root->serial;
    int64_t far_ns = in_ms(60000);

    assert_true(dlock_holds_renewed(holds, root, serial, far_ns, far_ns));
    assert_true(dlock_holds_deadline_ns(holds, id) == far_ns);
    /* A renewal that was sent earlier and answered later must not shorten the lease. */
    assert_true(dlock_holds_renewed(holds, root, serial, far_ns - 5, far_ns));
    assert_true(dlock_holds_deadline_ns(holds, id) == far_ns);
    assert_false(dlock_holds_renewed(holds, root, serial + 1, far_ns + 5, far_ns));
    dlock_holds_lose(holds, root, serial + 1, true);
    assert_true(dlock_holds_is_held(holds, root, serial));
    dlock_holds_lose(holds, root, serial, true);
    assert_false(dlock_holds_is_held(holds, root, serial));
    assert_int_equal(0, dlock_holds_deadline_ns(holds, id));
    /* A hold that is lost stays lost. */
    assert_false(dlock_holds_renewed(holds, root, serial, far_ns + 5, far_ns));
    assert_int_equal(0, dlock_holds_deadline_ns(holds, id));
    give(holds, id);
    id = take(holds, "a", 60000);
    far_ns = in_ms(120000);
    assert_false(dlock_holds_renewed(holds, root, serial, far_ns, far_ns));
    assert_true(dlock_holds_deadline_ns(holds, id) < far_ns);
    give(holds, id);
    dlock_holds_close(holds);
}

/* The lock of a session has no lease that a renewal could prolong. */
TEST(a_probe_of_an_endless_hold_is_due_again_later)
{
    struct dlock_holds *holds = dlock_holds_open(false);
    struct dlock_hold *hold = dlock_holds_begin(holds, "a", false);
    uint64_t id = dlock_holds_grant(holds, hold, INT64_MAX, 1, true);
    const struct dlock_hold *root = dlock_holds_find(holds, id);

    assert_true(dlock_holds_renewed(holds, hold, hold->serial, INT64_MAX, 2));
    assert_true(root->renew_at_ns == 2);
    assert_true(dlock_holds_deadline_ns(holds, id) == INT64_MAX);
    give(holds, id);
    dlock_holds_close(holds);
}

static void count_visit(struct dlock_hold *root, void *arg)
{
    (void)root;
    ++*(int *)arg;
}

static int visits(struct dlock_holds *holds)
{
    int count = 0;

    dlock_holds_visit(holds, count_visit, &count);
    return count;
}

TEST(a_visit_sees_roots_that_are_held)
{
    struct dlock_holds *holds = dlock_holds_open(true);
    uint64_t outer = take(holds, "a", 60000);
    uint64_t inner = take(holds, "a", 60000);
    struct dlock_hold *root = dlock_holds_find(holds, outer);
    struct dlock_hold *begun;

    assert_int_equal(1, visits(holds));
    begun = dlock_holds_begin(holds, "b", false);
    assert_int_equal(1, visits(holds));
    dlock_holds_abandon(holds, begun);
    give(holds, outer);
    assert_int_equal(1, visits(holds));
    dlock_holds_lose(holds, root, root->serial, true);
    assert_int_equal(1, visits(holds)); /* its loss was not reported yet */
    root->untold = false;
    assert_int_equal(0, visits(holds));
    give(holds, inner);
    assert_int_equal(0, visits(holds));
    dlock_holds_close(holds);
}

TEST(thousands_fit_and_are_found)
{
    struct dlock_holds *holds = dlock_holds_open(true);
    static uint64_t ids[MANY];
    char name[32];

    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "name:%d", i);
        ids[i] = take(holds, name, 60000 + i);
    }
    assert_int_equal(MANY, visits(holds));
    for (int i = 0; i < MANY; i++) {
        struct dlock_hold *root = dlock_holds_find(holds, ids[i]);

        snprintf(name, sizeof(name), "name:%d", i);
        assert_string_equal(name, root->facts.key.name);
    }
    for (int i = 0; i < MANY; i++)
        assert_int_equal(1, give(holds, ids[i]));
    assert_int_equal(0, visits(holds));
    dlock_holds_close(holds);
}

/* A thread adds holds and removes them; other threads ask for the deadlines of its leases. */
struct churn {
    struct dlock_holds *holds;
    _Atomic uint64_t id;
    atomic_bool done;
    atomic_int wrong_count;
};

static void *ask(void *arg)
{
    struct churn *churn = arg;

    while (!atomic_load(&churn->done)) {
        uint64_t id = atomic_load(&churn->id);
        int64_t deadline_ns = dlock_holds_deadline_ns(churn->holds, id);

        /* Each deadline is that of the grant with this id. */
        if (deadline_ns != 0 && (uint64_t)deadline_ns != (id >> 24) + 1)
            atomic_fetch_add(&churn->wrong_count, 1);
    }
    return NULL;
}

TEST(leases_are_asked_while_they_change)
{
    struct churn churn = {.holds = dlock_holds_open(false)};
    pthread_t readers[READERS];

    for (int i = 0; i < READERS; i++)
        assert_int_equal(0, pthread_create(&readers[i], NULL, ask, &churn));
    for (int i = 0; i < CHURNS; i++) {
        struct dlock_hold *hold = dlock_holds_begin(churn.holds, "a", false);
        int64_t deadline_ns = (int64_t)hold->serial + 1;

        atomic_store(&churn.id,
                     dlock_holds_grant(churn.holds, hold, deadline_ns, INT64_MAX,
                                       false));
        give(churn.holds, atomic_load(&churn.id));
    }
    atomic_store(&churn.done, true);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    assert_int_equal(0, atomic_load(&churn.wrong_count));
    dlock_holds_close(churn.holds);
}

TEST(a_hold_is_watched_while_a_level_is)
{
    struct dlock_holds *holds = dlock_holds_open(true);
    uint64_t outer = take_as(holds, false, 60000, 100, false);
    struct dlock_hold *root = dlock_holds_find(holds, outer);
    uint64_t inner;

    assert_int_equal(0, root->watched_count);
    inner = take_as(holds, false, 60000, 300, true);
    assert_int_equal(1, root->watched_count);
    assert_int_equal(300, root->facts.lease_ms);
    assert_int_equal(2, give(holds, inner));
    assert_int_equal(0, root->watched_count);
    assert_int_equal(300, root->facts.lease_ms);
    give(holds, outer);
    outer = take_as(holds, false, 60000, 100, true);
    assert_int_equal(1, dlock_holds_find(holds, outer)->watched_count);
    dlock_holds_close(holds);
}

/* Note the first root, and refuse the others. */
static bool take_first(struct dlock_hold *root, void *first)
{
    struct dlock_hold **out = first;

    if (*out != NULL)
        return false;
    *out = root;
    return true;
}

static void *take_elsewhere(void *holds)
{
    (void)take(holds, "b", 60000);
    return NULL;
}

/* Two threads have different shards. A visitor that has room for one hold meets both. */
TEST(the_holds_of_each_thread_come_first_in_turn)
{
    struct dlock_holds *holds = dlock_holds_open(false);
    bool came_a = false, came_b = false;
    pthread_t other;

    (void)take(holds, "a", 60000);
    assert_int_equal(0, pthread_create(&other, NULL, take_elsewhere, holds));
    pthread_join(other, NULL);
    for (int i = 0; i < MANY && !(came_a && came_b); i++) {
        struct dlock_hold *first = NULL;

        (void)dlock_holds_due(holds, DLOCK_DUE_RENEWAL, in_ms(30000), take_first, &first);
        assert_non_null(first);
        came_a = came_a || strcmp(first->facts.key.name, "a") == 0;
        came_b = came_b || strcmp(first->facts.key.name, "b") == 0;
    }
    assert_true(came_a && came_b);
    dlock_holds_close(holds);
}

TEST(a_reader_and_a_writer_are_two_holds_of_one_owner)
{
    struct dlock_holds *holds = dlock_holds_open(true);
    uint64_t writes = take_as(holds, false, 60000, 1, false);
    struct dlock_hold *writer = dlock_holds_find(holds, writes);
    struct dlock_hold *reader;
    uint64_t reads;

    dlock_owner_retire(); /* as after an unanswered release of another lock */
    reads = take_as(holds, true, 60000, 1, false);
    reader = dlock_holds_find(holds, reads);
    assert_ptr_not_equal(writer, reader);
    assert_string_equal(writer->facts.number, reader->facts.number);
    dlock_holds_renumber(reader);
    assert_string_equal(writer->facts.number, reader->facts.number);
    assert_int_equal(1, writer->level_count);
    assert_ptr_equal(reader, dlock_holds_find(holds, take_as(holds, true, 60000, 1,
                                                             false)));
    assert_int_equal(2, reader->level_count);
    assert_int_equal(1, give(holds, writes));
    assert_int_equal(2, give(holds, reads));
    dlock_holds_close(holds);
}

/* The leases of the lost hold may still be released. The release must not find a new hold. */
TEST(a_lost_kind_does_not_lend_its_number)
{
    struct dlock_holds *holds = dlock_holds_open(true);
    uint64_t reads = take_as(holds, true, 60000, 1, false);
    uint64_t writes = take_as(holds, false, -1, 1, false);
    char lost[DLOCK_NUMBER_SIZE];

    strcpy(lost, dlock_holds_find(holds, writes)->facts.number);
    assert_string_equal(lost, dlock_holds_find(holds, reads)->facts.number);
    for (int i = 0; i < 2; i++) {
        uint64_t again = take_as(holds, false, 60000, 1, false);

        assert_string_not_equal(lost, dlock_holds_find(holds, again)->facts.number);
        give(holds, again);
    }
    dlock_holds_close(holds);
}

/* The hold is being released, or was abandoned, so a new hold must not get its number. */
TEST(a_kind_that_parts_leaves_the_number_to_the_other)
{
    struct dlock_holds *holds = dlock_holds_open(true);
    uint64_t reads = take_as(holds, true, 60000, 1, false);
    uint64_t writes = take_as(holds, false, 60000, 1, false);
    struct dlock_hold *reader = dlock_holds_find(holds, reads);
    struct dlock_hold *hold;
    int level;

    hold = dlock_holds_release(holds, writes, &level);
    assert_string_equal(reader->facts.number, hold->facts.number);
    dlock_holds_retire_number(holds, hold);
    dlock_holds_finish(holds, hold);
    hold = dlock_holds_begin(holds, "a", false);
    assert_string_not_equal(reader->facts.number, hold->facts.number);
    dlock_holds_abandon(holds, hold);
    give(holds, reads);
    /* The same while the lock is still being acquired: the next attempt has a new number. */
    reads = take_as(holds, true, 60000, 1, false);
    reader = dlock_holds_find(holds, reads);
    hold = dlock_holds_begin(holds, "a", false);
    assert_string_equal(reader->facts.number, hold->facts.number);
    dlock_holds_retire_number(holds, hold);
    dlock_holds_renumber(hold);
    assert_string_not_equal(reader->facts.number, hold->facts.number);
    dlock_holds_abandon(holds, hold);
    dlock_holds_close(holds);
}
