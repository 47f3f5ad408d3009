#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""addresses.py [--rounds=41] [--milliseconds=250] [--threads=1,8,64] [--lock=reentrant] [--target=0.97]
             [--markdown=FILE]

How fast are locks through an address of Sentinels, beside the fixed address of the same master?

The program starts a master, two replicas and three Sentinels.  build/tests/topology/address_pairs then takes and gives back
locks through both addresses in turn: in each round each address for that many milliseconds, by that many threads,
which have names of their own.  The ratio of a round is that of the two rates in it.  The table has the median of the
rounds, and the interval in which the true median lies with at least 95 %: on a loaded machine it is wide.

Exit status: 0 each median is at least the target, 1 a call failed, 3 a median is below it, or was not told apart
from it.
"""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from failovers import Company, Page  # pylint: disable=wrong-import-position

PAIRS = "build/tests/topology/address_pairs"
LINE = re.compile(r"address (\d): (\d+) pairs/s, ratio ([\d.]+)(?:, between ([\d.]+) and ([\d.]+))?")


def measure(options, thread_count, names, addresses):
    """The rates through both addresses, the ratio, and its interval; NaN: there were too few rounds for one."""
    done = subprocess.run([PAIRS, options.lock, str(thread_count), str(options.rounds), str(options.milliseconds), names,
                           *addresses], capture_output=True, text=True, check=False)
    found = LINE.findall(done.stdout)
    if done.returncode != 0 or len(found) != 2:
        sys.exit(f"addresses: {done.stderr.strip() or done.stdout.strip()}")
    (_, fixed_rate, _, _, _), (_, rate, ratio, low, high) = found
    return int(fixed_rate), int(rate), float(ratio), float(low or "nan"), float(high or "nan")


def judge(ratio, high, target):
    """Is the target met?  A median below the target proves nothing while the interval includes the target."""
    if ratio >= target:
        return "yes"
    return "no" if high < target else "not told: the target is in the interval"


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the servers end, too
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=2)[1])
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--milliseconds", type=int, default=250)
    parser.add_argument("--threads", default="1,8,64")
    parser.add_argument("--lock", default="reentrant")
    parser.add_argument("--target", type=float, default=0.97)
    parser.add_argument("--markdown", metavar="FILE", help="write what is printed as a page, too")
    options = parser.parse_args()
    page = Page(options.markdown, "Locks through Sentinels beside a fixed address", __doc__,
                ["python3", "tests/proof/addresses.py", *sys.argv[1:]])
    folder = tempfile.mkdtemp(prefix="seckill-addresses-")
    company, missed = None, 0
    try:
        company = Company(folder)
        company.form()
        addresses = (f"redis://127.0.0.1:{company.ports[0]}", company.address())
        page.say(f"| {options.lock}, threads | fixed address, pairs/s | through Sentinels, pairs/s | ratio, median of "
                 f"{options.rounds} | 95 % interval | at least {options.target} |\n|---|---|---|---|---|---|")
        for thread_count in map(int, options.threads.split(",")):
            fixed_rate, rate, ratio, low, high = measure(options, thread_count, "own", addresses)
            missed += ratio < options.target
            page.say(f"| {thread_count} | {fixed_rate} | {rate} | {ratio:.3f} | {low} to {high} | "
                     f"{judge(ratio, high, options.target)} |")
    finally:
        if company:
            company.end()
        shutil.rmtree(folder, ignore_errors=True)
    page.write()
    return 3 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
