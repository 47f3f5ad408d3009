# SPDX-License-Identifier: MIT
"""permits -- no more permits were held than there are, and each was given back once.

State: the number of free permits; the holder and the end of each permit that has an end; the ids
that were granted.  A grant is legal when enough permits are free, and if its id is new.  A return
of permits without an end is legal when as many were granted.  A return of a permit with an end is
legal when the permit is held; any owner may return it, because its id proves the grant.  The
answer `lost` is legal when the permit has ended or was returned.  A refusal without a wait is
legal when too few permits are free.  A permit ends between its promised end and SLACK later.  The
promised end in a history is 1 ms before the end in the store, because the clock of the store is
read in whole milliseconds.

A call without an answer may have been executed, or not.

Not judged here: semaphores that were set before the run; a wait that timed out; whether a drain
took all permits; refusals after permits may have been taken away, which a history records as the
addition of 0.
"""
from collections import namedtuple

from lock import SLACK

# `free`: the free permits; `taken`: the held permits without an end, which have no ids; `held`:
# (id, who, until) of each permit with an end; `ids`: all ids that were granted; `is_fewer`: the
# number of permits may have been lowered.
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
    """Return every state that is possible after the ends of permits until now."""
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
    # A permit whose grant was not answered has no known id, so no owner can return it.
    who = call.who if call.status == "ok" else NOBODY
    if who != NOBODY:
        if call.ident in state.ids:
            return []
        state = state._replace(ids=state.ids | {call.ident})
    permit = (call.ident, who, call.deadline)
    return [state._replace(held=tuple(sorted(state.held + (permit,))))]


def _change(state, call):
    """Return the states after a renewal or a return of a permit with an end."""
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
    """Return the calls that are judged, which are all calls."""
    return calls


def execute(state, call):
    """Return the states that the call may lead to; an empty list: the call is not legal."""
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
