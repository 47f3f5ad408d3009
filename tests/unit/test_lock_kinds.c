/* SPDX-License-Identifier: MIT */
/* test_lock_kinds.c -- the read hold and the write hold of one owner. */
#include "tests/registered.h"
#include "tests/unit/held.h"

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
