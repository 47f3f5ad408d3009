# SPDX-License-Identifier: MIT
"""permits -- no more permits were held than there are, and each was given back once.

State: how many are free, which permits with an end are held, by whom and until when, and
which ids were granted.  A taking is legal when as many are free, under an id of its own; a giving back when as many were taken, or the
permit is held, since its id, by which it is given back, proves that it was granted; a loss when the permit has ended or was given
back; a refusal without a wait when fewer are free.  A permit ends at its end at the
earliest, SLACK later at the latest; a history has that
end as it was promised, 1 ms before the store's, whose clock is read in whole milliseconds.

A taking or giving back without an answer may have been executed, or not.

Leaves out: semaphores that were made before the run; a wait that timed out; that a
draining took all there was; how many are left once some may have been taken away, which a
history tells as adding 0.
"""
from collections import namedtuple

from lock import SLACK

# `free` and `taken` of those that nobody in particular holds; `held`: (id, who, until);
# `ids`: all that were granted; `is_fewer`: some may have been taken away.
State = namedtuple("State", "free taken held ids is_fewer")
NOBODY = (0, 0)
START = State(0, 0, (), frozenset(), False)
KINDS = ("sem-set", "sem-take", "sem-give", "sem-add", "sem-drain", "permit-take",
         "permit-renew", "permit-give")


def _held(state, call):
    return next((p for p in state.held if p[0] == call.ident), None)


def _end(state, permit):
    return state._replace(free=state.free + 1,
                          held=tuple(p for p in state.held if p != permit))


def passing(state, now):
    """Every state that the ends of permits may have led to by now."""
    states = {state}
    for permit in state.held:
        if permit[1] == NOBODY:
            states |= {_end(s, permit) for s in states}
        elif permit[2] <= now:
            ended = {_end(s, permit) for s in states}
            states = ended if permit[2] + SLACK < now else states | ended
    return states


def _take(state, call):
    count = 1 if call.kind == "permit-take" else call.count
    if call.status in ("busy", "timeout"):
        is_legal = call.status == "timeout" or state.free < count or state.is_fewer
        return [state] if is_legal else []
    if state.free < count:
        return []
    state = state._replace(free=state.free - count)
    if call.kind != "permit-take":
        return [state._replace(taken=state.taken + count)]
    # Of a permit whose taking went unanswered nobody was told, so nobody can give it back.
    who = call.who if call.status == "ok" else NOBODY
    if who != NOBODY:
        if call.ident in state.ids:
            return []
        state = state._replace(ids=state.ids | {call.ident})
    permit = (call.ident, who, call.deadline)
    return [state._replace(held=tuple(sorted(state.held + (permit,))))]


def _change(state, call):
    """A permit with an end is renewed or given back."""
    permit = _held(state, call)
    if call.status == "lost":
        return [state] if permit is None else []
    if permit is None or permit[1] == NOBODY:
        return []
    state = _end(state, permit)
    if call.kind == "permit-give":
        return [state]
    permit = (call.ident, call.who, call.deadline)
    return [state._replace(free=state.free - 1, held=tuple(sorted(state.held + (permit,))))]


def prepare(calls):
    """All of them are judged."""
    return calls


def execute(state, call):
    """The states that the call may lead to; none: it is not legal."""
    if call.kind in ("sem-take", "sem-drain", "permit-take"):
        return _take(state, call)
    if call.kind == "sem-add" and call.count == 0:
        return [state._replace(is_fewer=True)]
    if call.kind in ("sem-set", "sem-add"):
        return [state._replace(free=state.free + call.count)]
    if call.kind == "sem-give":
        if state.taken < call.count:
            return []
        return [state._replace(free=state.free + call.count,
                               taken=state.taken - call.count)]
    return _change(state, call)
