# SPDX-License-Identifier: MIT
"""differences.py -- the rules in which the two judges differ on purpose.

Each has a name, under which it is counted and printed, what it says, and when it holds: of
the history, the property, and the verdicts of the first and the second judge.
"""
from collections import namedtuple

from judge import INVALID, UNKNOWN, VALID
from lock import Lock

Rule = namedtuple("Rule", "name says holds")


def _found_again(history, name, first, second):
    found = [verdicts.get(page, VALID) for verdicts in (first, second)
             for page in ("ownership", "reentry")]
    return name in ("exclusion", "lease", "kept", "ownership", "reentry") and \
        INVALID in found and \
        first["overall"] == second["overall"] == INVALID


def _served_beside(history, name, first, second):
    return name == "fairness" and second[name] == INVALID and \
        second["exclusion"] == first.get("exclusion") == INVALID


def _queue(history, name, first, second):
    return name == "refusal" and first.get(name, VALID) == VALID and any(
        "fair" in p.caps for p in history.processes.values())


def _in_flight(history, name, first, second):
    return name == "refusal" and first.get(name, VALID) == VALID and any(
        c.kind in ("acquire", "renew") and
        c.status in (None, "unknown", "protocol", "cancelled")
        for c in history.calls)


def _left(history, name, first, second):
    return name == "latch" and first.get(name, VALID) == VALID and any(
        c.kind == "latch-count" for c in history.calls)


def _bounds(history, name, first, second):
    return name in ("permits", "latch") and first.get(name, VALID) == VALID and any(
        c.status in (None, "unknown", "busy") for c in history.calls)


def _last_call(history, name, first, second):
    return name == "lease" and second[name] == VALID and any(
        _gives_back_again(Lock(history, n)) for n in history.names())


def _gives_back_again(lock):
    return any(c.kind in ("release", "abandon") and i not in lock.begun
               for i, c in enumerate(lock.calls))


def _tie(history, name, first, second):
    return UNKNOWN in (first.get(name, VALID), second[name]) and any(
        Lock(history, n).has_ties() for n in history.names())


ALL = (
    Rule("found-again",
         "an owner is told that it still has what it gave back or lost: both judges say "
         "invalid, but not of the same among ownership, kept, reentry, exclusion and lease",
         _found_again),
    Rule("served-beside",
         "two who have the lock at once were served in an order that nobody knows; the first "
         "judge then says nothing of their fairness, the second one chooses the order that "
         "breaks exclusion least",
         _served_beside),
    Rule("queue",
         "a lock with a queue may keep a place for one that is gone; the first judge "
         "excuses every refusal with it, the second one only if another ever asked",
         _queue),
    Rule("in-flight",
         "a request without an answer may still be on its way; the first judge "
         "excuses a refusal with it however late, the second one until its lease after "
         "its caller gave up or died",
         _in_flight),
    Rule("last-call",
         "an owner that gives back again what it gave back did not work until then; the "
         "first judge takes it to work until its last call",
         _last_call),
    Rule("latch-left",
         "a count leaves one less than the count before; the first judge looks at counts "
         "that leave the same, or 0",
         _left),
    Rule("bounds",
         "one order of the calls of a semaphore or latch has to explain all refusals; the "
         "first judge has the least and the most that may be left at each moment, and "
         "excuses each refusal by itself",
         _bounds),
    Rule("tie",
         "an answer and a call of the same instant leave it open which was first; the "
         "judges say unknown of different ties, but of none does one say valid and the "
         "other invalid",
         _tie),
)


def explain(history, name, first, second):
    """The name of the rule that explains the difference, or None."""
    for rule in ALL:
        if rule.holds(history, name, first, second):
            return rule.name
    return None
