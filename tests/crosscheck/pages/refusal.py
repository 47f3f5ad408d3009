# SPDX-License-Identifier: MIT
"""refusal -- nobody was refused without another who may have held the lock.

State: the holds, and the requests without an answer that may have been executed.  A
refusal is legal when at some moment within the call
  - another owner's hold stands against it, until its lease ends, counted from the answer,
    plus SLACK; longer, if a later call of its owner finds it there;
  - or the owner's own does, where the lock does not claim re-entry, or where a reader asks
    to write;
  - or a request without an answer does, which was executed once, when the lock was free,
    and lasts no longer than its lease plus SLACK;
  - or, where the lock asks several stores, another acquire is under way;
  - or, where the lock has a queue, another acquire waits, or may have died waiting;
  - or the call itself was granted the lock, and heard of it after that lease.

Leaves out: a wait, which is legal when one moment of it is; holds that a store brought
back after a fault, and waits that a fault kept from the store.
"""
from lock import conflict

CAPS = ("exclusive", "local")
IS_WHOLE = True


def breaks(e):
    if e.kind == "unproved":
        return 1
    if e.kind != "refusal" or (e.own is not None and e.lock.is_reentrant):
        return 0
    return int(not (e.call.until is not None and e.call.until <= e.call.answer
                    or e.rivals or e.own and e.is_there(e.own) or _is_mixed(e) or _is_haunted(e)
                    or e.lock.is_divided and _is_contended(e)
                    or "fair" in e.lock.caps and _is_queued(e)))


def _is_mixed(e):
    """Does a hold of the caller itself keep it out, in the other mode or abandoned?"""
    return any(h.who == e.call.who and conflict(h.mode, e.call.mode)
               and (h.mode or not e.lock.is_reentrant) and e.is_there(h)
               for h in e.state.holds)


def _is_haunted(e):
    return any(conflict(g.mode, e.call.mode) for g in e.state.ghosts)


def _is_contended(e):
    return any(c.kind == "acquire" and c.who != e.call.who
               and c.invoke <= e.now <= e.lock.ends_at(c)
               and conflict(c.mode, e.call.mode) for c in e.lock.calls)


def _is_queued(e):
    return any(c.kind == "acquire" and c.who != e.call.who and c.invoke <= e.now
               and (c.answer >= e.now or e.lock.is_open[i])
               for i, c in enumerate(e.lock.calls))
