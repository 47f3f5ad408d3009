# SPDX-License-Identifier: MIT
"""latch -- a latch opened once, when it had been counted down.

State: what is left of its count; 0: it is open, or deleted; None: nobody knows.  A wait may
end, and a latch be made, when 0 is left; a refusal to wait is legal when more is left, and
so is the refusal to make it; a count leaves one less.  A latch that is deleted leaves 0.

A count without an answer may have been executed, or not.

Leaves out: what a latch was before its first making in the run; makings that overlap, of
which nobody knows which was the last; all that comes after a making without an answer; a
wait that timed out.
"""
from collections import namedtuple

from history import NEVER

State = namedtuple("State", "left")
START = State(None)
OPEN = (None, "unknown", "protocol", "cancelled")
KINDS = ("latch-set", "latch-count", "latch-wait", "latch-delete")


def passing(state, now):
    return {state}


def execute(state, call):
    """The states that the call may lead to; none: it is not legal."""
    left = state.left
    if call.kind == "latch-set":
        if call.status == "busy":
            return [state] if left != 0 else []
        return [State(call.count)] if not left else []
    if call.kind == "latch-delete":
        return [State(0)]
    if left is None:
        return [state]
    if call.kind == "latch-count":
        left = max(0, left - 1)
        is_told = call.status == "ok"
        return [State(left)] if not is_told or call.count == left else []
    if call.status == "ok":
        return [state] if left == 0 else []
    return [state] if call.status == "timeout" or left > 0 else []


def prepare(calls):
    """The calls as far as they are judged: until a making without an answer, from whose call
    on no later answer says anything."""
    makings = [c for c in calls if c.kind == "latch-set" and c.status in ("ok",) + OPEN]
    end = min([c.invoke for c in makings if c.status in OPEN], default=NEVER)
    result = []
    for call in calls:
        if call.invoke > end or call.kind == "latch-set" and call.status in OPEN:
            continue
        found = call.copy()
        if call in makings and any(c is not call and c.invoke < call.answer
                                   and call.invoke < c.answer for c in makings):
            found.count = None
        if call.answer > end:
            found.status = None
        result.append(found)
    return result
