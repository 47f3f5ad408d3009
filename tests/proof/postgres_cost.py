#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""postgres_cost.py [--rounds=5] [--seconds=4] [--markdown=FILE] -- what a standby and a pooler cost in orders per second.

One laboratory with one standby.  Each round sells under each arrangement, one after another, with `seckill load` and
wrk, so that all arrangements share what else the machine does.  The table has the median of the rounds, and the median of the
ratios to the single server in the same round.  The standby is on the same disk and processors as the primary, so it
takes from the primary what a standby on another machine would not, and has no network to cross.

Exit status: 0 if every run was valid, else 1, and no page is written.
"""
import argparse
import os
import signal
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../topology"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
# pylint: disable=wrong-import-position
from results_page import Page  # noqa: E402
from postgres_servers import SECKILL, Laboratory, Pgbouncer, soon, subprocess  # noqa: E402

ARRANGEMENTS = (
    ("single", "one server", "all orders, with the disk"),
    ("async", "a standby, asynchronous", "acknowledged orders, in a promotion"),
    ("sync", "a standby, `synchronous_standby_names = 's1'`", "nothing that was acknowledged"),
    ("session", "one server behind PgBouncer, `pool_mode = session`", ""),
    ("transaction", "one server behind PgBouncer, `pool_mode = transaction`", ""),
)


class Bench:
    def __init__(self, seconds, path):
        self.lab, self.seconds, self.path = Laboratory(), seconds, path
        self.lab.add_standby()
        self.poolers = {mode: Pgbouncer(self.lab, mode) for mode in ("session", "transaction")}

    def arrange(self, name):
        """The flags of seckilld."""
        wants_standby = name in ("async", "sync")
        if not wants_standby:
            self.lab.set("synchronous_standby_names", "")
        if wants_standby and not self.lab.standby:
            self.lab.start_standby()
        if not wants_standby and self.lab.standby:
            self.lab.stop_standby()
        if wants_standby:
            soon("a standby that streams", self.lab.is_streaming)
            self.lab.set("synchronous_standby_names", "s1" if name == "sync" else "")
            soon("its state", lambda: self.lab.sql("SELECT sync_state FROM pg_stat_replication") == name)
        if name in self.poolers:
            return [f"--database-url={self.lab.url([self.poolers[name].port])}", f"--database-pooler={name}"]
        return [f"--database-url={self.lab.url([self.lab.port])}"]

    def sell(self, name):
        """Orders per second, and whether the run was valid."""
        flags = self.arrange(name)
        before = int(self.lab.sql("SELECT count(*) FROM tb_voucher_order"))
        done = subprocess.run([SECKILL, "load", f"--dir={self.lab.dir}", f"--out={self.lab.folder}/runs", "--stock=10000000",
                               f"--duration={self.seconds}s", "--quiet", "--", "--lock=none", f"--order-path={self.path}", *flags],
                              capture_output=True, text=True, check=False)
        sold = int(self.lab.sql("SELECT count(*) FROM tb_voucher_order")) - before
        if done.returncode != 0:
            print(done.stdout, done.stderr, file=sys.stderr)
        return sold / self.seconds, done.returncode == 0

    def end(self):
        for pooler in self.poolers.values():
            pooler.end()
        self.lab.end()


def measure(path, rounds, seconds):
    """The rates of each arrangement, by round, and whether all runs were valid."""
    bench, rates, is_valid = Bench(seconds, path), {name: [] for name, *_ in ARRANGEMENTS}, True
    try:
        for number in range(rounds):
            order = ARRANGEMENTS if number % 2 == 0 else ARRANGEMENTS[::-1]
            for name, *_ in order:
                rate, ok = bench.sell(name)
                rates[name].append(rate)
                is_valid = is_valid and ok
    finally:
        bench.end()
    return rates, is_valid


def version():
    return subprocess.run(["psql", "--version"], capture_output=True, text=True, check=True).stdout.strip()


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the servers end, too
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--markdown")
    options = parser.parse_args()
    page = Page(options.markdown, "What a standby and a pooler cost", __doc__,
                ["python3", "tests/proof/postgres_cost.py", *sys.argv[1:]], server=version())
    is_valid = True
    for path in ("combined", "each"):
        rates, ok = measure(path, options.rounds, options.seconds)
        is_valid = is_valid and ok
        page.say(f"## `--order-path={path}`\n\n| PostgreSQL | orders/s | to the single server | what a loss of the server loses |\n|---|---|---|---|")
        for name, text, lost in ARRANGEMENTS:
            ratio = statistics.median(rate / single for rate, single in zip(rates[name], rates["single"]))
            page.say(f"| {text} | {statistics.median(rates[name]):.0f} | {ratio:.2f} | {lost} |")
        page.say()
    if not is_valid:
        print("postgres_cost.py: a run was invalid, so the page is not written; the run is above", file=sys.stderr)
        return 1
    page.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
