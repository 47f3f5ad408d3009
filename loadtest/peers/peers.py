#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""This library beside others, on the same servers, in one run.

Each peer is a program of its own in the pinned version, which is fetched once and
needs no network afterwards.  Slices of all programs take turns; a ratio is of two slices of
one round.  The servers are a lab of the run's own, and etcd where Debian's is installed.

parts:
  pairs     acquire and release of a name of one's own, 1, 8 and 64 in flight
  hot       two processes, 64 in flight, one name; ours with hand-over
  nodes     pairs on five nodes (Redlock), 1 and 64 in flight
  ensemble  pairs on ZooKeeper beside Curator's, and etcd's own lock
  hot-ensemble  two processes, 16 in flight, one name there
  service   orders per second beside pgbench and beside an empty HTTP handler
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the tree stays as it is
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))

import contestants
import fetch
import report
import results_page
import servers
import slices

EXITS = """exit status:
  0    every limit was reached, or none was measured
  1    a program failed, or the servers counted something else than it told
  3    a limit was missed
  64   the command line is wrong, or the file of --report is no results
  69   nothing could be measured: a program or a server is missing
  73   an output file cannot be written
  130  interrupted
"""
USAGE, CANNOT_WRITE, INTERRUPTED = 64, 73, 130
PAGE = os.path.join(fetch.ROOT, "docs", "results", "bench-peers.md")
SERVICE_CLIENTS = 64
QUICK = {"slices": 3, "slice_ms": 200, "warm_up_share": 0.25, "limit_s": 150}
WHOLE = {"slices": 5, "slice_ms": 1000, "warm_up_share": 1, "limit_s": 900}
SERVICE_ROUND_S = 40  # about so long is a repetition of `seckill bench`
REASON_MAX = 300
SERVICE_SHARE = 0.2  # of the time that the whole may take


def words_of(names):
    def read(text):
        words = text.split(",") if text != "none" else []
        unknown = [word for word in words if word not in names]
        if unknown:
            raise argparse.ArgumentTypeError(
                f"there is no {unknown[0] or 'empty name'}; there are {' '.join(names)}")
        return words
    return read


def count(least, most):
    def read(text):
        value = int(text) if text.isdecimal() else -1
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"a number from {least} to {most}, not {text}")
        return value
    return read


def options(arguments):
    parser = argparse.ArgumentParser(
        prog="peers.py", description=__doc__, epilog=EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--peers", type=words_of(contestants.PEER_NAMES), metavar="LIST",
        help="only these: " + ",".join(contestants.PEER_NAMES) + "; none: only ours")
    add("--parts", type=words_of(contestants.PART_NAMES), metavar="LIST",
        help="only these: " + ",".join(contestants.PART_NAMES))
    add("--quick", action="store_true", help="shorter slices, fewer of them: two minutes instead of twelve")
    add("--slices", type=count(1, 25), metavar="N", help="of each; 5, with --quick 3")
    add("--slice", type=count(50, 60000), metavar="MS", help="of so long; 1000, with --quick 200")
    add("--cache", default=os.environ.get("PEERS_CACHE") or os.path.join(
        fetch.ROOT, "build", "peers"), metavar="DIR",
        help="where the peers are fetched to and built; $PEERS_CACHE, else build/peers")
    add("--fetch", action="store_true", help="fetch and build the peers, and end")
    add("--out", default=os.path.join(fetch.ROOT, "runs"), metavar="DIR",
        help="where the results are kept, as bench-peers.json; runs")
    add("--markdown", metavar="FILE", help="write the result as a Markdown page too")
    add("--write-docs", action="store_true",
        help="write the page docs/results/bench-peers.md too")
    add("--report", metavar="FILE", help="print the tables of results that were kept, and end")
    parser.error = lambda text: (parser.print_usage(sys.stderr), print(
        f"bench-peers: {text}", file=sys.stderr), sys.exit(USAGE))
    return parser.parse_args(arguments)


class Plan:
    """The numbers and durations of the measurements."""

    def __init__(self, chosen):
        basis = QUICK if chosen.quick else WHOLE
        self.slices = chosen.slices or basis["slices"]
        self.slice_ms = chosen.slice or basis["slice_ms"]
        self.warm_up_share = basis["warm_up_share"]
        self.limit_s = basis["limit_s"]
        self.parts = contestants.PART_NAMES if chosen.parts is None else chosen.parts
        self.peers = contestants.PEER_NAMES if chosen.peers is None else chosen.peers

    def begin(self):
        """Start the clock of the whole run, after all peers were fetched."""
        self.began = time.monotonic()

    def until(self, part):
        """The instant at which a part has to end, so that the later parts have their time."""
        shares = [(p.name, p.share) for p in contestants.PARTS if p.name in self.parts]
        shares += [(contestants.SERVICE, SERVICE_SHARE)] * (contestants.SERVICE in self.parts)
        names = [name for name, _ in shares]
        used = sum(share for _, share in shares[:names.index(part) + 1])
        return self.began + self.limit_s * used / sum(share for _, share in shares)

    def service_rounds(self):
        left_s = self.until(contestants.SERVICE) - time.monotonic()
        return min(self.slices, max(1, int(left_s / SERVICE_ROUND_S)))

    def names(self):
        """The peers that have to be fetched."""
        return [contestants.OURS] + [
            name for name in contestants.PEER_NAMES if name in self.peers and any(
                contestant.peer == name for part in contestants.PARTS
                if part.name in self.parts for contestant in part.contestants)]


