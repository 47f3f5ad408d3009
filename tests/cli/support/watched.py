# SPDX-License-Identifier: MIT
"""watched.py -- what the programs share that watch a command of the laboratory on a terminal.

Such a program is called with SECKILL LAB DIRECTORY RESULTS.  Each line of RESULTS is "ok" or "no",
a blank, and what was expected.
"""
import sys

SECKILL, LAB, WORK, RESULTS = sys.argv[1:]
PLACE = ["--dir=" + LAB, "--out=" + WORK + "/runs"]
results = open(RESULTS, "w", encoding="utf-8")


def expect(what, is_true, terminal=None):
    print("ok" if is_true else "no", what, file=results, flush=True)
    if not is_true:
        print("# " + what)
        if terminal:
            print(terminal.screen.all())
