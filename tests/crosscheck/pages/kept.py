# SPDX-License-Identifier: MIT
"""kept -- a lock was kept until it was released or its lease ended.

State: the holds, and the end of the last hold of each owner.  The answer `lost` to a release or a
renewal is legal when the hold had been released, or when the lease that the last answer promised
has ended.  A hold without a lease lasts as long as its process, so `lost` is never legal for it
before a release.  The same rule judges the news of a loss if another owner got the lock.  The
hold exists until its owner is told of the loss, and not afterwards, even if the news was wrong.
If an owner is told that the lock is lost, and later that it has the lock, then the news was
wrong, provided that only the owner can release the lock.

Not judged here: the reason of a loss; a loss of which no owner was told, or after which no other
owner got the lock; a release after an abandon; a renewal during which its owner was granted the
lock again, because the answer may concern either hold.
"""
CAPS = ()
IS_WHOLE = False


def breaks(e):
    if e.kind == "found":
        return int("owned" in e.lock.caps and e.own is None
                   and e.past is not None and e.past.is_told)
    if e.kind != "lost":
        return 0
    if e.own is not None:
        return int(e.now < e.own.sure)
    return int(e.past is not None and e.past.why == "ended" and e.now < e.past.sure)
