# SPDX-License-Identifier: MIT
"""ownership -- each release and renewal was of the owner's own hold.

State: the holds.  The answer `ok` to a release or a renewal is legal when its owner has a hold.
A hold that outlived its lease exists until another owner is granted the lock.

Not judged here: locks without the promise `owned`, whose release frees the hold of any owner; a
hold that was reported lost and found later (kept); a renewal during which its owner was granted
the lock again.
"""
CAPS = ("owned",)
IS_WHOLE = False


def breaks(e):
    if e.kind != "found" or e.own is not None:
        return 0
    return 0 if e.past is not None and e.past.is_told else 1
