# SPDX-License-Identifier: MIT
"""differences.py -- the rules in which the two judges differ on purpose.

A rule has a name, under which it is counted and printed, what it says, and two functions:

    is_about(history, name, first, second)  may the difference about the property be of its
        kind?  `first` and `second` are the verdicts.
    without(history)  the history without what the judges doubt: one history or more

A rule explains a difference if both judges are asked again without the calls that they doubt,
and then agree on that property, each time.  So a rule hides no difference of another cause.
"""
from collections import namedtuple

import mutations
import untie
from judge import INVALID, UNKNOWN, VALID
from lock import Lock

Rule = namedtuple("Rule", "name says is_about without")
OPEN = (None, "unknown", "protocol", "cancelled")
MAKINGS = ("sem-set", "sem-add", "latch-set")


def _locks(history):
    return [Lock(history, n) for n in history.names()]


def _but(history, is_doubted):
    """The history without those calls, or nothing if there are none."""
    smaller = history.copy()
    smaller.calls = [c for c in smaller.calls if not is_doubted(c)]
    return [smaller] if len(smaller.calls) < len(history.calls) else []


def _is_milder(name, first, second):
    """Does the first judge find less against it?"""
    order = (VALID, UNKNOWN, INVALID)
    return order.index(first.get(name, VALID)) < order.index(second[name])


# --- found-again ---------------------------------------------------------------------


def _is_found_again(history, name, first, second):
    about = ("exclusion", "lease", "kept", "ownership", "reentry", "fence")
    return name in about + ("refusal",) and all(any(verdicts.get(page, VALID) != VALID for page in about)
                                 for verdicts in (first, second))


def _is_told(lock, begun, call):
    """Was the call's owner told that it lost that hold before it made the call?"""
    return any(who == call.who and lock.calls[begun].invoke <= at <= call.invoke
               for at, who in lock.told_lost)


def _without_finding(history):
    """No call finds what its owner gave back or lost, or what had ended."""
    doubted = set()
    for lock in _locks(history):
        lost, until = set(), {}
        for i, call in enumerate(lock.calls):
            begun, is_ok = lock.begun.get(i), lock.status[i] == "ok"
            if lock.status[i] == "lost":
                lost.add(call.who)
            elif call.kind == "acquire" and is_ok and begun == i and call.level <= 1:
                lost.discard(call.who)
            elif is_ok and (begun is None or begun == i or call.who in lost
                            or until.get(begun, 0) <= call.answer
                            or _is_told(lock, begun, call)):
                doubted.add(call.line())
                continue
            if begun is not None:
                until[begun] = max(until.get(begun, 0), call.deadline if is_ok and
                                   call.kind in ("acquire", "renew") else 0)
    return _but(history, lambda c: c.line() in doubted)


def _is_told_anew(history, name, first, second):
    return name in ("exclusion", "kept") and bool(history.marks)


def _without_news(history):
    """No owner that was granted the lock twice is told of a loss."""
    twice = {(lock.name, lock.calls[i].who) for lock in _locks(history)
             for i, begun in lock.begun.items() if i == begun and any(
                 k == j and j != i and lock.calls[j].who == lock.calls[i].who
                 for j, k in lock.begun.items())}
    found = history.copy()
    found.marks = [m for m in found.marks
                   if m.kind != "lost" or (m.name, m.who) not in twice]
    return [found] if len(found.marks) < len(history.marks) else []


# --- served-beside -------------------------------------------------------------------


def _is_served_beside(history, name, first, second):
    return name in ("fairness", "lease", "fence") and \
        second["exclusion"] == first.get("exclusion") == INVALID


def _without_beside(history):
    """No owner is granted the lock while another surely has it."""
    found, until = history.copy(), {}
    for call in sorted(history.calls, key=lambda c: c.answer):
        if call.kind == "acquire" and call.status == "ok":
            if until.get(call.name, (0, None))[0] > call.answer and \
                    until[call.name][1] != call.who:
                found.calls = [c for c in found.calls if c.line() != call.line()]
            else:
                until[call.name] = (_given_back(history, call), call.who)
    return [found] if len(found.calls) < len(history.calls) else []


def _given_back(history, call):
    return min([c.invoke for c in history.calls if c.kind == "release" and
                c.who == call.who and c.name == call.name and c.invoke >= call.answer],
               default=call.deadline)


# --- locks ---------------------------------------------------------------------------


def _is_queue(history, name, first, second):
    return name == "refusal" and first.get(name, VALID) == VALID


def _without_queue(history):
    fair = {lock.name for lock in _locks(history) if "fair" in lock.caps}
    return _but(history, lambda c: c.name in fair and c.kind == "acquire"
                and c.status in ("busy", "timeout"))


def _is_in_flight(history, name, first, second):
    return name == "refusal" and _is_milder(name, first, second)


def _without_requests(history):
    return _but(history, lambda c: c.kind in ("acquire", "renew") and c.status in OPEN)


def _is_last_call(history, name, first, second):
    return name == "lease" and second[name] == VALID


