# SPDX-License-Identifier: MIT
"""Behaviours of two programs that use one read/write lock, in the form of behaviours.py. The kind
`write` of kinds.py has the behaviours of writers without readers."""

from behaviours import (
    LONG_MS,
    OWNER,
    POLL_LEAST_MS,
    ROUNDS,
    SHORT_MS,
)
from rig import expect, until

READERS = ("r1", "r2", "r3")


def level_keys(case):
    """Return the keys of the levels: besides the hash, each level of each reader has a key."""
    return case.rig.redis.keys("{%s}:*:rwlock_timeout:*" % case.name)


def read(case, peer, word="ok", **words):
    return case.lock(peer, word, kind="read", **words)


def write(case, peer, word="ok", **words):
    return case.lock(peer, word, kind="write", **words)


def end_read(case, peer, word="ok", thread="main"):
    case.unlock(peer, word, thread=thread, kind="read")


def end_write(case, peer, word="ok", thread="main"):
    case.unlock(peer, word, thread=thread, kind="write")


def expect_open(case, peer):
    """Expect that readers and writers get the lock."""
    read(case, peer)
    end_read(case, peer)
    write(case, peer)
    end_write(case, peer)
    case.expect_nothing_left()


def expect_readers_only(case, peer):
    read(case, peer, thread="other")
    end_read(case, peer, thread="other")
    write(case, peer, "busy", thread="other")


def expect_closed(case, peer):
    read(case, peer, "busy", thread="other")
    write(case, peer, "busy", thread="other")


def took_ms(case, act, waiters):
    """Return the ms from before the act until every waiter is granted, and the answers."""
    before = case.rig.redis.time()
    act()
    granted = [waiter.expect("ok") for waiter in waiters]
    after = case.rig.redis.time()
    passed = (after[0] - before[0]) * 1000 + (after[1] - before[1]) / 1000
    return passed, granted


def is_woken(case, granted):
    """Did the last attempt of each waiter come sooner than an attempt without a message can? A
    waiter of Redisson makes no attempt without a message before the lease ends."""
    if case.b.name != "c":
        return True
    gaps = [case.looked_gap_ms(one.values["owner"]) for one in granted]
    return all(gap is not None and gap < POLL_LEAST_MS for gap in gaps)


def wake(case, take, give, threads, kind):
    """Threads of {b} wait for the lock that {a} holds and releases, and are woken at once."""
    for _ in range(ROUNDS):
        case.name = case.rig.name()
        take()
        waiters = [
            case.begin_waiting(case.b, thread=thread, kind=kind) for thread in threads
        ]
        passed, granted = took_ms(case, give, waiters)
        expect(passed < LONG_MS / 2, f"{passed} ms, with a lease of {LONG_MS} ms")
        for thread in threads:
            case.unlock(case.b, thread=thread, kind=kind)
        if is_woken(case, granted):
            return
    expect(False, "no round was sooner than the poll")


def readers_share(case):
    """{a} reads, {b} reads too, and neither lets the other write"""
    read(case, case.a)
    read(case, case.b)
    read(case, case.a, thread="other")
    expect(case.rig.redis.hget(case.name, "mode") == "read", "mode")
    for one in case.holders():
        expect(len(one) == 3 and all(n == 1 for _, n in one), f"holders: {one}")
        expect(all(OWNER.fullmatch(owner) for owner, _ in one), f"owners: {one}")
    for peer in (case.a, case.b):
        write(case, peer, "busy", thread="writer")
    end_read(case, case.a, thread="other")
    end_read(case, case.a)
    for peer in (case.a, case.b):
        write(case, peer, "busy", thread="writer")
    end_read(case, case.b)
    expect_open(case, case.a)


def reader_excludes_writer(case):
    """{a} reads, {b} may read but not write; {a} unlocks, {b} may both"""
    read(case, case.a)
    expect_readers_only(case, case.b)
    write(case, case.b, "timeout", wait=300)
    until(lambda: not case.channels(), "the end of all subscriptions")
    end_read(case, case.a)
    expect_open(case, case.b)


def writer_excludes_all(case):
    """{a} writes, {b} may neither read nor write; {a} unlocks, {b} may both"""
    write(case, case.a)
    expect_closed(case, case.b)
    read(case, case.b, "timeout", wait=300)
    until(lambda: not case.channels(), "the end of all subscriptions")
    end_write(case, case.a)
    expect_open(case, case.b)


def writer_wakes_readers(case):
    """{a} stops writing, and its message wakes three readers of {b}"""
    wake(
        case,
        lambda: write(case, case.a),
        lambda: end_write(case, case.a),
        READERS,
        "read",
    )


def reader_wakes_writer(case):
    """{a}, the last who reads, unlocks, and its message wakes a writer of {b}"""

    def take():
        read(case, case.a)
        read(case, case.b)
        end_read(case, case.b)  # earlier readers must not change the result

    wake(case, take, lambda: end_read(case, case.a), ("writer",), "write")
    case.expect_nothing_left()


def last_reader_frees(case):
    """{a} and {b} read, {b} waits to write, and gets it from the last reader alone"""
    read(case, case.a)
    read(case, case.b)
    waiter = case.begin_waiting(case.b, thread="writer", kind="write")
    end_read(case, case.b)
    expect(0 < case.left_ms() <= LONG_MS, f"lease {case.left_ms()}")
    write(case, case.a, "busy", thread="other")
    expect(not waiter.is_done(), "the writer was granted while a reader holds")
    passed, _ = took_ms(case, lambda: end_read(case, case.a), [waiter])
    expect(passed < LONG_MS / 2, f"{passed} ms")
    end_write(case, case.b, thread="writer")
    case.expect_nothing_left()


