# SPDX-License-Identifier: MIT
"""compare.py -- asks both judges about one history, and lists the properties about which they disagree."""
import differences
import judge
from judge import UNDECIDED, VALID

# Properties that only the first judge looks at.
FIRST_ONLY = ("wakes", "liveness", "resource", "orders")


class Judges:
    """`ignored`: a property that the second judge does not judge."""

    def __init__(self, first, ignored=None, budget=judge.BUDGET):
        self.first, self.ignored, self.budget = first, ignored, budget

    def second(self, history):
        return judge.judge(history, self.budget, self.ignored)

    def compare(self, history):
        """(disagreements, names of the rules that explain others, the second verdicts)

        A disagreement is a property and the verdict of each judge."""
        second = self.second(history)
        if second["overall"] == UNDECIDED:
            return [], [], second
        return self.differ(history, self.first.judge(history), second)

    def differ(self, history, first, second):
        """The same, of two verdicts."""
        more = [first.get(name, VALID) for name in FIRST_ONLY]
        second["overall"] = judge.overall(second, more)
        open_, named, as_first = [], [], dict(second)
        for name in judge.NAMES:
            other = first.get(name, VALID)
            if other == second[name]:
                continue
            rule = differences.explain(self, history, name, first, second)
            if rule is None:
                open_.append((name, other, second[name]))
            else:
                named.append(rule)
                as_first[name] = other
        if judge.overall(as_first, more) != first["overall"]:
            open_.append(("overall", first["overall"], second["overall"]))
        return open_, named, second

    def is_agreed(self, history, name):
        """Do both say the same of that property of another history?"""
        second = self.second(history)
        return second[name] == UNDECIDED or \
            self.first.judge(history).get(name, VALID) == second[name]
