# SPDX-License-Identifier: MIT
"""primitives.py -- the search over the states of a semaphore or a latch.

As search.py, but a call is legal or it is not: either some order of the calls explains
all answers, or none does.
"""
import history
from lock import SLACK
from pages import latch, permits
from search import Undecided

PAGES = {"permits": permits, "latch": latch}
OPEN = (None, "unknown", "protocol", "cancelled")
QUIET = ("io", "invalid", "nomem", "unsupported")


def page_of(calls):
    """(name, page) of the primitive whose calls these are, or None: a lock."""
    for name, page in PAGES.items():
        if any(c.kind in page.KINDS for c in calls):
            return name, page
    return None


class Search:
    def __init__(self, page, calls, budget, is_strict, start=None):
        self.start = page.START if start is None else start
        self.page, self.left, self.is_strict = page, budget, is_strict
        self.calls = sorted((c for c in calls if c.status not in QUIET),
                            key=lambda c: (c.invoke, c.answer))

    def instants(self):
        found = set()
        for call in self.calls:
            found |= {call.invoke, call.answer}
            if call.until is not None:
                found |= {call.until, call.until + SLACK, call.until + SLACK + 1}
        return sorted(t for t in found if t < history.NEVER)

    def may_come(self, i, done, under_way):
        """Have the owner's calls that came before been executed?"""
        call = self.calls[i]
        return not any(j in under_way and not done >> j & 1
                       and self.calls[j].who == call.who
                       and self.calls[j].status not in OPEN for j in range(i))

    def spread(self, reached, under_way, now):
        work, reached = list(reached), set(reached)
        while work:
            state, done = work.pop()
            self.left -= 1
            if self.left < 0:
                raise Undecided
            now_states = self.page.passing(state, now)
            found = {(s, done) for s in now_states}
            if state not in now_states:
                reached.discard((state, done))
            for i in under_way:
                if state in now_states and not done >> i & 1 and self.may_come(i, done, under_way):
                    found |= {(s, done | 1 << i)
                              for s in self.page.execute(state, self.calls[i])}
            work += found - reached
            reached |= found
        return reached

    def step(self, reached, under_way, now):
        reached = self.spread(reached, under_way, now)
        answered = [i for i in under_way if self.calls[i].answer == now
                    and self.calls[i].status not in OPEN]
        mask = sum(1 << i for i in answered)
        reached = {(s, done & ~mask) for s, done in reached if done & mask == mask}
        return reached, [i for i in under_way if i not in answered]

    def is_explained(self):
        reached, under_way, begun = {(self.start, 0)}, [], 0
        for now in self.instants():
            if self.is_strict:
                reached, under_way = self.step(reached, under_way, now)
            while begun < len(self.calls) and self.calls[begun].invoke <= now:
                under_way.append(begun)
                begun += 1
            reached, under_way = self.step(reached, under_way, now)
        return bool(reached)


def verdict(page, calls, budget):
    calls = page.prepare(calls)
    if page is permits and not any(c.kind == "sem-set" and c.status in ("ok",) + OPEN
                                   for c in calls):
        # The number of permits was set before the run, so assume as many as the calls need.
        if not any(c.status == "ok" for c in calls):
            return "valid"
        many = page.START._replace(free=10**6)
        calls = [c for c in calls if c.status != "busy"]
        is_wrong = not Search(page, calls, budget, False, many).is_explained()
        return "invalid" if is_wrong else "unknown"
    if not Search(page, calls, budget, False).is_explained():
        return "invalid"
    if not Search(page, calls, budget, True).is_explained():
        return "unknown"
    return "valid"
