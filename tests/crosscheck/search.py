# SPDX-License-Identifier: MIT
"""search.py -- every order in which the calls of one lock may have happened.

A call is executed once, at a moment between the call and its answer; a call without an answer is
executed at any moment after it was made, or never.  If an answer and a call of different threads
are at the same instant, their order is unknown: the search tries both orders, or, with `is_strict`,
only the answer before the call.  All orders are tried at once: the search goes from instant to
instant, and keeps each possible state of the lock with the least cost of reaching it.  A cost has
the number of violations of each property of pages.ALL, and the first number that differs decides
which of two costs is less.

The effect of an unanswered call matters only when another answer needs it, so the call is executed
then: a release when its hold contradicts an answer, an acquire or a renewal when nothing else
explains a refusal.  A hold that may have ended by itself is taken to last until something was
answered that it would forbid.
"""
import history
import pages
import state as states
from lock import QUIET, SLACK, conflict
from state import Ghost, Hold

BUDGET = 30000  # states
NONE = (0,) * len(pages.ALL)


class Undecided(Exception):
    """The search has more states than the budget allows."""


class Event:
    """See pages/__init__.py."""

    def __init__(self, search, kind, state, index, own=None, past=None, rivals=(),
                 is_new=False, is_abandoned=False):
        self.kind, self.state, self.index = kind, state, index
        self.lock, self.now, self.is_there = search.lock, search.now, search.is_there
        self.call = search.lock.calls[index] if index is not None else None
        self.is_strict, self.is_abandoned = search.is_strict, is_abandoned
        self.own, self.past, self.rivals, self.is_new = own, past, rivals, is_new


