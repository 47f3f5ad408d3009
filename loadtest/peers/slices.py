# SPDX-License-Identifier: MIT
"""slices.py -- the slices of a part: each contestant in turn, on the same servers, in every
round; and the check of each slice by what the servers themselves have counted."""

import os
import queue
import re
import struct
import subprocess
import sys
import threading
import time

import contestants

START_S = 120
SPARE_S = 120  # a slice ends with the pairs that are under way
SHORT_WARM_UP_MS = 100
LONGEST_MS = 60000
REASON_MAX = 300


class SliceError(Exception):
    """A contestant failed, or its counts do not agree with those of the servers."""


class Process:
    """A program of a contestant, which runs a slice for each line."""

    def __init__(self, command, environment, log):
        self.log = log
        with open(log, "a", encoding="utf-8") as errors:
            self.process = subprocess.Popen(
                command, env={**os.environ, **environment}, text=True, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=errors)
        self.lines = queue.Queue()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            self.lines.put(line.strip())
        self.lines.put(None)

    def line(self, seconds):
        try:
            line = self.lines.get(timeout=seconds)
        except queue.Empty:
            line = None
        if line is None:
            raise SliceError(self.why())
        return line

    def why(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            tail = file.read().strip().splitlines()[-3:]
        return " | ".join(line[:REASON_MAX] for line in tail) or "it said nothing"

    def tell(self, text):
        try:
            self.process.stdin.write(text + "\n")
            self.process.stdin.flush()
        except OSError as error:
            raise SliceError(self.why()) from error

    def end(self):
        """Close the program's input, which ends the program, and kill it if it goes on."""
        try:
            self.process.stdin.close()
            self.process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()


class Runner:
    """The processes of one contestant in one part."""

    def __init__(self, contestant, fetched, servers, where):
        self.contestant, self.servers = contestant, servers
        self.prefix = "bench:" + re.sub("[^a-z0-9]+", "-", contestant.name)
        self.guard = os.path.join(where, self.prefix.replace(":", "-") + ".guard")
        self.clear_guard()
        command = [*fetched.command(), contestant.setting, servers.address(contestant),
                   self.prefix, self.guard]
        log = os.path.join(where, self.prefix.replace(":", "-") + ".log")
        self.processes = []
        for _ in range(contestant.processes):
            self.processes.append(Process(command, fetched.environment(), log))

    def wait_ready(self):
        for process in self.processes:
            if process.line(START_S) != "ready":
                raise SliceError(process.why())

    def clear_guard(self):
        with open(self.guard, "r+b" if os.path.exists(self.guard) else "w+b") as file:
            file.write(bytes(16))

    def inside(self):
        """The count in the guarded section."""
        with open(self.guard, "rb") as file:
            return struct.unpack("=qq", file.read())[0]

    def run(self, mode, in_flight, duration_ms):
        """A slice by all processes at once: the sums of their counts."""
        share, more = divmod(in_flight, len(self.processes))
        shares = [share + (i < more) for i in range(len(self.processes))]
        running = [(p, n) for p, n in zip(self.processes, shares) if n > 0]
        for process, count in running:
            process.tell(f"{mode} {count} {duration_ms}")
        sums = {"pairs": 0, "total": 0, "overlaps": 0, "errors": 0}
        for process, _ in running:
            line = process.line(duration_ms / 1000 + SPARE_S)
            told = {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", line)}
            if told.keys() != sums.keys():
                raise SliceError(f"it printed: {line}")
            if told["errors"]:
                raise SliceError(process.why())
            for key, value in told.items():
                sums[key] += value
        return sums

    def measure(self, mode, in_flight, duration_ms):
        """A slice, checked; pairs per second. On a machine that stands still the slice is
        repeated, and longer, until a pair ends in its time."""
        pairs = 0
        while pairs == 0 and duration_ms <= LONGEST_MS:
            pairs = self.measure_once(mode, in_flight, duration_ms)
            rate = pairs * 1000 / duration_ms
            duration_ms *= 4
        if pairs == 0:
            raise SliceError("no pair ended in time")
        return rate

    def measure_once(self, mode, in_flight, duration_ms):
        """The pairs of a checked slice."""
        self.clear_guard()
        before = self.servers.counts(self.contestant.takes) if self.contestant.takes else None
        told = self.run(mode, in_flight, duration_ms)
        if before:
            after = self.servers.counts(self.contestant.takes)
            self.check_counts(told["total"], [b - a for a, b in zip(before, after)])
        left = self.servers.left(self.prefix)
        if left:
            raise SliceError(f"{left} names are still taken after the slice")
        if mode == "hot" and (told["overlaps"] or self.inside() != told["total"]):
            raise SliceError(f"two were inside at once: {told['total']} pairs, "
                             f"{self.inside()} counted inside, {told['overlaps']} seen")
        return told["pairs"]

    def check_counts(self, total, counted):
        for what, count in zip(("taken", "freed"), counted):
            if count < total * self.servers.nodes:
                raise SliceError(f"{total} pairs were told, and the servers counted {count} "
                                 f"times a name {what}")

    def end(self):
        for process in self.processes:
            process.end()


class Measurement:
    """A part: its runners, its cells, and the contestants that failed."""

    def __init__(self, part, servers, where, chosen, tell):
        self.part, self.servers, self.where, self.tell = part, servers, where, tell
        self.chosen = chosen  # pairs of contestant and what was fetched
        self.failures = []
        self.cells = {}
        self.runners = []

    def start(self):
        for contestant, fetched in self.chosen:
            self.attempt(contestant, self.start_one, contestant, fetched)

    def start_one(self, contestant, fetched):
        runner = Runner(contestant, fetched, self.servers, self.where)
        self.runners.append(runner)
        runner.wait_ready()

    def attempt(self, contestant, function, *arguments):
        """A contestant that fails is left out of the rest of its part, and named."""
        try:
            return function(*arguments)
        except SliceError as error:
            self.failures.append({"part": self.part.name, "name": contestant.name,
                                  "reason": str(error)})
            print(f"bench-peers: {contestant.name}: {error}", file=sys.stderr)
            for runner in [r for r in self.runners if r.contestant is contestant]:
                runner.end()
                self.runners.remove(runner)
            return None

    def warm_up(self, share, until):
        """At the largest size for the peer's own time, then shortly at each size; not at all
        once the time is over."""
        for runner in list(self.runners):
            contestant = runner.contestant
            self.tell(f"{self.part.name}: {contestant.name} warms up")
            warm_up_ms = int(contestant.warm_up_ms * share)
            sizes = [(size, SHORT_WARM_UP_MS) for size in self.part.sizes]
            for size, duration_ms in [(max(self.part.sizes), warm_up_ms), *sizes]:
                if runner in self.runners and time.monotonic() < until:
                    self.attempt(contestant, runner.run, self.part.mode, size, duration_ms)

    def run_round(self, number, duration_ms):
        """Every contestant once at each size; another one begins in each round."""
        for size in self.part.sizes:
            turn = number % max(1, len(self.runners))
            for runner in self.runners[turn:] + self.runners[:turn]:
                contestant = runner.contestant
                self.tell(f"{self.part.name}, {size} in flight: {contestant.name}")
                rate = self.attempt(contestant, runner.measure, self.part.mode, size,
                                    duration_ms)
                if rate is not None:
                    self.cells.setdefault((contestant, size), []).append(rate)

    def results(self):
        """The cells that are whole, as the results keep them."""
        failed = {failure["name"] for failure in self.failures}
        return [{"part": self.part.name, "in_flight": size, "peer": c.peer, "name": c.name,
                 "setting": c.setting, "text": c.text, "file": c.file, "beside": c.beside,
                 "per_s": [round(rate, 1) for rate in rates]}
                for (c, size), rates in self.cells.items() if c.name not in failed]

    def end(self):
        for runner in self.runners:
            runner.end()
        self.runners = []


def measure(part, servers, where, chosen, plan, until, begin, tell):
    """The rounds of a part, as many as end in time, the first in any case: the cells and the
    failures. begin() is called before each round, tell() before each slice."""
    directory = os.path.join(where, part.name)
    os.makedirs(directory)
    servers.clear()
    measurement = Measurement(part, servers, directory, chosen, tell)
    try:
        measurement.start()
        measurement.warm_up(plan.warm_up_share, until)
        for number in range(plan.slices):
            if number > 0 and time.monotonic() > until:
                break
            begin(number)
            measurement.run_round(number, plan.slice_ms)
    finally:
        measurement.end()
    return measurement.results(), measurement.failures


def names_of(part):
    return [contestant.name for contestant in part.contestants]


assert all(len(set(names_of(part))) == len(part.contestants) for part in contestants.PARTS)
