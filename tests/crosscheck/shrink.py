# SPDX-License-Identifier: MIT
"""shrink.py -- searches for the smallest history that still meets a condition."""
import mutations

TRIES = 3000


def _leave_out(history):
    """Every part that can be left out, larger parts first."""
    for size in (16, 8, 4, 2, 1):
        for start in range(0, len(history.calls), size):
            smaller = history.copy()
            del smaller.calls[start:start + size]
            yield smaller
    for start in range(len(history.marks)):
        smaller = history.copy()
        del smaller.marks[start]
        yield smaller
    used = {c.process for c in history.calls} | {m.process for m in history.marks}
    for number in history.processes:
        if number not in used:
            smaller = history.copy()
            del smaller.processes[number]
            yield smaller


_PLAIN = {"wait": 0, "sent": 0, "fence": 0, "mode": ""}


def _simplify(history):
    """Every simplification of the history."""
    for i, call in enumerate(history.calls):
        for field, plain in _PLAIN.items():
            if getattr(call, field) != plain:
                simpler = history.copy()
                setattr(simpler.calls[i], field, plain)
                yield simpler
    for number, process in history.processes.items():
        for field, plain in (("watchdog", False), ("killed", None), ("dropped", None)):
            if getattr(process, field) != plain:
                simpler = history.copy()
                setattr(simpler.processes[number], field, plain)
                yield simpler
    owners = sorted({(c.process, c.owner) for c in history.calls})
    if len(owners) > 0 and owners[-1][0] != owners[0][0]:
        simpler = history.copy()
        for item in simpler.calls + simpler.marks:
            item.process = owners[0][0]
        yield simpler


def shrink(history, is_still_so):
    """Leave out and simplify as long as `is_still_so` and it is well formed."""
    left = TRIES
    is_smaller = True
    while is_smaller and left > 0:
        is_smaller = False
        for way in (_leave_out, _simplify):
            found = True
            while found and left > 0:
                found = False
                for smaller in way(history):
                    left -= 1
                    if smaller.calls and mutations.is_well_formed(smaller) \
                            and is_still_so(smaller):
                        history, found, is_smaller = smaller, True, True
                        break
    return history