def _without_last(history):
    again = {lock.calls[i].line() for lock in _locks(history)
             for i in range(len(lock.calls))
             if lock.calls[i].kind in ("release", "abandon") and i not in lock.begun}
    return _but(history, lambda c: c.line() in again)


# --- semaphores, permits and latches ---------------------------------------------------


def _is_mild_count(history, name, first, second):
    return name in ("permits", "latch") and _is_milder(name, first, second)


def _without_late(history):
    return _but(history, lambda c: c.kind in ("permit-take", "acquire")
                and c.status == "ok" and c.deadline <= c.answer)


def _is_heard_late(history, name, first, second):
    return name in ("permits", "refusal") and _is_milder(name, first, second)


def _with_answered_makings(history):
    """The history with each adding without an answer made as it was asked for, and without
    any of these; as it is if there are none."""
    made, without = history.copy(), history.copy()
    for call in made.calls:
        if call.kind == "sem-add" and call.status in OPEN:
            call.status, call.answer = "ok", call.invoke
    without.calls = [c for c in without.calls
                     if c.kind != "sem-add" or c.status not in OPEN]
    return [made, without] if len(without.calls) < len(history.calls) else [history.copy()]


def _without_open(history):
    smaller = _but(history, lambda c: c.status in OPEN and c.kind not in MAKINGS)
    return [h for s in smaller for h in _with_answered_makings(s)]


def _shorten_makings(history):
    """No call was under way as a latch was made; a semaphore is made as it is asked for."""
    for call in history.calls:
        if call.kind in ("sem-set", "sem-add") and call.status == "ok":
            call.answer = call.invoke
    makings = [c for c in history.calls if c.kind == "latch-set"]
    history.calls = [c for c in history.calls if c in makings or not any(
        c.name == m.name and c.who != m.who and c.invoke <= m.answer
        and m.invoke <= c.answer for m in makings)]
    return history


def _with_short_makings(history):
    found = [_shorten_makings(h) for h in _with_answered_makings(history)]
    return [h for h in found
            if h.text() != history.text() and mutations.is_well_formed(h)]


def _without_other_refusals(history):
    """For each refusal a history without the other refusals; and a history without any refusal."""
    refusals = [i for i, c in enumerate(history.calls)
                if c.kind in ("sem-take", "permit-take") and c.status == "busy"]
    if len(refusals) < 2:
        return []
    result = []
    for kept in refusals + [None]:
        smaller = history.copy()
        smaller.calls = [c for i, c in enumerate(smaller.calls)
                         if i == kept or i not in refusals]
        result.append(smaller)
    return result


# --- ties ------------------------------------------------------------------------------


def _is_tie(history, name, first, second):
    return UNKNOWN in (first.get(name, VALID), second[name])


ALL = (
    Rule("found-again",
         "an owner is told that it still has what it gave back or lost: both judges find "
         "that, but not of the same among ownership, kept, reentry, fence, exclusion and lease, "
         "nor that it had the lock when others were refused",
         _is_found_again, _without_finding),
    Rule("told-anew",
         "the news of a loss may be of either hold of an owner that was granted the lock "
         "again; the judges take different holds for the lost one",
         _is_told_anew, _without_news),
    Rule("served-beside",
         "two who have the lock at once were served in an order that nobody knows; the first "
         "judge then says nothing of their fairness or fences, and looks for who overran among "
         "the two that worked longest; the second one chooses the order that breaks exclusion "
         "least",
         _is_served_beside, _without_beside),
    Rule("queue",
         "a lock with a queue may keep a place for one that is gone; the first judge "
         "excuses every refusal with it, the second one only if another ever asked",
         _is_queue, _without_queue),
    Rule("in-flight",
         "a request without an answer may have happened at any time after it was made; the "
         "first judge counts how many refusals need one, the second one tries every order",
         _is_in_flight, _without_requests),
    Rule("last-call",
         "an owner that gives back again what it gave back did not work until then; the "
         "first judge takes it to work until its last call",
         _is_last_call, _without_last),
    Rule("heard-late",
         "what had ended when its taking was answered was held at some time between; the "
         "first judge excuses each other call by itself, the second one tries every time",
         _is_heard_late, _without_late),
    Rule("uncounted",
         "a call of a semaphore or latch without an answer happened once or not at all; the "
         "first judge lets it explain each of the others by itself",
         _is_mild_count, _without_open),
    Rule("makings",
         "what a call found shows whether a making that was under way, or was not answered, "
         "had happened; the first judge takes no call for a proof of that",
         _is_mild_count, _with_short_makings),
    Rule("bounds",
         "one order of the calls of a semaphore has to explain all refusals; the first judge "
         "has the least and the most that may be left at each moment, and excuses each "
         "refusal by itself",
         _is_mild_count, _without_other_refusals),
    Rule("tie",
         "an answer and a call of the same instant leave it open which was first; the "
         "judges say unknown of different ties, and agree if one comes a moment before the "
         "other",
         _is_tie, untie.orders),
)


def explain(judges, history, name, first, second):
    """The name of the rule that explains the difference, or None."""
    for rule in ALL:
        if rule.is_about(history, name, first, second):
            others = rule.without(history)
            if others and all(judges.is_agreed(other, name) for other in others):
                return rule.name
    return None
