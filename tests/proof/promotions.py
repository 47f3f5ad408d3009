#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""promotions.py [--times=10] [--lock=none] [--only=sync|async] [--markdown=FILE] -- promotions of a PostgreSQL standby under order load.

Each try has a laboratory and a standby of its own.  `seckill load` sells at a fixed rate through a URL with both hosts.
In the middle the primary dies as in a loss of power and the standby is promoted.  With asynchronous replication the
standby has not had the last half second of the primary's log, as on a slow network.  The table says for each try how
long after the promotion the first order came, how many answers clients got of each kind, what the audit says, and
how many acknowledged orders `seckill audit --lost` names.

Exit status: 0 if no acknowledged order was lost with synchronous replication, the lost ones of asynchronous
replication are those that the database and the ledger show to be gone, orders resumed within the limit, and no
answer was a 500; else 1.
"""
import argparse
import glob
import json
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../topology"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
# pylint: disable=wrong-import-position
from results_page import Page  # noqa: E402
from postgres_servers import SECKILL, Laboratory, soon  # noqa: E402

RATE, LOAD_S, ORDERS_BEFORE, LAG_S, RESUME_S = 300, 15, 600, 0.5, 3.0


class Sale:
    """`seckill load` in the laboratory, through a URL of the database."""

    def __init__(self, lab, url, lock, rate=RATE, duration_s=LOAD_S, *flags):
        self.lab, self.out = lab, f"{lab.folder}/runs"
        self.said = open(f"{lab.folder}/load.log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [SECKILL, "load", f"--dir={lab.dir}", f"--out={self.out}", f"--rate={rate}", f"--duration={duration_s}s", "--processes=2",
             "--stock=1000000", "--quiet", "--", f"--lock={lock}", f"--database-url={url}", "--statement-timeout=2s",
             "--settle-timeout=2s", "--worker-wait=4s", *flags], stdout=self.said, stderr=subprocess.STDOUT)

    def orders(self, port=None):
        return int(self.lab.sql("SELECT count(*) FROM tb_voucher_order", port) or 0)

    def has_ended(self):
        return self.process.poll() is not None

    def text(self):
        self.said.seek(0)
        return self.said.read()

    def end(self):
        """The output of the load, and the directory of its run."""
        self.process.wait()
        text = self.text()
        runs = [path for path in glob.glob(f"{self.out}/*/") if os.path.exists(f"{path}/run.json")]
        return text, os.path.realpath(runs[0]) if runs else None

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()


def acknowledged(run):
    """The requests in the ledgers whose answer was an order, as user and request."""
    found = set()
    for path in glob.glob(f"{run}/ledger-*.tsv"):
        with open(path, encoding="utf-8") as file:
            for line in file:
                what, request, _, user, *_ = line.rstrip("\n").split("\t")
                if what == "accepted":
                    found.add((user, request))
    return found


def outcomes(run):
    """How many requests got each outcome."""
    with open(f"{run}/load.json", encoding="utf-8") as file:
        return json.load(file)["outcomes"]


def audit(lab, run):
    """The verdict's first word, and the lost orders that are named."""
    verdict = subprocess.run([SECKILL, "audit", f"--dir={lab.dir}", "--from=files", run], capture_output=True, text=True, check=False).stdout
    lines = subprocess.run([SECKILL, "audit", f"--dir={lab.dir}", "--from=files", "--lost", run], capture_output=True, text=True,
                           check=False).stdout.splitlines()
    said = re.search(r"(\d+) acknowledged orders are lost", verdict)
    return verdict.split(":")[0], {(line.split("\t")[2], line.split("\t")[0]) for line in lines}, int(said.group(1)) if said else 0


def promote(is_sync, lock):
    lab, sale = Laboratory(), None
    try:
        lab.add_standby()
        if is_sync:
            lab.make_synchronous()
        sale = Sale(lab, lab.url(), lock)
        soon(lambda: f"orders: {sale.text()}", lambda: sale.orders() > ORDERS_BEFORE or sale.has_ended())
        assert not sale.has_ended(), sale.text()
        if not is_sync:
            lab.hold_replication()
            time.sleep(LAG_S)
        lab.kill()
        lab.promote()
        promoted = time.monotonic()
        before = sale.orders(lab.standby_port)
        soon("an order at the new primary", lambda: sale.orders(lab.standby_port) > before)
        resumed_s = time.monotonic() - promoted
        lab.lead_to_standby()
        text, run = sale.end()
        assert run, text
        verdict, lost, counted = audit(lab, run)
        rows = {tuple(line.split("|")) for line in
                lab.sql("SELECT user_id, request_id FROM tb_voucher_order", lab.standby_port).splitlines()}
        assert lost == acknowledged(run) - rows, "the audit names other orders than those that are gone"
        assert counted == len(lost), (counted, len(lost))
        return resumed_s, outcomes(run), len(lost), verdict, text
    finally:
        if sale:
            sale.stop()
        lab.end()


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the servers end, too
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--lock", default="none")
    parser.add_argument("--only", choices=("sync", "async"))
    parser.add_argument("--markdown", metavar="FILE", help="write what is printed as a page, too")
    options = parser.parse_args()
    page = Page(options.markdown, "Promotions of a standby under orders", __doc__,
                ["python3", "tests/proof/promotions.py", *sys.argv[1:]])
    kept = tries = 0
    page.say("| replication | try | orders again | accepted | 503 | lost, each named | audit |\n|---|---|---|---|---|---|---|")
    for kind in ("sync", "async"):
        for number in range(options.times if options.only in (None, kind) else 0):
            resumed_s, got, lost, verdict, text = promote(kind == "sync", options.lock)
            is_kept = resumed_s <= RESUME_S and "internal" not in got and \
                (lost == 0 if kind == "sync" else lost > 0 and verdict == "INVALID")
            kept, tries = kept + is_kept, tries + 1
            page.say(f"| {kind} | {number + 1} | {resumed_s:.2f} s later | {got.get('accepted', 0)} | "
                     f"{sum(count for outcome, count in got.items() if outcome != 'accepted')} | {lost} | {verdict} |")
            if not is_kept:
                print(text, file=sys.stderr)
    page.say(f"\n{kept} of {tries} kept the limits.")
    page.write()
    return 0 if kept == tries else 1


if __name__ == "__main__":
    sys.exit(main())
