#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare `seckill check` with a second judge that was written independently.

The program makes histories from a seed, most of them with changes that may make them illegal, asks both judges about
each, and compares their verdicts, for each property and in total.  A disagreement is shrunk to the smallest history,
printed, and written to --out.

differences.py lists the intentional differences of the judges; the program counts and prints them.
"""
import argparse
import collections
import multiprocessing
import os
import random
import sys
import time

sys.dont_write_bytecode = True  # the tree stays as it is

import compare
import counters
import differences
import generator
import judge
import mutations
import shrink
from first import Broken, First

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UNDECIDED_MAX = 0.01
CODES = """exit status:
  0   the judges agree, but for the named rules
  1   they disagree, or one of them gave no verdict
  3   more than 1 % of the histories were undecided
  64  the command line is wrong
  69  seckill is missing
"""


def options(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--histories", type=int, default=10000, metavar="N", help="how many; 10000")
    add("--seed", default="1", help="which; the same seed gives the same histories")
    add("--seckill", default=os.path.join(ROOT, "build", "seckill"), metavar="PROGRAM",
        help="the first judge")
    add("--out", default=os.path.join(ROOT, "build", "crosscheck"), metavar="DIR",
        help="where smallest histories are written")
    add("--workers", type=int, default=os.cpu_count(), metavar="N",
        help="processes at once; as many as there are processors")
    add("--show", type=int, default=10, metavar="N",
        help="how many disagreements are shrunk; 10, the others are counted")
    add("--ignore", choices=judge.NAMES, metavar="PROPERTY",
        help="the second judge finds nothing against it: to see that a wrong verdict "
             "is noticed; one of " + " ".join(judge.NAMES))
    add("--print", type=int, metavar="I", help="print history I of the seed, and end")
    parser.error = lambda text: (parser.print_usage(sys.stderr), print(
        f"crosscheck: {text}", file=sys.stderr), sys.exit(64))
    return parser.parse_args(arguments)


def make(seed, index):
    """A history of the seed: three of ten are as a right lock made them."""
    r = random.Random(f"mutate:{seed}:{index}")
    maker = counters if r.random() < 0.15 else generator
    history = maker.make(f"{seed}:{index}")
    if history.calls and r.random() < 0.7:
        history = mutations.mutate(r, history)
    return history


_judges = None


def begin_worker(seckill, ignored):
    global _judges
    _judges = compare.Judges(First(seckill), ignored)
    multiprocessing.util.Finalize(_judges, _judges.first.close, exitpriority=1)


def look(task):
    """A history: its index, its disagreements, the named rules, the second verdict."""
    seed, index = task
    history = make(seed, index)
    try:
        return (index, *_judges.compare(history))
    except Broken as error:
        return index, [("verdict", str(error), "-")], [], {"overall": "-"}


class Progress:
    """The progress: one line on a terminal, a line for each tenth elsewhere."""

    def __init__(self, count):
        self.count, self.tenth, self.is_terminal = count, 0, sys.stderr.isatty()

    def tell(self, done, found):
        text = f"crosscheck: {done} of {self.count}, {found} disagreements"
        if self.is_terminal:
            print(f"\r\033[K{text}", end="\n" if done == self.count else "",
                  file=sys.stderr, flush=True)
        elif done * 10 // self.count > self.tenth:
            self.tenth = done * 10 // self.count
            print(text, file=sys.stderr, flush=True)


def still(judges, wanted):
    """Do the judges disagree in the same way?"""
    def is_so(history):
        try:
            return wanted in judges.compare(history)[0]
        except Broken:
            return wanted[0] == "verdict"
    return is_so


def explain(chosen, judges, index, disagreements):
    """Shrink a disagreement, print it and write it to a file."""
    main = next((d for d in disagreements if d[0] != "overall"), disagreements[0])
    smallest = shrink.shrink(make(chosen.seed, index), still(judges, main))
    lines = [f"# {name}: the first judge says {first}, the second {second}"
             for name, first, second in disagreements]
    os.makedirs(chosen.out, exist_ok=True)
    path = os.path.join(chosen.out, f"seed-{chosen.seed}-{index}.txt")
    text = "\n".join(lines) + f"\n# made as: {smallest.kind}\n" + smallest.text()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    print(f"--- {path}\n{text}", flush=True)


def report(counts, named, chosen, seconds):
    print(f"{chosen.histories} histories of seed {chosen.seed} in {seconds:.0f} s: "
          f"{counts['agree']} agree, {counts['disagree']} disagree, "
          f"{counts['undecided']} undecided, {sum(named.values())} times a named rule")
    print("of the second judge: " + ", ".join(
        f"{counts[key]} {key}" for key in (judge.VALID, judge.UNKNOWN, judge.INVALID)))
    print("found against: " + ", ".join(
        f"{name} {counts['against ' + name]}" for name in judge.NAMES))
    for rule in differences.ALL:
        print(f"named rule {rule.name}: {named[rule.name]}; {rule.says}")


def count(counts, disagreements, second):
    if second["overall"] == judge.UNDECIDED:
        counts["undecided"] += 1
        return
    counts["disagree" if disagreements else "agree"] += 1
    counts[second["overall"]] += 1
    for name in judge.NAMES:
        counts["against " + name] += second.get(name) == judge.INVALID


def run(chosen):
    counts, named, found = collections.Counter(), collections.Counter(), []
    begun, progress = time.monotonic(), Progress(chosen.histories)
    tasks = ((chosen.seed, i) for i in range(chosen.histories))
    with multiprocessing.Pool(chosen.workers, begin_worker,
                              (chosen.seckill, chosen.ignore)) as pool:
        for done, (index, disagreements, rules, second) in enumerate(
                pool.imap_unordered(look, tasks, chunksize=8), 1):
            count(counts, disagreements, second)
            named.update(rules)
            if disagreements:
                found.append((index, disagreements))
            progress.tell(done, len(found))
        pool.close()
        pool.join()
    judges = compare.Judges(First(chosen.seckill), chosen.ignore)
    for index, disagreements in sorted(found)[:chosen.show]:
        explain(chosen, judges, index, disagreements)
    judges.first.close()
    report(counts, named, chosen, time.monotonic() - begun)
    if found:
        return 1
    return 3 if counts["undecided"] > UNDECIDED_MAX * chosen.histories else 0


def main():
    chosen = options(sys.argv[1:])
    if chosen.print is not None:
        print(make(chosen.seed, chosen.print).text(), end="")
        return 0
    if not os.access(chosen.seckill, os.X_OK):
        print(f"crosscheck: there is no {chosen.seckill}; build it with: make",
              file=sys.stderr)
        return 69
    if chosen.histories < 1 or chosen.workers < 1:
        print("crosscheck: --histories and --workers are at least 1", file=sys.stderr)
        return 64
    return run(chosen)


if __name__ == "__main__":
    sys.exit(main())
