# SPDX-License-Identifier: MIT
"""counters.py -- histories of semaphores, permits with an end, and latches, from a seed.

The primitive is run one call at a time, each at some moment between the call and its
answer; then a few answers may be changed by mutations.py.
"""
import random

from history import NEVER, Call, History
from pages import latch, permits

OWNERS_MAX = 6
_STEPS = {"semaphore": ("sem-take", "sem-take", "sem-give", "sem-add"),
          "permits": ("permit-take", "permit-take", "permit-give", "permit-renew"),
          "latch": ("latch-count", "latch-count", "latch-wait", "latch-set")}


class Maker:
    def __init__(self, seed):
        self.r = random.Random(f"counters:{seed}")
        self.h, self.next_id, self.now = History(), 0, 10
        self.h.kind = self.r.choice(sorted(_STEPS))
        self.page = latch if self.h.kind == "latch" else permits
        self.state = self.page.START
        self.h.process(1).lease = 0
        self.trouble = self.r.choice((0, 0, 0.05, 0.1))
        self.free_at = {}  # owner -> when its last call was answered
        self.mine = {}     # owner -> what it has: ids, or counts

    def some(self):
        return self.r.choice((1, 2, 5, 10, 30))

    def call(self, kind, owner):
        call = Call(kind, 1, owner, "s", 0)
        if kind in ("sem-set", "latch-set"):
            call.count = self.r.randint(1, 4)
        elif kind in ("sem-take", "sem-add"):
            call.count = self.r.randint(1, 2)
        elif kind == "sem-give":
            call.count = self.mine[owner].pop()
        elif kind == "permit-take":
            self.next_id += 1
            call.ident = self.next_id
        elif kind.startswith("permit"):
            call.ident = self.r.choice(self.mine[owner])
        if kind in ("permit-take", "permit-renew"):
            call.until = self.now + self.r.choice((40, 100, 300))
        return call

    def answers(self, kind):
        return {"sem-take": ("ok", "busy"), "permit-take": ("ok", "busy"),
                "permit-give": ("ok", "lost"), "permit-renew": ("ok", "lost"),
                "latch-set": ("ok", "busy"), "latch-wait": ("ok", "busy")}.get(kind, ("ok",))

    def settle(self):
        """Permits end SLACK after their end at the latest; here, at their end."""
        for permit in getattr(self.state, "held", ()):
            if permit[2] <= self.now:
                self.state = permits._end(self.state, permit)

    def run(self, call):
        """Execute it now, and choose when it was made and answered around it."""
        self.settle()
        if call.kind == "latch-count":
            call.count = max(0, self.state.left - 1)
        for call.status in self.answers(call.kind):
            then = self.page.execute(self.state, call)
            if then:
                break
        else:
            return False
        self.state = then[0]
        call.invoke = max(self.free_at.get(call.owner, 0), self.now - self.some())
        call.answer = self.now + self.some()
        self.free_at[call.owner] = call.answer + self.r.choice((0, 1, 5))
        if call.status != "ok":
            call.until = None
            call.ident = call.ident if call.kind != "permit-take" else 0
        if self.r.random() < self.trouble:
            call.status, call.until = "unknown", None
        self.remember(call)
        self.h.calls.append(call)
        return True

    def remember(self, call):
        mine = self.mine.setdefault(call.owner, [])
        if call.kind == "sem-take" and call.status == "ok":
            mine.append(call.count)
        elif call.kind == "permit-take" and call.status == "ok":
            mine.append(call.ident)
        elif call.kind == "permit-give" and call.ident in mine:
            mine.remove(call.ident)

    def make(self):
        owners = self.r.randint(1, OWNERS_MAX)
        first = "latch-set" if self.h.kind == "latch" else "sem-set"
        self.run(self.call(first, 1))
        self.h.calls[0].status = "ok"
        for _ in range(2 + int(self.r.expovariate(1 / 10))):
            if len(self.h.calls) >= 40:
                break
            self.now += self.some()
            owner = self.r.randint(1, owners)
            self.now = max(self.now, self.free_at.get(owner, 0))
            kind = self.r.choice(_STEPS[self.h.kind])
            if kind in ("sem-give", "permit-give", "permit-renew") \
                    and not self.mine.get(owner):
                continue
            self.run(self.call(kind, owner))
        for call in self.h.calls:
            if call.status is None:
                call.answer = NEVER
        return self.h


def make(seed):
    return Maker(seed).make()
