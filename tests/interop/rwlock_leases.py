# SPDX-License-Identifier: MIT
"""Behaviours of two programs that use one read/write lock: renewals, deaths of holders, and ends of
leases."""

from behaviours import SHORT_MS, until_renewed
from rig import expect, until
from rwlocks import (
    end_read,
    end_write,
    expect_closed,
    expect_open,
    expect_readers_only,
    level_keys,
    read,
    write,
)


def reader_is_renewed(case):
    """{a} reads with a watchdog, {b} may not write beyond the first lease"""
    read(case, case.a, lease=0)
    for _ in range(3):
        until_renewed(case)
        write(case, case.b, "busy")
    expect(len(level_keys(case)) == 1, f"level keys: {level_keys(case)}")
    end_read(case, case.a)
    expect_open(case, case.b)


def readers_are_renewed(case):
    """{a} and {b} read with watchdogs, {a} unlocks, {b} still keeps writers out"""
    read(case, case.a, lease=0)
    read(case, case.b, lease=0)
    until_renewed(case)
    end_read(case, case.a)
    for _ in range(3):
        until_renewed(case)
        write(case, case.a, "busy")
    end_read(case, case.b)
    expect_open(case, case.a)


def downgraded_is_renewed(case):
    """{a} writes and reads with watchdogs, stops writing, {b} may only read, for long"""
    write(case, case.a, lease=0)
    read(case, case.a, lease=0)
    end_write(case, case.a)
    for _ in range(3):
        until_renewed(case)
        expect_readers_only(case, case.b)
    end_read(case, case.a)
    expect_open(case, case.b)


def dead_reader_ends(case):
    """{a} is killed reading, a writer of {b}, who waits, gets the lock when it ends"""
    read(case, case.a, lease=0)
    waiter = case.begin_waiting(case.b, kind="write")
    case.a.restart()
    waiter.expect("ok")
    end_write(case, case.b)
    case.expect_nothing_left()


def dead_reader_is_not_kept(case):
    """{a} is killed reading, {b} reads on with a watchdog, and frees it for writers"""
    read(case, case.a, lease=0)
    read(case, case.b, lease=0)
    case.a.restart()
    until(lambda: len(level_keys(case)) == 1, "the end of the dead reader's lease")
    until_renewed(case)
    write(case, case.b, "busy", thread="other")
    end_read(case, case.b)
    write(case, case.b)
    end_write(case, case.b)
    case.expect_nothing_left()


def brief_reader_outlasted(case):
    """{a}'s read lease is over, {b} reads on, and keeps writers out alone"""
    read(case, case.b)
    read(case, case.a, lease=SHORT_MS)
    until(lambda: len(level_keys(case)) == 1, "the end of the brief lease")
    expect(case.left_ms() > SHORT_MS, f"{case.left_ms()} ms left")
    write(case, case.a, "busy", thread="other")
    end_read(case, case.b)
    write(case, case.b)
    end_write(case, case.b)
    case.expect_nothing_left()


def late_reader_frees_nobody(case):
    """{a}'s read lease ends, {b} writes, {a}'s unlock is refused and frees nothing"""
    read(case, case.a, lease=SHORT_MS)
    write(case, case.b, wait=-1)
    end_read(case, case.a, "lost")
    expect_closed(case, case.a)
    end_write(case, case.b)
    expect_open(case, case.a)


def late_writer_frees_nobody(case):
    """{a}'s write lease ends, {b} reads, {a}'s unlock is refused and frees nothing"""
    write(case, case.a, lease=SHORT_MS)
    read(case, case.b, wait=-1)
    end_write(case, case.a, "lost")
    expect_readers_only(case, case.a)
    end_read(case, case.b)
    expect_open(case, case.a)


BEHAVIOURS = (
    reader_is_renewed,
    readers_are_renewed,
    downgraded_is_renewed,
    dead_reader_ends,
    dead_reader_is_not_kept,
    brief_reader_outlasted,
    late_reader_frees_nobody,
    late_writer_frees_nobody,
)
