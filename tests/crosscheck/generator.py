# SPDX-License-Identifier: MIT
"""generator.py -- makes histories, from a seed, that a correct lock could have made.

Each owner calls a store (store.py), one call after another; only renewals, which the watchdog makes, may overlap
other calls.  Most calls are answered soon, some late, and some never.  Some owners work beyond their lease, and
processes die.
"""
import heapq
import random

import history
import kinds
from history import Call, History, Mark
from store import Store

OWNERS_MAX, CALLS_MAX, OVERLAP_MAX = 20, 60, 6


class Owner:
    def __init__(self, process, number, name):
        self.process, self.number, self.name = process, number, name
        self.depth, self.mode, self.until = 0, "", 0
        self.call = None     # under way
        self.renewal = None
        self.is_gone = False

    @property
    def who(self):
        return (self.process, self.number)


class Maker:
    """A history that is being made."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        r = self.r
        self.kind = r.choice(kinds.ALL)
        self.h = History()
        self.h.kind = self.kind.name
        self.grid = r.choice((1, 1, 2, 5, 10, 20))
        self.lease = r.choice((60, 100, 200, 400, 2000))
        self.calls_left = min(CALLS_MAX, 2 + int(r.expovariate(1 / 14)))
        self.overlap = r.randint(1, OVERLAP_MAX)
        self.trouble = r.choice((0, 0.02, 0.05, 0.12))
        names = ["a"] if r.random() < 0.85 else ["a", "b"]
        self.stores = {n: Store(self.kind.caps) for n in names}
        processes = 1 if self.kind.name == "local" else r.randint(1, 4)
        for number in range(1, processes + 1):
            process = self.h.process(number)
            process.variant, process.caps = self.kind.variant, self.kind.caps
            process.lease, process.watchdog = self.lease, r.random() < 0.3
        self.next_owner = 0
        self.agenda, self.serial, self.now = [], 0, 0
        count = min(OWNERS_MAX, 1 + int(r.expovariate(1 / 2.5)))
        for _ in range(count):
            self.begin_owner(r.randint(1, processes), r.choice(names))

    # --- time ------------------------------------------------------------------------

    def at(self, when, what, *arguments):
        self.serial += 1
        heapq.heappush(self.agenda, (when, self.serial, what, arguments))

    def some(self, longest):
        """A duration on the grid, short ones more often; never 0."""
        n = max(1, longest // self.grid)
        return self.grid * self.r.randint(1, self.r.randint(1, n))

    def chance(self, probability):
        return self.r.random() < probability

    def begin_owner(self, process, name):
        self.next_owner += 1
        owner = Owner(process, self.next_owner, name)
        self.at(self.now + self.some(120), self.think, owner)

    def make(self):
        while self.agenda:
            self.now, _, what, arguments = heapq.heappop(self.agenda)
            what(*arguments)
        for call in self.h.calls:
            if call.kind != "abandon" and call.status is None:
                call.answer = history.NEVER
        return self.h

    # --- what owners do --------------------------------------------------------------

    def is_dead(self, owner):
        return self.h.processes[owner.process].killed is not None

    def is_crowded(self):
        """Are as many calls under way as may overlap?"""
        under_way = sum(1 for c in self.h.calls if c.status is None)
        return under_way >= self.overlap

    def think(self, owner):
        if owner.is_gone or owner.call or self.calls_left <= 0 or self.is_dead(owner):
            return
        if self.is_crowded():
            self.at(self.now + self.some(40), self.think, owner)
            return
        if self.chance(self.trouble / 4):
            self.kill(owner.process)
            return
        if owner.depth == 0:
            self.acquire(owner)
            return
        roll = self.r.random()
        if roll < 0.2 and "reentrant" in self.kind.caps:
            self.acquire(owner)
        elif roll < 0.25 and "reentrant" not in self.kind.caps:
            self.acquire(owner)  # which has to be refused
        elif roll < 0.45 and "renew" in self.kind.caps and owner.renewal is None:
            self.renew(owner)
            self.at(self.now + self.some(60), self.think, owner)
        elif roll < 0.48 and "expires" in self.kind.caps and not owner.mode:
            self.abandon(owner)
        else:
            self.release(owner)

    def rest(self, owner):
        """The owner goes on after a while: within its lease, mostly."""
        longest = 120 if owner.depth == 0 else max(self.grid, self.lease // 3)
        if owner.depth and self.chance(self.trouble):
            longest = self.lease * 2
        self.at(self.now + self.r.choice((0, 1, 1, 1)) * self.some(longest),
                self.think, owner)

    def begin(self, owner, kind):
        call = Call(kind, owner.process, owner.number, owner.name, self.now)
        call.mode = owner.mode
        self.h.calls.append(call)
        self.calls_left -= 1
        return call

    def replace(self, owner):
        """The locks of the owner are unknown: another owner goes on in its place."""
        owner.is_gone = True
        self.begin_owner(owner.process, owner.name)

    def kill(self, process):
        """The process dies: what its owners asked for is never answered."""
        self.h.processes[process].killed = self.now
        for store in self.stores.values():
            store.die(process)
            store.queue = [w for w in store.queue if w[0] != process]
        for name in self.stores:
            self.serve(name)

    def answer(self, owner, call, status, done, *arguments):
        """After a while; or never, if the process is dead by then."""
        def tell():
            if self.is_dead(owner):
                return
            call.answer, call.status = self.now, status
            done(*arguments)
        self.at(self.now + self.r.choice((0, 1, 1)) * self.some(30), tell)

    # --- acquire ---------------------------------------------------------------------

    def acquire(self, owner):
        if owner.depth == 0 and "shared" in self.kind.caps:
            owner.mode = self.r.choice(("", "shared", "shared"))
        call = owner.call = self.begin(owner, "acquire")
        if self.chance(0.4):
            call.wait = self.some(300)
        if self.chance(self.trouble / 3):
            self.answer(owner, call, "io", self.refused, owner)
            return
        self.at(self.now + self.some(30), self.arrive, owner, call)

    def arrive(self, owner, call):
        """The request is executed."""
        store = self.stores[owner.name]
        is_lost = self.chance(self.trouble)
        if self.is_dead(owner) and not is_lost:
            return
        held = store.acquire(owner.who, call.mode, self.now, self.lease)
        if is_lost:
            self.go_missing(owner, call, held)
        elif held is not None:
            self.granted(owner, call, held)
        elif call.wait == 0:
            self.answer(owner, call, "busy", self.refused, owner)
        else:
            self.stand(owner, call)
            self.at(max(self.now, call.invoke + call.wait), self.give_up, owner, call)
        for other in store.held:
            if other.end < history.NEVER:
                self.at(other.end, self.serve, owner.name)

    def go_missing(self, owner, call, held):
        """The answer is lost; what was granted is given back, or lasts for its lease."""
        if held is not None and self.chance(0.6):
            self.stores[owner.name].release(owner.who, call.mode, self.now)
        elif held is None:
            self.stores[owner.name].leave(owner.who)
        self.answer(owner, call, "unknown", self.replace, owner)
        self.at(self.now, self.serve, owner.name)

    def granted(self, owner, call, held):
        sent = call.invoke if call.wait == 0 else self.now
        level = held.level
        if "expires" in self.kind.caps:
            call.until = sent + self.lease
        call.fence, call.level = held.fence, level
        if "reentrant" not in self.kind.caps:
            call.level = self.r.choice((0, 1))
        self.answer(owner, call, "ok", self.enter, owner, level, call)

    def enter(self, owner, level, call):
        if call.until is not None and call.until <= self.now:
            call.status, call.level, call.fence = "timeout", 0, 0
            call.sent = call.until - self.lease
            self.replace(owner)
            return
        owner.call, owner.depth, owner.until = None, level, call.deadline
        self.rest(owner)

    def refused(self, owner):
        owner.call = None
        self.rest(owner)

    def mark_wait(self, owner, word=""):
        self.h.marks.append(Mark("wait", owner.process, owner.number, owner.name, self.now,
                                 word))

    def stand(self, owner, call):
        """Wait in the queue of the store; an unanswered attempt may give the place up."""
        store = self.stores[owner.name]
        store.enqueue(owner.who)
        self.mark_wait(owner)
        store.waiting = getattr(store, "waiting", [])
        store.waiting.append((owner, call))
        if self.chance(self.trouble):
            self.at(self.now + self.some(100), self.give_place_up, owner, call)

    def give_place_up(self, owner, call):
        store = self.stores[owner.name]
        if (owner, call) not in store.waiting or self.is_dead(owner):
            return
        store.waiting.remove((owner, call))
        store.leave(owner.who)
        self.mark_wait(owner, "given-up")
        self.at(self.now + self.some(60), self.ask_anew, owner, call)
        self.at(self.now, self.serve, owner.name)

    def ask_anew(self, owner, call):
        if self.is_dead(owner):
            return
        if self.now >= call.invoke + call.wait:
            self.answer(owner, call, "timeout", self.refused, owner)
            return
        held = self.stores[owner.name].acquire(owner.who, call.mode, self.now, self.lease)
        if held is None:
            self.stand(owner, call)
            return
        self.granted(owner, call, held)
        if held.end < history.NEVER:
            self.at(held.end, self.serve, owner.name)

    def give_up(self, owner, call):
        store = self.stores[owner.name]
        if (owner, call) in store.waiting:
            store.waiting.remove((owner, call))
            store.leave(owner.who)
            self.answer(owner, call, "timeout", self.refused, owner)
            self.serve(owner.name)

    def serve(self, name):
        """The lock may be free: waiters try again, in the order of the queue."""
        store = self.stores[name]
        waiting = list(getattr(store, "waiting", ()))
        if "fair" not in self.kind.caps:
            self.r.shuffle(waiting)
        for owner, call in waiting:
            if self.is_dead(owner):
                store.waiting.remove((owner, call))
                continue
            held = store.acquire(owner.who, call.mode, self.now, self.lease)
            if held is not None:
                store.waiting.remove((owner, call))
                self.granted(owner, call, held)
                if held.end < history.NEVER:
                    self.at(held.end, self.serve, name)

    # --- and the rest ----------------------------------------------------------------

    def renew(self, owner):
        call = owner.renewal = self.begin(owner, "renew")
        self.at(self.now + self.some(20), self.renewed, owner, call)

    def renewed(self, owner, call):
        is_there = self.stores[owner.name].renew(owner.who, call.mode, self.now,
                                                 self.lease)
        if is_there:
            self.at(self.now + self.lease, self.serve, owner.name)
        status = "ok" if is_there else "lost"
        if self.chance(self.trouble):
            status = "unknown"
        if status == "ok":
            call.until = call.invoke + self.lease
        self.answer(owner, call, status, self.noted, owner)

    def noted(self, owner):
        owner.renewal = None

    def release(self, owner):
        if owner.renewal is not None and self.chance(0.7):
            self.at(self.now + self.some(20), self.think, owner)
            return
        call = owner.call = self.begin(owner, "release")
        self.at(self.now + self.some(20), self.released, owner, call)

    def released(self, owner, call):
        is_lost = self.chance(self.trouble)
        if is_lost and self.chance(0.5):
            self.answer(owner, call, "unknown", self.replace, owner)
            return
        was_there = self.stores[owner.name].release(owner.who, call.mode, self.now)
        self.at(self.now, self.serve, owner.name)
        if is_lost:
            self.answer(owner, call, "unknown", self.replace, owner)
            return
        status = "ok" if was_there else "lost"
        self.answer(owner, call, status, self.left, owner, status)

    def left(self, owner, status):
        owner.call = None
        owner.depth = 0 if status == "lost" else owner.depth - 1
        self.rest(owner)

    def abandon(self, owner):
        call = self.begin(owner, "abandon")
        call.answer, call.status = self.now, "ok"
        self.replace(owner)


def make(seed):
    """The history of that seed: a number or a text."""
    return Maker(seed).make()
