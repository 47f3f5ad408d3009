# SPDX-License-Identifier: MIT
"""refusal -- no acquire was refused while no other owner can have held the lock.

State: the holds, and the requests without an answer that may have been executed.  A refusal is
legal when at least one of these is true at some instant within the call:
  - the hold of another owner excludes the call.  Such a hold counts until the end of its lease,
    counted from the answer, plus SLACK; longer, while a renewal without an answer may arrive, or
    if a later answer to its owner proves the hold;
  - a hold of the caller, which may be abandoned, excludes the call: if the lock promises re-entry,
    only a reader's hold excludes, and only a call that asks to write;
  - a request without an answer excludes the call: the store executed the request when the lock
    was free.  If the store sets the lock and its lease in one step, the effect lasts for the lease
    plus SLACK; if not, until the end of the session, or without an end;
  - the lock asks several stores, and another acquire is in progress;
  - the lock has a queue, and another acquire waits, or may have died while it waited;
  - the call itself was granted the lock, and its answer came after that lease.

A call that waits is legal when one of these is true at one instant of its wait.

Not judged here: holds that a store restored after a fault; waits that did not reach the store
because of a fault.
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
    """Does a hold of the caller itself exclude the call: of the other mode, or abandoned?"""
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
