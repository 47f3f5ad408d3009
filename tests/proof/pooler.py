#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""pooler.py [--seconds=60] [--lock=pg-unique] -- order load through PgBouncer while it and its PostgreSQL are restarted.

For each mode of PgBouncer, `seckill load` sells at a fixed rate through it.  After a third of the time PgBouncer is
killed and started again, after two thirds PostgreSQL is killed as in a loss of power and started again.  The table
says which outcomes clients got, and what the audit says.

Exit status: 0 if the audit is exact and no answer was a 500 in both modes, else 1.
"""
import argparse
import os
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from promotions import RATE, Sale, audit, outcomes, soon  # noqa: E402
from postgres_servers import Laboratory, Pgbouncer  # noqa: E402

DOWN_S = 1.0


def sell(mode, lock, seconds):
    """The outcomes, the verdict, and the output of the load."""
    lab, sale, pooler = Laboratory(), None, None
    try:
        pooler = Pgbouncer(lab, mode)
        sale = Sale(lab, lab.url([pooler.port]), lock, RATE, seconds, f"--database-pooler={mode}", "--workers=24")
        soon(lambda: f"orders: {sale.text()}", lambda: sale.orders() > 0 or sale.has_ended())
        begin = time.monotonic()
        for third, end, start in ((1, pooler.kill, pooler.start), (2, lab.kill, lab.restart)):
            time.sleep(max(0, begin + third * seconds / 3 - time.monotonic()))
            end()
            time.sleep(DOWN_S)
            start()
            before = soon("the database", sale.orders)
            soon(lambda: f"orders again: {sale.text()}", lambda before=before: sale.orders() > before)
        text, run = sale.end()
        assert run, text
        return outcomes(run), audit(lab, run)[0], text
    finally:
        if sale:
            sale.stop()
        if pooler:
            pooler.end()
        lab.end()


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the servers end, too
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--lock", default="pg-unique")
    options = parser.parse_args()
    kept = 0
    print("| pool_mode | outcomes | audit |\n|---|---|---|", flush=True)
    for mode in ("session", "transaction"):
        got, verdict, text = sell(mode, options.lock, options.seconds)
        is_kept = verdict == "VALID" and set(got) <= {"accepted", "unavailable", "database-busy", "lock-busy", "unknown"}
        kept += is_kept
        print(f"| {mode} | {', '.join(f'{outcome} {count}' for outcome, count in sorted(got.items()))} | {verdict} |", flush=True)
        if not is_kept:
            print(text, file=sys.stderr)
    print(f"{kept} of 2 modes kept the limits")
    return 0 if kept == 2 else 1


if __name__ == "__main__":
    sys.exit(main())
