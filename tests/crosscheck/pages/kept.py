# SPDX-License-Identifier: MIT
"""kept -- a lock was kept until it was released or its lease ended.

State: the holds, and how each owner's last one went.  A release or renewal that is
answered lost is legal when its hold had been released, or when it can have ended: with
its lease, or with its session, which lasts as long as its process.  So is the news of a
loss, if another got the lock.  The hold stands until the loss is told, and not after,
whoever was right.  An owner that is told that it lost the lock, and then that it has it,
was told wrong the first time, where only the owner can release.

Leaves out: why it was lost; a loss that nobody was told of, or that nobody made use of;
a release after an abandon; a renewal during which its owner was granted the lock anew,
since nobody can say which of the two holds it found.
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
