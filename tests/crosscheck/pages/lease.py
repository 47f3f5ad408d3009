# SPDX-License-Identifier: MIT
"""lease -- nobody worked on after its lease while another held the lock.

State: the holds, and the ends of earlier holds.  An owner works from the answer that grants the
lock until it sends the last release of the hold, or abandons the hold.  If both are at the same
instant, the owner does not work.  An owner that is told of a loss has no lease from that answer
on.  A grant is judged at the instant of its answer.  The grant is legal when no other owner works
in a hold that has ended and would exclude the caller.  If the caller's own hold has ended by
then, and the caller works, the grant is legal only when no other owner holds the lock and works.

Not judged here: owners that never release, because they are assumed to stop in time; an owner
that was told later that it still had the lock, if only the owner can release it (ownership).
"""
from lock import conflict

CAPS = ()
IS_WHOLE = False


def breaks(e):
    if e.kind != "inside":
        return 0
    rivals = [past for past in e.state.pasts if _stands(e, past)
              and past.why != "released" and _ended(e, past) <= e.now
              and e.lock.works.get(past.begun, -1) > _ended(e, past)
              and _works(e, past.begun) and not _is_found(e, past.begun)]
    if e.own is None and _works(e, e.index):  # its lease ended before its answer came
        rivals += [hold for hold in e.state.holds if _stands(e, hold)
                   and hold.sure > e.now and e.lock.calls[hold.begun].answer <= e.now
                   and e.lock.works.get(hold.begun, hold.sure) > e.now]
    return len(rivals)


def _ended(e, past):
    """Return the end of the owner's lease, or the answer that told of the loss, if earlier."""
    return min(past.sure, e.lock.told_at.get(past.begun, past.sure))


def _stands(e, other):
    return other.who != e.call.who and conflict(other.mode, e.call.mode)


def _works(e, begun):
    until = e.lock.works.get(begun, -1)
    if e.is_strict and until > e.lock.calls[begun].answer:
        until += 1
    return e.lock.calls[begun].answer <= e.now < until


def _is_found(e, begun):
    return "owned" in e.lock.caps and e.lock.seen.get(begun, -1) >= e.now
