# SPDX-License-Identifier: MIT
"""Behaviours of two programs that use one lock.

Each behaviour is a function of a case. The first line of its docstring is its line in the report,
in which {a} is the program that holds or begins, and {b} the other one. A failure raises an
exception. Each behaviour uses a new name, so a failure does not affect the next behaviour."""

import re

from rig import expect, until

LONG_MS = 30000  # a lease that no behaviour waits for
SHORT_MS = 1000  # a lease whose end a behaviour waits for
POLL_LEAST_MS = 200  # lock/wait.c: the least time between two attempts without a message
ROUNDS = 30
OWNER = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:[0-9]+(:write)?")


class Case:
    """A behaviour of a kind with its two programs."""

    def __init__(self, rig, kind, a, b):
        self.rig = rig
        self.kind = kind
        self.a = rig.peer(a)
        self.b = rig.peer(b)
        self.servers = rig.nodes if getattr(kind, "on_nodes", False) else [rig.redis]
        self.name = rig.name()

    def begin(self, peer, thread="main", wait=0, lease=LONG_MS, kind=None):
        return peer.begin(
            "lock",
            kind=kind or self.kind.name,
            name=self.name,
            thread=thread,
            wait=wait,
            lease=lease,
        )

    def lock(self, peer, word="ok", **words):
        return self.begin(peer, **words).expect(word)

    def unlock(self, peer, word="ok", thread="main", kind=None):
        return self.tell(peer, "unlock", thread=thread, kind=kind).expect(word)

    def tell(self, peer, verb, kind=None, **words):
        kind = kind or self.kind.name
        return peer.tell(verb, kind=kind, name=self.name, **words)

    def left_ms(self):
        return min(server.pttl(self.name) for server in self.servers)

    def is_locked(self):
        return any(server.exists(self.name) for server in self.servers)

    def holders(self):
        """Return {owner: levels}; every server must have the same number of owners."""
        found = [server.hgetall(self.name) for server in self.servers]
        return [
            [(owner, int(n)) for owner, n in one.items() if owner != "mode"]
            for one in found
        ]

    def expect_levels(self, levels):
        for one in self.holders():
            expect(len(one) == 1, f"holders: {one}")
            expect(OWNER.fullmatch(one[0][0]), f"owner: {one[0][0]}")
            expect(one[0][1] == levels, f"{one[0][1]} levels instead of {levels}")

    def looked_gap_ms(self, owner):
        """Return the ms between the last two attempts of the owner, by the server's clock, or None
        if the owner did not wait. The owner has released the lock, so its last script is the
        release and no attempt."""
        word = re.compile(re.escape(owner) + r"(?![0-9])")
        ran = self.rig.trace.matching(word.search)
        times = [e["time"] for e in ran if e["command"].startswith("EVAL")][:-1]
        return (times[-1] - times[-2]) * 1000 if len(times) > 2 else None

    def channels(self):
        return self.rig.redis.pubsub_channels(f"redisson*{self.name}*")

    def queue(self):
        return self.rig.redis.lrange(f"redisson_lock_queue:{{{self.name}}}", 0, -1)

    def begin_waiting(self, peer, **words):
        """Start a thread that waits for the lock, and return when the store shows that it waits."""
        before = len(self.queue())
        looks = len(self.rig.trace.about(self.name))
        words.setdefault("wait", -1)
        pending = self.begin(peer, **words)
        if self.kind.fair:
            until(lambda: len(self.queue()) > before, f"a place of {peer.name} in the queue")
        elif self.kind.push:
            until(self.channels, f"a subscription of {peer.name}")
        if self.kind.push:  # a waiter tries once more after its subscription, then sleeps
            until(
                lambda: len(self.rig.trace.about(self.name)) >= looks + 2,
                f"the second attempt of {peer.name}",
            )
        expect(not pending.is_done(), f"{peer.name} did not wait")
        return pending

    def expect_nothing_left(self):
        """Expect no key of this name. Redisson deletes its unlock latch after the unlock."""
        kept = {f"redisson_lock_token:{{{self.name}}}"}
        for server in self.servers:
            until(
                lambda: set(server.keys(f"*{self.name}*")) <= kept,  # noqa: B023
                "the deletion of all keys of the lock",
            )
        until(lambda: not self.channels(), "the end of all subscriptions")


def excludes(case):
    """{a} holds, {b} is refused; {a} unlocks, {b} gets it"""
    case.lock(case.a)
    case.lock(case.b, "busy")
    case.unlock(case.a)
    case.lock(case.b)
    case.unlock(case.b)
    case.expect_nothing_left()


