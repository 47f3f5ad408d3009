# SPDX-License-Identifier: MIT
"""ownership -- what was released or renewed was still its owner's.

State: the holds.  A release or renewal that is answered ok is legal when its owner has a
hold.  A hold that outlived its lease is there as long as nobody else came in.

Leaves out: locks that free whoever's hold they find, since they do not claim it; a hold
that was said to be lost and then found again (kept); a renewal during which its owner was
granted the lock anew.
"""
CAPS = ("owned",)
IS_WHOLE = False


def breaks(e):
    if e.kind != "found" or e.own is not None:
        return 0
    return 0 if e.past is not None and e.past.is_told else 1
