# SPDX-License-Identifier: MIT
"""untie.py -- separates the events of one instant in a history by a moment."""
import mutations
from history import NEVER

ROUNDS = 30


def orders(history):
    """The history with the answers before the calls of their instants, and the other way
    round: as far as that leaves it well formed."""
    found = [_untie(history, by) for by in (-1, 1)]
    return [h for h in found if h.text() != history.text()]


def _untie(history, by):
    """-1: what was answered at an instant comes before what was called then."""
    for _ in range(ROUNDS):
        changed = _round(history, by)
        if changed is None:
            break
        history = changed
    return history


def _round(history, by):
    """The history with one tie less, or None: no tie can be parted."""
    for i, call in enumerate(history.calls):
        for j, other in enumerate(history.calls):
            if i != j and call.answer == other.invoke and call.name == other.name \
                    and (call.who != other.who or "renew" in (call.kind, other.kind)):
                for change in (_answer(i, by), _call(j, -by)):
                    changed = _changed(history, change)
                    if changed:
                        return changed
    for k, mark in enumerate(history.marks):
        if any(mark.at in (c.invoke, c.answer) for c in history.calls):
            changed = _changed(history, _mark(k, by))
            if changed:
                return changed
    return None


def _answer(i, by):
    def change(history):
        history.calls[i].answer += by
    return change


def _call(j, by):
    def change(history):
        history.calls[j].invoke += by
    return change


def _mark(k, by):
    def change(history):
        history.marks[k].at = max(0, history.marks[k].at + by)
    return change


def _changed(history, change):
    changed = history.copy()
    change(changed)
    if any(c.status is not None and c.answer >= NEVER for c in changed.calls):
        return None
    return changed if mutations.is_well_formed(changed) else None
