# SPDX-License-Identifier: MIT
"""compare.py -- both judges on one history, and what they disagree about."""
import differences
import judge
from judge import UNDECIDED, VALID, worst

# What the first judge alone looks at.
FIRST_ONLY = ("wakes", "liveness", "resource", "orders")


class Judges:
    """`ignored`: a property of which the second judge is told to know nothing."""

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
        second["overall"] = worst([second["overall"]] + [first.get(name, VALID)
                                                         for name in FIRST_ONLY])
        open_, named = [], []
        for name, verdict in list(second.items()):
            other = first.get(name, VALID)
            if other == verdict:
                continue
            rule = differences.explain(history, name, first, second)
            if rule is None:
                open_.append((name, other, verdict))
            else:
                named.append(rule)
        if named and all(name == "overall" for name, _, _ in open_):
            open_ = []  # it follows from what was named
        return open_, named, second
