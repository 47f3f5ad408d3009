# SPDX-License-Identifier: MIT
"""reentry -- a holder that asked again was let in level by level, or not at all.

State: the level of each hold.  If the lock promises re-entry, an acquire of the holder is legal
when it is granted the next level, with the fence of the first level.  If the lock does not promise
re-entry, an acquire of the holder is legal when it is refused.  An owner without a hold is granted
level 1 and no other level, and not while a hold that the owner abandoned still exists.

Not judged here: calls without a level in the record; a hold of the other mode.
"""
CAPS = ()
IS_WHOLE = False


def breaks(e):
    if e.kind == "refusal":
        return int(e.own is not None and e.lock.is_reentrant)
    if e.kind != "grant":
        return 0
    if e.own is None:
        return int(e.call.level > 1 or e.is_abandoned)
    if not e.lock.is_reentrant:
        return 1
    if e.call.level not in (0, e.own.level + 1):
        return 1
    return int(e.call.fence not in (0, e.own.fence))
