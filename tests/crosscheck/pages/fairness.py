# SPDX-License-Identifier: MIT
"""fairness -- nobody was overtaken while waiting.

State: the acquires that have been granted.  An acquire waits from its mark `wait` until it is
granted, or until its time is over, or until the mark that says that it gave up its place; a later
mark `wait` begins another stay in the queue.  A grant is legal when no other owner waits whose
mark precedes the acquire that is granted.

Not judged here: waiters that were cancelled, failed or died; a further level of a hold; the
instant at which a waiter loses its place because it no longer asks.
"""
CAPS = ("fair",)
IS_WHOLE = True


def breaks(e):
    if e.kind != "grant" or not e.is_new:
        return 0
    return int(any(_is_overtaken(e, i, *stay)
                   for i, stays in e.lock.queued.items() for stay in stays))


def _is_overtaken(e, i, at, given_up):
    waiter = e.lock.calls[i]
    if waiter.who == e.call.who or at > e.call.invoke or \
            at == e.call.invoke and not e.is_strict:
        return False
    if given_up <= e.now:
        return False
    if e.lock.status[i] == "ok":
        return not e.state.done >> i & 1 and waiter.answer >= e.now
    return (e.lock.status[i] == "timeout"
            and e.now < min(waiter.answer, waiter.invoke + waiter.wait))
