# SPDX-License-Identifier: MIT
"""latch -- a latch opened once, when it had been counted down.

State: what is left of its count; 0: it is open, or was never made.  A wait may end, and a
latch be made, when 0 is left; a refusal to wait is legal when more is left, and so is the
refusal to make it; a count leaves one less.  A latch that is deleted leaves 0.

A count without an answer may have been executed, or not.

Leaves out: latches that were made before the run; a wait that timed out.
"""
from collections import namedtuple

State = namedtuple("State", "left")
START = State(0)
KINDS = ("latch-set", "latch-count", "latch-wait", "latch-delete")


def passing(state, now):
    return {state}


def execute(state, call):
    """The states that the call may lead to; none: it is not legal."""
    if call.kind == "latch-set":
        if call.status == "busy":
            return [state] if state.left > 0 else []
        return [State(call.count)] if state.left == 0 else []
    if call.kind == "latch-count":
        left = max(0, state.left - 1)
        is_told = call.status == "ok"
        return [State(left)] if not is_told or call.count == left else []
    if call.kind == "latch-wait":
        if call.status == "ok":
            return [state] if state.left == 0 else []
        return [state] if call.status == "timeout" or state.left > 0 else []
    return [State(0)]
