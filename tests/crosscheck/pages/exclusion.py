# SPDX-License-Identifier: MIT
"""exclusion -- no two owners were granted a lock for the same time.

State: the holds.  A grant is legal when no other owner's hold stands against it: a
writer's stands against everybody, a reader's against writers.  A hold stands from some
moment within its acquire to some moment within its last release, or to any moment after
its lease.  Modes of one owner do not stand against each other.

A release that went unanswered may have been executed at any time after it was sent, or
never.  An acquire that went unanswered protects nobody: its owner does not hold.

Leaves out: what its owner did after its lease (lease); a lock that was lost within its
lease, from when its owner was told (kept); locks of several processes of which one
promises less than another.
"""
CAPS = ()
IS_WHOLE = False


def breaks(e):
    return len(e.rivals) if e.kind == "grant" and e.is_new else 0