def is_seen(case):
    """{a} holds, {b} sees that it does, and for how long"""
    case.lock(case.a)
    seen = case.tell(case.b, "look").expect("ok")
    expect(seen.values["locked"] == "1", seen.text)
    expect(seen.values["mine"] == "0", seen.text)
    if "left" in seen.values:
        expect(LONG_MS / 2 < seen.number("left") <= LONG_MS, seen.text)
    case.unlock(case.a)
    seen = case.tell(case.b, "look").expect("ok")
    expect(seen.values["locked"] == "0", seen.text)


def has_its_shape(case):
    """{a} holds, and owner, level and lease stand where {b} looks"""
    case.lock(case.a)
    case.expect_levels(1)
    expect(LONG_MS / 2 < case.left_ms() <= LONG_MS, f"lease {case.left_ms()}")
    case.unlock(case.a)
    case.expect_nothing_left()


def reenters(case):
    """{a} locks three times, {b} is refused until the third unlock"""
    for level in (1, 2, 3):
        case.lock(case.a)
        case.expect_levels(level)
    for level in (2, 1):
        case.unlock(case.a)
        case.expect_levels(level)
        case.lock(case.b, "busy")
    case.unlock(case.a)
    case.lock(case.b)
    case.unlock(case.b)


def is_no_reentry(case):
    """{a} holds, another thread of {a} is refused, and so is {b}"""
    case.lock(case.a)
    case.lock(case.a, "busy", thread="other")
    case.lock(case.b, "busy")
    case.unlock(case.a)


def wakes(case):
    """{a} unlocks, and its message wakes {b}, who waits"""
    for _ in range(ROUNDS):
        case.name = case.rig.name()
        case.lock(case.a)
        waiter = case.begin_waiting(case.b)
        case.unlock(case.a)
        granted = waiter.expect("ok")
        case.unlock(case.b)
        if case.b.name != "c":
            # A waiter of Redisson sleeps until a message, or until the lease of {a} ends, which has
            # not ended here.
            return
        gap_ms = case.looked_gap_ms(granted.values["owner"])
        if gap_ms is not None and gap_ms < POLL_LEAST_MS:
            return  # the attempt came sooner than an attempt without a message can
    expect(False, "no round was sooner than the poll")


def wakes_within_lease(case):
    """{a} unlocks long before its lease ends, {b}, who waits, is in before that"""
    case.lock(case.a, lease=LONG_MS)
    waiter = case.begin_waiting(case.b)
    left_ms = case.left_ms()
    before = case.rig.redis.time()
    case.unlock(case.a)
    waiter.expect("ok")
    after = case.rig.redis.time()
    took_ms = (after[0] - before[0]) * 1000 + (after[1] - before[1]) / 1000
    expect(took_ms < left_ms / 2, f"{took_ms} ms, of a lease with {left_ms} ms left")
    case.unlock(case.b)
    case.expect_nothing_left()


def passes_on(case):
    """{a} unlocks, {b}, who looks again and again, gets it"""
    case.lock(case.a)
    waiter = case.begin_waiting(case.b)
    case.unlock(case.a)
    waiter.expect("ok")
    case.unlock(case.b)
    case.expect_nothing_left()


def times_out(case):
    """{a} holds, {b} waits in vain, and leaves nothing behind"""
    case.lock(case.a)
    before = {key for s in case.servers for key in s.keys(f"*{case.name}*")}
    case.lock(case.b, "timeout", wait=300)
    until(lambda: not case.channels(), "the end of all subscriptions")
    after = {key for s in case.servers for key in s.keys(f"*{case.name}*")}
    expect(after == before, f"keys {after} instead of {before}")
    case.unlock(case.a)
    case.lock(case.b)
    case.unlock(case.b)


def lets_all_through(case):
    """three threads of {a} and three of {b} wait, one holds, all get their turn"""
    case.lock(case.a)
    waiting = {}
    for i in range(3):
        for peer in (case.a, case.b):
            waiting[(peer, f"w{i}")] = case.begin_waiting(peer, thread=f"w{i}")
    case.unlock(case.a)
    while waiting:
        until(lambda: any(p.is_done() for p in waiting.values()), "a grant to the next waiter")
        done = [key for key, p in waiting.items() if p.is_done()]
        expect(len(done) == 1, f"{len(done)} holders at once")
        waiting.pop(done[0]).expect("ok")
        case.unlock(done[0][0], thread=done[0][1])
    case.expect_nothing_left()


def until_renewed(case):
    seen = [case.left_ms()]

    def has_risen():
        seen.append(case.left_ms())
        expect(seen[-1] > 0, "the lease has ended")
        return seen[-1] > min(seen) + 100

    until(has_risen, "a renewal")


def is_renewed(case):
    """{a} holds with a watchdog, {b} is refused beyond the first lease"""
    case.lock(case.a, lease=0)
    for _ in range(3):
        until_renewed(case)
    case.lock(case.b, "busy")
    case.unlock(case.a)
    case.lock(case.b)
    case.unlock(case.b)
    case.expect_nothing_left()


