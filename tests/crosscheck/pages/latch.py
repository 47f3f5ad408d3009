# SPDX-License-Identifier: MIT
"""latch -- a latch opened once, when it had been counted down.

State: the number of counts that are left; 0: the latch is open or deleted; None: unknown.  A wait
may end, and the latch may be set, when 0 is left.  A refusal of a wait or of a setting is legal
when more than 0 is left.  A count lowers the number by one.  A deletion makes the number 0.

A count without an answer may have been executed, or not.

Not judged here: the latch before it was first set in the run; settings that overlap, because the
last of them is unknown; every call after a setting without an answer; a wait that timed out.
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
    """Return the states that the call may lead to; an empty list: the call is not legal."""
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
    """Return the calls that are judged.  A setting without an answer may be executed at any
    later time, so no answer that arrives after its invocation is judged."""
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
