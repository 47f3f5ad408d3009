# SPDX-License-Identifier: MIT
"""reentry -- a holder that asked again was let in level by level, or not at all.

State: the level of each hold.  Where a lock claims re-entry, an acquire of its holder is
legal when it is granted the next level, under the fence of the first.  Where it does not,
an acquire of its holder is legal when it is refused.  Level 1 is granted to owners that
have no hold, and only level 1; and not while a hold that the owner abandoned still lasts.

Leaves out: calls that do not say their level; a hold of the other mode.
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