def is_freed_by_death(case):
    """{a} is killed, {b}, who waits, gets the lock when the lease ends"""
    case.lock(case.a, lease=0 if case.kind.watchdog else SHORT_MS)
    waiter = case.begin_waiting(case.b)
    case.a.restart()
    waiter.expect("ok")
    if not case.kind.token:
        case.expect_levels(1)
    case.unlock(case.b)


def frees_nobody_late(case):
    """{a}'s lease ends, {b} gets the lock, {a}'s unlock is refused and frees nothing"""
    case.lock(case.a, lease=SHORT_MS)
    case.lock(case.b, wait=-1)
    case.unlock(case.a, "lost")
    expect(case.is_locked(), f"the lock of {case.b.name} was freed")
    case.lock(case.a, "busy", thread="other")
    case.unlock(case.b)


def is_forced(case):
    """{a} holds, {b} forces it open, {a}'s waiter is in, {a}'s unlock is refused"""
    case.lock(case.a)
    waiter = case.begin_waiting(case.a, thread="waiter")
    case.tell(case.b, "force").expect("ok")
    waiter.expect("ok")
    case.unlock(case.a, "lost")
    case.unlock(case.a, thread="waiter")
    case.tell(case.b, "force").expect("lost")


def serves_in_order(case):
    """threads of both wait in turns, {a} unlocks, they get it as they came"""
    order = [(peer, f"w{i}") for i in range(3) for peer in (case.b, case.a)]
    case.lock(case.a)
    waiting = [(*who, case.begin_waiting(who[0], thread=who[1])) for who in order]
    case.unlock(case.a)
    for i, (peer, thread, pending) in enumerate(waiting):
        pending.expect("ok")
        late = [p for p in waiting[i + 1 :] if p[2].is_done()]
        expect(not late, f"{len(late)} were served before their turn")
        expect(len(case.queue()) == len(waiting) - i - 1, f"queue {case.queue()}")
        case.unlock(peer, thread=thread)
    case.expect_nothing_left()


def keeps_places(case):
    """{a} waits before {b} and before {a} again, holders come and go at once"""
    for _ in range(5):
        serves_in_order(case)
        case.name = case.rig.name()


def lets_nobody_push_in(case):
    """{a} waits and it is its turn, {b} is refused though the lock is free"""
    case.lock(case.b)
    waiter = case.begin_waiting(case.a)
    # As after a holder that ended without a message: the lock is free, and {a} has yet to try.
    pushed = case.rig.redis.register_script(
        "redis.call('del', KEYS[1]) return redis.call('exists', KEYS[1])"
    )
    expect(pushed(keys=[case.name]) == 0, "the lock is not free")
    case.lock(case.b, "busy", thread="other")
    waiter.expect("ok")
    case.unlock(case.a)


def passes_the_dead(case):
    """{a} dies while it waits, {b} behind it gets the lock"""
    case.lock(case.b)
    case.begin_waiting(case.a)
    waiter = case.begin_waiting(case.b, thread="waiter")
    case.a.restart()
    case.unlock(case.b)
    waiter.expect("ok")
    case.unlock(case.b, thread="waiter")
    case.expect_nothing_left()


def numbers_grow(case):
    """{a} and {b} hold in turns, every holder's number is above the last"""
    last = 0
    for peer in (case.a, case.b, case.b, case.a, case.a, case.b):
        number = case.lock(peer).number("fence")
        expect(number > last, f"{number} after {last}")
        last = number
        case.lock(peer)  # a re-entry may raise it, but must not lower it
        case.unlock(peer)
        case.unlock(peer)


def takes_all_or_nothing(case):
    """{a} holds it on the last server alone, {b} is refused and keeps nothing"""
    last = case.servers[-1]
    owner = "8743c9c0-0795-4907-87fd-6c719a6b4586:52"
    last.hset(case.name, owner, 1)
    last.pexpire(case.name, LONG_MS)
    case.lock(case.b, "busy")
    for server in case.servers[:-1]:
        until(lambda: not server.exists(case.name), "the release on other servers")  # noqa: B023
    expect(last.hgetall(case.name) == {owner: "1"}, "the hold on the last server was changed")
    last.delete(case.name)
    case.lock(case.a)
    case.unlock(case.a)


def renews_by_setting(case):
    """{a} renews, the lease is as long as before, {b} is refused"""
    case.lock(case.a, lease=SHORT_MS * 10)
    until(lambda: case.left_ms() < SHORT_MS * 10 - 100, "a lease that is shorter by 100 ms")
    low = case.left_ms()
    case.tell(case.a, "renew").expect("ok")
    expect(low < case.left_ms() <= SHORT_MS * 10, f"{case.left_ms()} after {low}")
    case.lock(case.b, "busy")
    case.unlock(case.a)
    case.lock(case.b)
    case.unlock(case.b)