def fetch_all(cache, names):
    """Fetch the peers: those that are there, by name, and the reasons of those that are not."""
    fetched, missing = {}, []
    for name in names:
        peer = fetch.ALL[name](cache)
        try:
            peer.fetch()
            fetched[name] = peer
        except fetch.Missing as error:
            missing.append({"name": name, "reason": error.reason, "install": error.install})
            print(f"bench-peers: {name} is not measured: {error.reason}; to install: "
                  f"{error.install}", file=sys.stderr, flush=True)
    return fetched, missing


class Progress:
    """Progress: a line that is overwritten on a terminal, else a line for each step."""

    def __init__(self):
        self.is_terminal = sys.stderr.isatty()

    def tell(self, text):
        if self.is_terminal:
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

    def begin(self, text):
        print(f"\r\033[K{text}" if self.is_terminal else text, file=sys.stderr, flush=True)


def page(results, text):
    rows = "\n".join(results_page.head_lines(results["head"])) + "\n"
    load = "| load average | {}, then {} |\n".format(*results["load"])
    return f"# Locks beside other libraries\n\n{rows}{load}\n```text\n{text}```\n"


def load_text():
    return " ".join(f"{value:.2f}" for value in os.getloadavg())


def measure_service(lab, where, plan, progress):
    """`seckill bench` has the measurement; its file has the figures."""
    progress.begin("service: seckill bench")
    out = os.path.join(where, "service")
    seconds = max(1, round(2 * plan.slice_ms / 1000))
    status, said = servers.run_to_end(
        [servers.SECKILL, "bench", f"--clients={SERVICE_CLIENTS}",
         f"--repeats={plan.service_rounds()}", f"--duration={seconds}s", f"--dir={lab.dir}",
         f"--out={out}"])
    if status not in (report.VALID, report.THRESHOLD):
        return [], f"seckill bench ended with {status}: {said.strip()[-REASON_MAX:]}"
    with open(os.path.join(out, "latest", "bench.json"), encoding="utf-8") as file:
        return json.load(file), None


def choose(part, fetched, missing):
    """The contestants that can be measured; what a setting lacks is added to `missing`."""
    chosen = []
    for contestant in part.contestants:
        if contestant.peer not in fetched:
            continue
        lack = fetched[contestant.peer].lacks(contestant.setting)
        if lack is None:
            chosen.append((contestant, fetched[contestant.peer]))
        else:
            missing.append({"name": contestant.name, "reason": lack, "install": fetch.INSTALL})
    return chosen


def measure(plan, fetched, missing, where):
    """The results, without their head."""
    progress = Progress()
    parts = [part for part in contestants.PARTS if part.name in plan.parts]
    plan.begin()
    results = {"slices": plan.slices, "slice_ms": plan.slice_ms, "processors": os.cpu_count(),
               "cells": [], "failures": [], "missing": missing, "service": [],
               "load": [load_text()],
               "versions": {name: peer.version() for name, peer in fetched.items()}}
    lab = servers.Lab(where, any(part.servers == "ensemble" for part in parts))
    try:
        for i, part in enumerate(parts):
            step = f"[{i + 1}/{len(plan.parts)}] {part.title}"
            progress.begin(step)
            chosen = choose(part, fetched, missing)
            of_part = lab.servers(part.servers)
            cells, failures = slices.measure(
                part, of_part, where, chosen, plan, plan.until(part.name),
                lambda n, step=step: progress.begin(f"{step}: {n + 1} of {plan.slices}"),
                progress.tell)
            results["cells"] += cells
            results["failures"] += failures
            results["versions"].update((v.split()[0], v) for v in of_part.versions())
        if contestants.SERVICE in plan.parts:
            results["service"], reason = measure_service(lab, where, plan, progress)
            if reason:
                results["failures"].append({"part": "service", "name": "seckill bench",
                                            "reason": reason})
    finally:
        lab.end()
    results["load"].append(load_text())
    return results


def keep(results, text, chosen):
    """Write the files that the flags name; the exit status if a file cannot be written."""
    pages = [chosen.markdown] + ([PAGE] if chosen.write_docs else [])
    try:
        os.makedirs(chosen.out, exist_ok=True)
        path = os.path.join(chosen.out, "bench-peers.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
        for path in filter(None, pages):
            with open(path, "w", encoding="utf-8") as file:
                file.write(page(results, text))
    except OSError as error:
        print(f"bench-peers: cannot write {path}: {error.strerror}", file=sys.stderr)
        return CANNOT_WRITE
    return None


def print_report(path):
    try:
        with open(path, encoding="utf-8") as file:
            text, status = report.render(json.load(file))
    except (OSError, ValueError, report.BadResults) as error:
        print(f"bench-peers: {path}: {error}", file=sys.stderr)
        return USAGE
    print(text, end="")
    return status


def main(arguments):
    chosen = options(arguments)
    if chosen.report:
        return print_report(chosen.report)
    plan = Plan(chosen)
    fetched, missing = fetch_all(os.path.abspath(chosen.cache), plan.names())
    if chosen.fetch:
        return report.UNAVAILABLE if missing else report.VALID
    if contestants.OURS not in fetched:
        return report.UNAVAILABLE
    with tempfile.TemporaryDirectory(prefix="seckill-peers-") as where:
        try:
            results = {"head": results_page.head(["loadtest/peers/peers.py", *arguments]), **measure(plan, fetched, missing, where)}
        except servers.ServerError as error:
            print(f"bench-peers: {error}", file=sys.stderr)
            return report.UNAVAILABLE
    text, status = report.render(results)
    print(text, end="")
    return keep(results, text, chosen) or status


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(INTERRUPTED))
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
