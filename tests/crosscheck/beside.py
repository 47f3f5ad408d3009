# SPDX-License-Identifier: MIT
"""beside.py -- compares Porcupine with both judges, for the histories that Porcupine can judge.
"""
import collections
import os

import porcupine
from judge import INVALID, UNDECIDED, UNKNOWN

CHUNK = 200


def finding(verdicts):
    """Does the judge find one of the rules broken that Porcupine's model has?"""
    found = {verdicts.get(name) for name in porcupine.RULES}
    if INVALID in found:
        return "Illegal"
    return "Unknown" if found & {UNKNOWN, UNDECIDED} else "Ok"


def look(judges, history):
    """The findings of the first and the second judge; None: not in Porcupine's scope."""
    if not history.calls or not porcupine.is_in_scope(history):
        return None
    return finding(judges.first.judge(history)), finding(judges.second(history))


def compare(chosen, make, looked):
    """Compare over the first histories in scope of `looked`: pairs of an index and what
    look() returns.  True: no judge disagrees with Porcupine."""
    program = porcupine.build(os.path.join(chosen.out, "go"))
    counts, waiting = collections.Counter(), []
    for index, found in looked:
        if found is not None:
            waiting.append((index, found))
        if len(waiting) == CHUNK:
            _ask(chosen, make, program, waiting, counts)
            waiting = []
        if counts["asked"] >= chosen.porcupine:
            break
    _ask(chosen, make, program, waiting, counts)
    print(f"Porcupine was asked about {counts['asked']}: {counts['Ok']} legal, "
          f"{counts['Illegal']} not, {counts['Unknown']} undecided; "
          f"{counts['first judge']} times the first judge says otherwise, "
          f"{counts['second judge']} times the second")
    return not counts["first judge"] and not counts["second judge"]


def _ask(chosen, make, program, waiting, counts):
    waiting = waiting[:max(0, chosen.porcupine - counts["asked"])]
    histories = [make(chosen.seed, index) for index, _ in waiting]
    for (index, found), history, verdict in zip(
            waiting, histories, porcupine.ask(program, histories) if histories else ()):
        counts["asked"] += 1
        counts[verdict] += 1
        for who, says in zip(("first judge", "second judge"), found):
            if {verdict, says} == {"Ok", "Illegal"}:
                counts[who] += 1
                print(f"--- history {index}: Porcupine says {verdict}, the {who} {says}\n"
                      f"# made as: {history.kind}\n{history.text()}", flush=True)
