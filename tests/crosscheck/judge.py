# SPDX-License-Identifier: MIT
"""judge.py -- the second judge: the verdict on a history, property by property."""
import pages
import primitives
from history import NEVER
from lock import Lock
from search import BUDGET, Search, Undecided

VALID, UNKNOWN, INVALID, UNDECIDED = "valid", "unknown", "invalid", "undecided"
NAMES = pages.NAMES + tuple(primitives.PAGES)
GRANTS = ("acquire", "sem-take", "permit-take", "latch-wait", "sem-drain")
_WORSE = (VALID, UNKNOWN, INVALID)


def worst(verdicts):
    return max(verdicts, key=_WORSE.index, default=VALID)


def count_breaks(history, budget):
    """(breaks of each rule in any order of ties, in the strict one, is a lock passed over)

    A lock one of whose owners made two calls at once is not judged: nobody can say which
    of them came first."""
    surely, perhaps, is_passed = [0] * len(pages.ALL), [0] * len(pages.ALL), False
    for name in history.names():
        lock = Lock(history, name)
        if primitives.page_of(lock.calls):
            continue
        if lock.overlapping():
            is_passed = True
            continue
        costs = Search(lock, budget).run()
        surely = [a + b for a, b in zip(surely, costs)]
        if lock.has_ties():
            costs = Search(lock, budget, is_strict=True).run()
        perhaps = [a + b for a, b in zip(perhaps, costs)]
    return surely, perhaps, is_passed


def judge(history, budget=BUDGET, ignored=None):
    """{property: verdict}, with "overall" and "otherwise"; all are undecided beyond the
    budget.  Nothing is found against the property `ignored`."""
    has_holes = history.is_damaged or any(p.dropped is not None
                                          for p in history.processes.values())
    try:
        surely, perhaps, is_passed = count_breaks(history, budget)
        verdicts = judge_primitives(history, budget, has_holes)
    except Undecided:
        return dict.fromkeys(NAMES + ("overall", "otherwise"), UNDECIDED)
    for i, (page, name) in enumerate(zip(pages.ALL, pages.NAMES)):
        verdicts[name] = VALID
        if surely[i]:
            verdicts[name] = UNKNOWN if has_holes and page.IS_WHOLE else INVALID
        elif perhaps[i]:
            verdicts[name] = UNKNOWN
    if ignored is not None:
        verdicts[ignored] = VALID
    verdicts["otherwise"] = UNKNOWN if has_holes or is_passed or \
        not is_anybody_granted(history) else VALID
    verdicts["overall"] = overall(verdicts)
    return verdicts


def overall(verdicts, more=()):
    """The verdict of all properties; `more`: verdicts on others.  "otherwise" is what it is
    if nothing is found."""
    return worst([verdicts[name] for name in NAMES + ("otherwise",)] + list(more))


def judge_primitives(history, budget, has_holes):
    verdicts, end = dict.fromkeys(primitives.PAGES, VALID), history.end
    for name in history.names():
        calls = [whole(c, end) for c in history.calls if c.name == name and c.invoke < end]
        found = primitives.page_of(calls)
        if found:
            verdict = primitives.verdict(found[1], calls, budget)
            if verdict == INVALID and has_holes:
                verdict = UNKNOWN
            verdicts[found[0]] = worst([verdicts[found[0]], verdict])
    return verdicts


def whole(call, end):
    """The call as far as the records are whole."""
    if call.answer < end or call.status is None:
        return call
    call = call.copy()
    call.status, call.answer, call.until = None, NEVER, None
    return call


def is_anybody_granted(history):
    return any(c.kind in GRANTS and c.status == "ok" and c.answer < history.end
               for c in history.calls)