def all_get_through(case):
    """readers and writers of both wait, {a} stops writing, all get their turn"""
    write(case, case.a)
    waiting, inside = {}, {}
    for i in range(2):
        for peer in (case.b, case.a):
            for kind in ("read", "write"):
                who = (peer, kind, f"{kind}{i}")
                waiting[who] = case.begin_waiting(peer, thread=who[2], kind=kind)
    end_write(case, case.a)
    while waiting or inside:
        until(lambda: inside or any(p.is_done() for p in waiting.values()), "the next grant")
        for who in [who for who, p in waiting.items() if p.is_done()]:
            inside[who] = waiting.pop(who).expect("ok")
        kinds = [kind for _, kind, _ in inside]
        expect("write" not in kinds or len(kinds) == 1, f"holders at once: {kinds}")
        peer, kind, thread = next(iter(inside))
        case.unlock(peer, thread=thread, kind=kind)
        inside.pop((peer, kind, thread))
    case.expect_nothing_left()


def reader_reenters(case):
    """{a} reads three times, {b} may not write until the third unlock"""
    for level in (1, 2, 3):
        read(case, case.a)
        case.expect_levels(level)
        keys = level_keys(case)
        expect(len(keys) == level, f"level keys: {keys}")
        for key in keys:
            left_ms = case.rig.redis.pttl(key)
            expect(LONG_MS / 2 < left_ms <= LONG_MS, f"{key} has {left_ms} ms")
    for level in (2, 1):
        end_read(case, case.a)
        case.expect_levels(level)
        write(case, case.b, "busy")
    end_read(case, case.a)
    expect_open(case, case.b)


def writer_reads_too(case):
    """{a} writes and reads, then reads only, then neither; {b} may what is left"""
    write(case, case.a)
    read(case, case.a)
    expect_closed(case, case.b)
    end_write(case, case.a)
    expect_readers_only(case, case.b)
    end_read(case, case.a)
    expect_open(case, case.b)


def writer_stops_reading(case):
    """{a} writes and reads, stops reading, {b} may neither read nor write"""
    write(case, case.a)
    read(case, case.a)
    end_read(case, case.a)
    expect_closed(case, case.b)
    end_write(case, case.a)
    expect_open(case, case.b)


def reader_cannot_upgrade(case):
    """{a} reads beside {b}, and cannot write, nor when it reads alone"""
    read(case, case.b)
    read(case, case.a)
    write(case, case.a, "busy")
    end_read(case, case.b)
    write(case, case.a, "busy")
    end_read(case, case.a)
    expect_open(case, case.b)


def downgrade_wakes(case):
    """{a} writes, reads too, gives back the writing: readers of {b} that wait are in"""
    for _ in range(ROUNDS):
        case.name = case.rig.name()
        write(case, case.a)
        read(case, case.a)
        waiters = [
            case.begin_waiting(case.b, thread=thread, kind="read") for thread in READERS
        ]
        passed, granted = took_ms(case, lambda: end_write(case, case.a), waiters)
        expect(passed < LONG_MS / 2, f"{passed} ms, with a lease of {LONG_MS} ms")
        for thread in READERS:
            end_read(case, case.b, thread=thread)
        end_read(case, case.a)
        case.expect_nothing_left()
        # Redisson sends no message then, so a waiter learns of the downgrade by its own attempt.
        if case.a.name == "java" or is_woken(case, granted):
            return
    expect(False, "no round was sooner than the poll")


def readers_are_forced(case):
    """{a} reads, {b} forces it open, {a}'s writer is in, {a}'s unlock is refused"""
    read(case, case.a)
    waiter = case.begin_waiting(case.a, thread="writer", kind="write")
    case.tell(case.b, "force", kind="read").expect("ok")
    waiter.expect("ok")
    end_read(case, case.a, "lost")
    expect_closed(case, case.b)
    end_write(case, case.a, thread="writer")
    case.tell(case.b, "force", kind="read").expect("lost")
    # Redisson keeps the level keys of the readers that were forced out. The keys expire, and do not
    # keep a writer out.
    for key in level_keys(case):
        expect(case.rig.redis.pttl(key) > 0, f"{key} stays")
    read(case, case.a, lease=SHORT_MS)
    write(case, case.b, wait=-1)
    end_write(case, case.b)


def expect_seen(case, reads, writes):
    for kind, wanted in (("read", reads), ("write", writes)):
        seen = case.tell(case.b, "look", kind=kind).expect("ok")
        expect(seen.values["locked"] == str(wanted), f"{kind}: {seen.text}")
        expect(seen.values["mine"] == "0", f"{kind}: {seen.text}")
        if wanted:
            left_ms = seen.number("left")
            expect(LONG_MS / 2 < left_ms <= LONG_MS, f"{kind}: {seen.text}")
    return seen


def are_seen(case):
    """{a} reads, then writes, {b} sees which it does, and for how long"""
    expect_seen(case, 0, 0)
    read(case, case.a)
    read(case, case.a, thread="other")
    seen = expect_seen(case, 1, 0)
    expect(int(seen.values.get("readers", 2)) == 2, seen.text)
    end_read(case, case.a, thread="other")
    end_read(case, case.a)
    expect_seen(case, 0, 0)
    write(case, case.a)
    expect_seen(case, 0, 1)
    end_write(case, case.a)
    expect_seen(case, 0, 0)


BEHAVIOURS = (
    readers_share,
    reader_excludes_writer,
    writer_excludes_all,
    are_seen,
    reader_reenters,
    writer_reads_too,
    writer_stops_reading,
    reader_cannot_upgrade,
    writer_wakes_readers,
    reader_wakes_writer,
    downgrade_wakes,
    last_reader_frees,
    all_get_through,
    readers_are_forced,
)
