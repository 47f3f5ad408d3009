/* SPDX-License-Identifier: MIT */
/* test_etcd_ends.c -- the last deleted keys of a lock in etcd, as reported by the watch
 * and by answers. */
#include "lock/stores/etcd_ends.h"
#include "tests/registered.h"

enum { BEGIN = 100 };

/* Note the end of the key of that lease. Its create revision is the number of the lease. */
static void note(struct etcd_ends *ends, uint64_t lease, uint64_t revision, bool is_told)
{
    struct etcd_end end = {lease, lease, revision};

    etcd_ends_note(ends, &end, is_told);
}

TEST(an_end_is_known_from_its_revision_on)
{
    struct etcd_ends ends;

    etcd_ends_begin(&ends, BEGIN);
    note(&ends, 7, BEGIN + 5, false);
    assert_true(etcd_ends_have(&ends, 7, BEGIN));
    assert_false(etcd_ends_have(&ends, 7, BEGIN + 5));
    assert_false(etcd_ends_have(&ends, 8, BEGIN));
    note(&ends, 7, BEGIN + 9, false); /* the lease had another key before */
    assert_true(etcd_ends_have(&ends, 7, BEGIN + 5));
    assert_int_equal(BEGIN + 9, etcd_ends_last(&ends, 7));
    assert_int_equal(0, etcd_ends_last(&ends, 8));
}

TEST(an_end_that_is_told_twice_counts_once)
{
    struct etcd_ends ends;

    etcd_ends_begin(&ends, BEGIN);
    note(&ends, 7, BEGIN + 5, false);
    /* Unknown until the watch reports it. */
    assert_int_equal(0, etcd_ends_before(&ends, 50, BEGIN));
    note(&ends, 7, BEGIN + 5, true);
    note(&ends, 7, BEGIN + 5, true);
    note(&ends, 7, BEGIN + 5, false);
    assert_int_equal(1, etcd_ends_before(&ends, 50, BEGIN));
    assert_int_equal(1, ends.count);
}

TEST(only_older_keys_are_counted)
{
    struct etcd_end unknown = {9, 0, BEGIN + 3};
    struct etcd_ends ends;

    etcd_ends_begin(&ends, BEGIN);
    note(&ends, 49, BEGIN + 1, true);
    note(&ends, 51, BEGIN + 2, true);
    etcd_ends_note(&ends, &unknown, true);
    assert_int_equal(1, etcd_ends_before(&ends, 50, BEGIN));
    assert_int_equal(2, etcd_ends_before(&ends, 60, BEGIN));
    assert_int_equal(1, etcd_ends_before(&ends, 60, BEGIN + 1));
    assert_int_equal(0, etcd_ends_before(&ends, 60, BEGIN + 2));
}

/* If a caller asks about more ends than are kept, the answer says so, and is no number that is too
 * small. */
TEST(what_is_not_kept_is_not_counted)
{
    struct etcd_ends ends;

    etcd_ends_begin(&ends, BEGIN);
    assert_int_equal(-1, etcd_ends_before(&ends, 50, BEGIN - 1));
    for (uint64_t i = 1; i <= ETCD_ENDS_KEPT; i++)
        note(&ends, i, BEGIN + i, true);
    assert_int_equal(ETCD_ENDS_KEPT, etcd_ends_before(&ends, BEGIN, BEGIN));
    note(&ends, 99, BEGIN + 99, true);
    assert_int_equal(-1, etcd_ends_before(&ends, BEGIN, BEGIN));
    assert_int_equal(ETCD_ENDS_KEPT, etcd_ends_before(&ends, BEGIN, BEGIN + 1));
    assert_int_equal(BEGIN + 1, ends.complete);
}