class Search:
    def __init__(self, lock, budget=BUDGET, is_strict=False):
        self.lock, self.left, self.now = lock, budget, 0
        self.is_strict, self.begun = is_strict, 0
        self.pages = [p if not p.CAPS or lock.caps & set(p.CAPS) else None
                      for p in pages.ALL]

    def cost(self, *arguments, **more):
        event = Event(self, *arguments, **more)
        return tuple(p.breaks(event) if p else 0 for p in self.pages)

    # --- what a call does ------------------------------------------------------------

    def gone(self, state, hold, why):
        """The hold goes: the state after it, and its cost."""
        proved = not hold.owed or why == "found"
        cost = NONE if proved else self.cost("unproved", state, None)
        return states.end(state, hold, "released" if why == "found" else why), cost

    def effects(self, state, i):
        """The states that the call may lead to, each with its cost."""
        call, status = self.lock.calls[i], self.lock.status[i]
        if self.lock.is_open[i]:
            return self.give_level(state, i, call)
        if call.kind == "abandon":
            own = states.own(state, call)
            return [(states.swap(state, own, own._replace(is_covered=True))
                     if own else state, NONE)]
        if status in QUIET or i in self.lock.ambiguous:
            return [(state, NONE)]
        if call.kind == "acquire":
            if status == "ok":
                return [self.grant(state, i, call)]
            return self.refuse(state, i, call)
        if status == "lost":
            return self.lose(state, i, call)
        return [self.find(state, i, call)]

    def grant(self, state, i, call):
        lock, cost = self.lock, NONE
        own = states.own(state, call)
        if own and call.level <= 1 and not (lock.is_reentrant and call.level == 0 and
                                            self.unanswered_release(state, own) is None):
            if self.unanswered_release(state, own) is not None:
                state, cost = self.release(state, own)
                own = None
            elif states.may_end(self, own, call):
                state, cost = self.gone(state, own, "ended")
                own = None
        is_new = not (own and lock.is_reentrant and call.level != 1)
        if is_new:
            state, more = self.make_way(state, i, call)
            cost = add(cost, more)
        lasts = any(h.is_covered and (h.who, h.mode) == (call.who, call.mode)
                    and not states.may_end(self, h, call) for h in state.holds)
        cost = add(cost, self.cost("grant", state, i, own=own, is_new=is_new,
                                   is_abandoned=lasts,
                                   rivals=states.rivals(state, call)))
        ghosts = tuple(g for g in state.ghosts
                       if not (is_new and g.mode == call.mode if g.who == call.who
                               else conflict(g.mode, call.mode)))
        sure, perhaps = call.deadline, states.after(call.lasting, SLACK)
        if not is_new:
            hold = own._replace(level=own.level + 1, sure=max(own.sure, sure),
                                perhaps=max(own.perhaps, perhaps),
                                owed=own.owed and call.level <= 1)
            return states.swap(state._replace(ghosts=ghosts), own, hold), cost
        hold = Hold(call.who, call.mode, 1, sure, perhaps, call.fence, i, False, False)
        if own:  # which cannot be given back any more, but was promised
            state = states.swap(state, own, own._replace(is_covered=True))
        old = states.find(state.pasts, call.who, call.mode)
        return state._replace(holds=states.plus(state.holds, hold),
                              pasts=states.without(state.pasts, old), ghosts=ghosts,
                              highest=max(state.highest, call.fence)), cost

    def make_way(self, state, i, call):
        """Others' holds go that can have ended, or were lost as their owners were told."""
        cost = NONE
        for rival in states.rivals(state, call):
            if states.may_end(self, rival, call, state):
                state, more = self.gone(state, rival, "ended")
            elif self.unanswered_release(state, rival) is not None:
                state, more = self.release(state, rival)
            elif states.is_told(self.lock, rival, self.now):
                state, more = self.gone(state, rival, "lost")
                more = add(more, self.cost("lost", state, i, own=rival))
            else:
                continue
            cost = add(cost, more)
        return state, cost

    def refuse(self, state, i, call):
        """Refused: on what is there, or on a hold that has to be proved."""
        own = states.own(state, call)
        result = []
        if own and self.lock.is_reentrant:
            if self.unanswered_release(state, own, i) is not None:
                then, cost = self.release(state, own)
                result = [(s, add(cost, c)) for s, c in self.refuse(then, i, call)]
            elif states.may_end(self, own, call):
                then, cost = self.gone(state, own, "ended")
                result = [(s, add(cost, c)) for s, c in self.refuse(then, i, call)]
        late = [h for h in states.rivals(state, call) if not self.is_there(h)]
        there = [h for h in states.rivals(state, call) if self.is_there(h)]
        if call.until is not None and call.until <= call.answer:
            ghost = Ghost(i, call.who, call.mode, states.after(call.lasting, SLACK))
            return [(state, NONE), (self.with_ghost(state, ghost), NONE)]
        cost = self.cost("refusal", state, i, own=own, rivals=there)
        result.append((state, cost))
        if cost != NONE and not (own and self.lock.is_reentrant):
            result += self.haunt(state, i, call)
        for hold in late if not there else ():
            if "owned" in self.lock.caps:
                result.append((states.swap(state, hold, hold._replace(owed=True)),
                               self.cost("refusal", state, i, own=own, rivals=[hold])))
        return result

    def with_ghost(self, state, ghost):
        return state._replace(ghosts=states.plus(state.ghosts, ghost))

    def haunt(self, state, i, call):
        """The refusal stands on an acquire without an answer, executed when the lock was
        free: another one in each state."""
        result = []
        for j, other in enumerate(self.lock.calls[:self.begun]):
            if other.who == call.who and j > i:
                continue  # its owner asks for one thing after another
            if not self.lock.is_open[j] or other.kind != "acquire" or \
                    state.done >> j & 1 or not conflict(other.mode, call.mode):
                continue
            then, cost = self.make_way(state, j, other)
            until = self.haunts_until(other)
            if self.now <= until and not states.rivals(then, other):
                ghost = Ghost(j, other.who, other.mode, until)
                then = self.with_ghost(then, ghost)._replace(done=then.done | 1 << j)
                result.append((then, cost))
        return result

    def haunts_until(self, call):
        """The call may arrive at any time after it was made, so its lease may begin now."""
        process = self.lock.process_of(call)
        # A lock that gets its lease in a second step may have none.
        if self.lock.caps >= {"expires", "atomic"} and process.lease > 0:
            return self.now + process.lease + SLACK
        if "expires" not in self.lock.caps and call.answer == history.NEVER:
            return self.lock.ends_at(call) + self.lock.lingers(call) + SLACK
        return history.NEVER

    def left_by(self, state, call):
        """An abandoned hold is still its owner's, to renew and to release."""
        own = states.find(state.holds, call.who, call.mode)
        is_left = own and (call.kind == "renew" or own.begun in self.lock.abandoned)
        return own if is_left else None

    def find(self, state, i, call):
        own = states.own(state, call) or self.left_by(state, call)
        past = states.find(state.pasts, call.who, call.mode)
        cost = self.cost("found", state, i, own=own, past=past)
        if own is None:
            return state, cost
        if call.kind == "renew":
            hold = own._replace(sure=max(own.sure, call.deadline), owed=False, perhaps=max(
                own.perhaps, states.after(call.lasting, SLACK)))
            return states.swap(state, own, hold), cost
        if own.level > 1:
            return states.swap(state, own, own._replace(level=own.level - 1,
                                                        owed=False)), cost
        return self.gone(state, own, "found")[0], cost

    def lose(self, state, i, call):
        own = states.own(state, call) or self.left_by(state, call)
        past = states.find(state.pasts, call.who, call.mode)
        if own is not None and self.unanswered_release(state, own) is not None:
            state, cost = self.release(state, own)
            return [(s, add(cost, c)) for s, c in self.lose(state, i, call)]
        if own is not None and self.now < min(own.sure, call.answer):
            return []  # a lock stands until its loss is known
        cost = self.cost("lost", state, i, own=own, past=past)
        if own is not None:
            why = "ended" if own.sure <= self.now else "lost"
            state, more = self.gone(state, own, why)
            cost = add(cost, more)
            past = states.find(state.pasts, call.who, call.mode)
        return [((states.tell(state, past) if past else state), cost)]

    def unanswered_release(self, state, hold, before=None):
        """A release of the hold's only level that may have been executed by now; of the
        owner's own calls, one before that index."""
        if hold.level > 1:
            return None
        for j in self.lock.unanswered.get(hold.begun, ()):
            if j < self.begun and not state.done >> j & 1 and \
                    (before is None or j < before) and \
                    self.lock.calls[j].kind == "release":
                return j
        return None

    def release(self, state, hold):
        j = self.unanswered_release(state, hold)
        state, cost = self.gone(state, hold, "released")
        return state._replace(done=state.done | 1 << j), cost

    def is_there(self, hold):
        """May a store still keep it?  A renewal without an answer may come at any time."""
        return hold.perhaps >= self.now or any(
            j < self.begun and self.lock.calls[j].kind == "renew"
            for j in self.lock.unanswered.get(hold.begun, ()))

    def give_level(self, state, i, call):
        """A release without an answer, of one level of several, is executed."""
        own = states.own(state, call)
        if own is None or own.begun != self.lock.begun.get(i) or own.level == 1:
            return []
        return [(states.swap(state, own, own._replace(level=own.level - 1)), NONE)]

    # --- from instant to instant -----------------------------------------------------

    def instants(self):
        """Every moment at which something begins or stops being possible."""
        lock, found = self.lock, set()
        for i, call in enumerate(lock.calls):
            found |= {call.invoke, call.answer}
            if call.until is not None:
                found |= {call.until, call.lasting + SLACK}
            if lock.is_open[i]:
                found |= {lock.ends_at(call),
                          lock.ends_at(call) + lock.process_of(call).lease + SLACK}
            if i in lock.queued:
                found.add(call.invoke + call.wait)
                found |= {to for _, to in lock.queued[i]}
        found |= {p.killed for p in lock.history.processes.values()
                  if p.killed is not None}
        return sorted(t for t in found if t < history.NEVER)

    def settle(self, reached):
        """Forget what cannot matter any more, so that equal states are equal."""
        result = {}
        for state, cost in reached.items():
            ghosts = tuple(g for g in state.ghosts if g.until >= self.now)
            if len(ghosts) != len(state.ghosts):
                state = state._replace(ghosts=ghosts)
            keep(result, state, cost)
        return result

    def spread(self, reached, under_way):
        """Everything that may happen now."""
        work = list(reached)
        while work:
            state = work.pop()
            cost = reached[state]
            self.left -= 1
            if self.left < 0:
                raise Undecided
            for i in under_way:
                if state.done >> i & 1 or not all(state.done >> j & 1
                                                  for j in self.waits_for[i]):
                    continue
                for then, more in self.effects(state, i):
                    then = then._replace(done=then.done | 1 << i)
                    if keep(reached, then, add(cost, more)):
                        work.append(then)

    def answer(self, reached, answered):
        """Callers learn what happened."""
        result = {}
        for state, cost in reached.items():
            if not all(state.done >> i & 1 for i in answered):
                continue
            for i in answered:
                if self.lock.calls[i].kind == "acquire" and \
                        self.lock.status[i] == "ok":
                    own = states.own(state, self.lock.calls[i])
                    cost = add(cost, self.cost("inside", state, i, own=own))
            done = state.done
            for i in answered:
                done &= ~(1 << i)
            keep(result, state._replace(done=done), cost)
        return result

    def step(self, reached, under_way):
        """Everything that may happen now, and then what is answered now."""
        lock = self.lock
        self.waits_for = {i: [j for j in lock.after[i] if j in under_way]
                          for i in under_way}
        self.spread(reached, under_way)
        answered = [i for i in under_way if lock.calls[i].answer == self.now
                    and not lock.is_open[i]]
        return (self.answer(reached, answered),
                [i for i in under_way if i not in answered])

    def run(self):
        """How often each rule is broken, at least."""
        calls, reached, under_way = self.lock.calls, {states.START: NONE}, []
        for self.now in self.instants():
            reached = self.settle(reached)
            if self.is_strict:
                reached, under_way = self.step(reached, under_way)
            while self.begun < len(calls) and calls[self.begun].invoke <= self.now:
                if not self.lock.is_open[self.begun] or self.begun in self.lock.inner:
                    under_way.append(self.begun)
                self.begun += 1
            reached, under_way = self.step(reached, under_way)
        return min(self.close(state, cost) for state, cost in reached.items())

    def close(self, state, cost):
        for hold in state.holds:
            if hold.owed:
                cost = add(cost, self.cost("unproved", state, None))
        return cost


def add(a, b):
    return a if b is NONE else tuple(x + y for x, y in zip(a, b))


def keep(reached, state, cost):
    """Remember the state unless it was reached as cheaply.  True: it is news."""
    if state in reached and reached[state] <= cost:
        return False
    reached[state] = cost
    return True
