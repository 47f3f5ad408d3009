# SPDX-License-Identifier: MIT
"""exclusion -- no two owners were granted a lock for the same time.

State: the holds.  A grant is legal when no other owner has a hold that excludes it: the hold of
a writer excludes every other owner, the hold of a reader excludes writers.  A hold begins at some
instant within its acquire.  It ends at some instant within its last release, or at any instant
after its lease.  Two holds of one owner in different modes do not exclude each other.

A release without an answer may have been executed at any time after it was sent, or never.  An
acquire without an answer makes no hold, because its owner does not know of a grant.

Not judged here: the work of an owner after its lease (lease); a lock that was lost within its
lease, from the instant at which its owner was told (kept); promises that only some of the
processes make for their lock.
"""
CAPS = ()
IS_WHOLE = False


def breaks(e):
    return len(e.rivals) if e.kind == "grant" and e.is_new else 0
