# SPDX-License-Identifier: MIT
"""state.py -- what a lock may be at one moment, as values that can be compared."""
from collections import namedtuple

import history
import lock as locks

# A hold: `sure` is until when it is promised, `perhaps` until when a store may keep it,
# `begun` the acquire that began it.  `owed`: it was needed beyond `perhaps` to explain a
# refusal, so a later call of its owner has to find it there.  `is_covered`: its owner
# abandoned it, or was granted the lock anew, and only that hold can be found.
Hold = namedtuple("Hold", "who mode level sure perhaps fence begun owed is_covered")
# A request without an answer that was executed: it excludes others until `until`.
Ghost = namedtuple("Ghost", "call who mode until")
# The end of an owner's last hold: "ended", "released" or "lost"; and was it told that
# it has the lock no longer?
Past = namedtuple("Past", "who mode why sure begun is_told")
# `done`: the set of calls, as bits, that have been executed and were not answered yet.
State = namedtuple("State", "holds ghosts pasts highest done")

START = State((), (), (), 0, 0)


def find(items, who, mode):
    for item in items:
        if item.who == who and item.mode == mode:
            return item
    return None


def own(state, call):
    """The hold of the caller in that mode, or None."""
    for hold in state.holds:
        if hold.who == call.who and hold.mode == call.mode and not hold.is_covered:
            return hold
    return None


def without(items, item):
    return tuple(x for x in items if x is not item)


def plus(items, item):
    return tuple(sorted(items + (item,)))


def swap(state, hold, new):
    return state._replace(holds=plus(without(state.holds, hold), new))


def end(state, hold, why):
    """The state once the hold is gone, and why."""
    old = find(state.pasts, hold.who, hold.mode)
    past = Past(hold.who, hold.mode, why, hold.sure, hold.begun, False)
    return state._replace(holds=without(state.holds, hold),
                          pasts=plus(without(state.pasts, old), past))


def tell(state, past):
    """Its owner is told that it has the lock no longer."""
    return state._replace(pasts=plus(without(state.pasts, past),
                                     past._replace(is_told=True)))


def may_end(search, hold, call=None, state=None):
    """Can the hold have ended by itself before `call` was executed?  At the very end of
    its lease it can.  A hold that does not expire lives with its session, or its process: for all
    that the process recorded."""
    lock, now = search.lock, search.now
    if now >= hold.sure:
        return True
    if "expires" in lock.caps:
        return False
    process = hold.who[0]
    last = lock.last_of(process)
    if now != last:
        return now > last
    return not (search.is_strict or call and call.process == process or state and any(
        c.process == process and c.answer == now and not lock.is_open[i]
        and not state.done >> i & 1 for i, c in enumerate(lock.calls)))


def is_told(lock, hold, now):
    """Was its owner told that the lock is lost?  Not if it was being granted it anew: then
    the loss may be of either hold, and is of none."""
    begun = lock.calls[hold.begun].answer
    anew = [lock.calls[j] for j, k in lock.begun.items()
            if j == k and j > hold.begun and lock.calls[j].who == hold.who]
    return any(who == hold.who and begun <= at <= now
               and not any(c.invoke <= at <= c.answer for c in anew)
               for at, who in lock.told_lost)


def rivals(state, call):
    return [h for h in state.holds
            if h.who != call.who and locks.conflict(h.mode, call.mode)]


def after(moment, duration):
    return history.NEVER if moment == history.NEVER else moment + duration
