/* SPDX-License-Identifier: MIT */
/* laws_zookeeper_queue.c -- the waiters of ZooKeeper's locks: which of them are woken,
 * and in which order. */
#include "tests/conformance/laws.h"
#include "tests/conformance/nodes.h"

enum { WAITERS = 3 };

/* A holder, and waiters, each with a session of its own. */
struct contest {
    dlock_system *holder;
    dlock_lease lease;
    struct rig_helper *waiters[WAITERS];
};

static void begin_contest(struct contest *contest, const char *variant, const char *name)
{
    dlock_options opts = rig_options(variant);

    contest->holder = rig_open(&opts);
    assert_status(OK, dlock_acquire(contest->holder, name, 0, &contest->lease));
    for (int i = 0; i < WAITERS; i++)
        contest->waiters[i] = rig_helper_start(rig_open(&opts), name, -1);
}

static void end_contest(struct contest *contest)
{
    for (int i = 0; i < WAITERS; i++)
        rig_helper_begin_release(contest->waiters[i]);
    assert_status(OK, dlock_release(contest->holder, &contest->lease));
    for (int i = 0; i < WAITERS; i++) {
        assert_status(OK, rig_helper_acquired(contest->waiters[i]));
        assert_status(OK, rig_helper_finish(contest->waiters[i]));
    }
}

/* The server shows how a client watches a node: only for its end, or for any change of the
 * directory. */
void wakes_one_by_one(const char *variant)
{
    const char *name = rig_name();
    struct contest contest;
    int most = 0;
    int sum = 0;

    begin_contest(&contest, variant, name);
    assert_comes((nodes_child_watchers(nodes_path(variant, name), &most, &sum),
                  sum == WAITERS));
    assert_int_equal(1, most);
    assert_int_equal(0, nodes_watchers(nodes_path(variant, name)));
    end_contest(&contest);
}

/* The waiter that has got the lock since the last call. */
static struct rig_helper *newcomer(struct contest *contest)
{
    for (int i = 0; i < WAITERS; i++) {
        struct rig_helper *waiter = contest->waiters[i];

        if (waiter != NULL && rig_helper_is_done(waiter)) {
            contest->waiters[i] = NULL;
            return waiter;
        }
    }
    return NULL;
}

/* A waiter that was woken in vain watches again. */
void wakes_a_herd(const char *variant)
{
    const char *name = rig_name();
    struct contest contest;

    begin_contest(&contest, variant, name);
    assert_comes(nodes_watchers(nodes_path(variant, name)) == WAITERS);
    assert_status(OK, dlock_release(contest.holder, &contest.lease));
    for (int left = WAITERS - 1; left >= 0; left--) {
        struct rig_helper *inside = NULL;

        assert_comes((inside = newcomer(&contest)) != NULL);
        assert_status(OK, rig_helper_acquired(inside));
        assert_comes(nodes_watchers(nodes_path(variant, name)) == left);
        assert_status(OK, rig_helper_finish(inside));
    }
}

void a_vanished_predecessor_costs_no_place(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    dlock_system *between = rig_open(&opts);
    const char *name = rig_name();
    struct rig_helper *vanishing;
    struct rig_helper *behind;
    dlock_lease lease;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    vanishing = rig_helper_start(between, name, -1);
    assert_comes(nodes_count_of(variant, name) == 2);
    behind = rig_helper_start(pair.b, name, -1);
    assert_comes(nodes_count_of(variant, name) == 3);
    nodes_expire(between);
    /* The waiter of the deleted node takes a new place, at the end of the queue. */
    assert_comes(nodes_count_of(variant, name) == 3);
    assert_stays(!rig_helper_is_done(behind), 300);
    assert_false(rig_helper_is_done(vanishing));
    assert_status(OK, dlock_release(pair.a, &lease));
    assert_status(OK, rig_helper_acquired(behind));
    assert_stays(!rig_helper_is_done(vanishing), 100);
    assert_status(OK, rig_helper_finish(behind));
    assert_status(OK, rig_helper_acquired(vanishing));
    assert_status(OK, rig_helper_finish(vanishing));
}
