# SPDX-License-Identifier: MIT
"""series.py -- watch `seckill bench`, `seckill scenario` and `seckill matrix`, and say what was seen.

    series.py SECKILL LAB DIRECTORY RESULTS     as watched.py says
"""
import json
import re
import signal
import subprocess

from terminal import Terminal
from watched import PLACE, SECKILL, expect

# These commands would run for hours, and are interrupted.
MATRIX = [SECKILL, "matrix", *PLACE, "--scenarios=wrong-delete,expired-lease", "--locks=naive,lua", "--seeds=900"]
BENCH = [SECKILL, "bench", *PLACE, "--clients=2", "--duration=10m"]
TWO = [SECKILL, "scenario", "run", "wrong-delete", *PLACE, "--locks=naive,lua"]


def lines_of(screen, begin):
    return [line for line in screen.split("\n") if line.startswith(begin)]


def has_matrix(screen):
    return re.search(r"^so far +[1-9]\d* as expected", screen, re.M) \
        and re.search(r"^\[[#-]{20}\] [1-9]\d* of 3600 performances done, about \d+ (s|min) left", screen, re.M) \
        and re.search(r"^rate +[\d.]+ performances a minute; half of them took at most [\d.]+ s, 99 % at most [\d.]+ s", screen, re.M)


def watch_matrix():
    t = Terminal(MATRIX, columns=100)
    expect("a matrix shows how far it is, its rate, lengths, verdict so far and the time left", t.until(has_matrix, 300), t)
    expect("and which performances go on", re.search(r"^(wrong-delete|expired-lease), (naive|lua)( and \d more)?$", t.screen.text(), re.M), t)
    expect("its block is drawn in place", len(lines_of(t.screen.all(), "so far")) == 1, t)
    t.key("\x03")
    expect("Ctrl-C ends a matrix with 130", t.wait() == 130, t)
    text = t.screen.all()
    expect("and leaves the table and no block", "cells as expected" in text and not lines_of(text, "so far"), t)


def has_load(screen):
    return re.search(r"^orders +\d+ a second now, \d+ on average", screen, re.M) and re.search(r"^before +\d+ orders a second, p99 [\d.]+ ms", screen, re.M)


def watch_bench():
    t = Terminal([SECKILL, "bench", *PLACE, "--clients=2", "--duration=2s"], columns=100)
    expect("a bench shows the speed of now, and speed and p99 of the measurement before", t.until(has_load, 300), t)
    expect("and what is measured, and how far it is", re.search(r"^\[[#-]{20}\] [1-9]\d* of 20 measurements done, about \d+ (s|min) left", t.screen.text(), re.M)
           and re.search(r"^(each|combined), (none|reentrant), 2 clients$", t.screen.text(), re.M), t)
    expect("and that nothing is judged without a target", lines_of(t.screen.text(), "so far   nothing is judged yet"), t)
    t.key("\x03")
    expect("Ctrl-C ends a bench with 130", t.wait() == 130, t)
    expect("and leaves no block", not lines_of(t.screen.all(), "so far"), t)


def watch_stories():
    t = Terminal(TWO, columns=100)
    expect("scenarios show how far they are", t.until(lambda s: re.search(r"of 2 performances done", s), 300), t)
    expect("they end as they did", t.wait() == 0, t)
    text = t.screen.all()
    expect("a row for each stands above, and no block is left", len(lines_of(text, "S4 ")) == 2 and not lines_of(text, "so far"), t)
    t = Terminal([SECKILL, "scenario", "run", "wrong-delete", *PLACE, "--locks=lua"], columns=100)
    expect("a story that is alone tells itself", t.wait() == 0 and "Ann asks for the lock" in t.screen.all()
           and "performances done" not in t.raw, t)


def interrupt_after(command, wanted):
    """What the command wrote to its log, and its status, if it is interrupted after a line that fits."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        seen = ""
        for line in process.stderr:
            seen += line
            if re.search(wanted, line):
                break
        process.send_signal(signal.SIGINT)
        seen += process.stderr.read()
        return seen, process.wait()


def read_log():
    """The command prints a line into a log from time to time, and is interrupted after the first line."""
    for name, command, wanted in (
            ("matrix", MATRIX, r"^seckill matrix: .*: \d+ s, \d+ of 3600 performances done.*; [1-9]\d* as expected.* so far"),
            ("bench", BENCH, r"^seckill bench: each, none, 2 clients: \d+ s, 0 of 20 measurements done; nothing is judged yet")):
        # On a busy machine a server may not answer in time, and the command ends with 69.
        for _ in range(3):
            seen, status = interrupt_after(command, wanted)
            if status != 69:
                break
        if not re.search(wanted, seen, re.M):
            print("\n".join(f"# {line}" for line in [*seen.splitlines(), f"status {status}"]), flush=True)
        expect(f"without a terminal a line says how far a {name} is", re.search(wanted, seen, re.M))
        expect(f"a log of a {name} has no cursor, and its end is 130", "\x1b" not in seen and "\r" not in seen and status == 130)


def events_of(command):
    run = subprocess.run([*command, "--json-lines", "--quiet"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return run, [json.loads(line) for line in run.stdout.splitlines()]


def read_json():
    for name, command, planned in (("scenarios", TWO, 2), ("a matrix", MATRIX[:-1] + ["--seeds=1"], 4)):
        run, events = events_of(command)
        runs, end = [e for e in events if e["event"] == "run"], events[-1]
        expect(f"--json-lines of {name}: progress, a run for each, and the end",
               {e["event"] for e in events} == {"progress", "run", "end"} and [r["done"] for r in runs] == list(range(1, planned + 1))
               and all(e["format"] == 1 for e in events) and (end["event"], end["exit"], end["not_done"]) == ("end", run.returncode, 0))
        expect(f"each run of {name} has its lock and verdict, and how long it took",
               all(r["lock"] in ("naive", "lua") and r["verdict"] == "as expected" and r["took_ms"] > 0 for r in runs)
               and runs[-1]["verdict_so_far"] == "as-expected" and end["as_expected"] == planned)
    run, events = events_of([SECKILL, "bench", *PLACE, "--clients=64", "--duration=1s", "--repeats=1"])
    judged = sum(events[-1][name] for name in ("as_expected", "unexpected"))
    expect("a bench judges each of its eight pieces by its target, but one",
           run.returncode in (0, 3) and judged == 7 and sum(e["event"] == "run" for e in events) == 8)
    with open(events[-1]["dir"] + "/bench.json", encoding="utf-8") as file:
        rows = [row for row in json.load(file) if "claim" not in row]
    expect("every ratio of a bench is to the same pgbench, but the one to a batch's SQL",
           [row["pgbench_orders"] for row in rows] == [1, 1, 1, 64, 1]
           and len({row["pgbench_clients"] for row in rows if row["pgbench_orders"] == 1}) == 1)
    expect("that one has the figures of HTTP of the row before it, and a faster pgbench",
           rows[3]["http_per_s"] == rows[2]["http_per_s"]
           and rows[3]["pgbench_per_s"] > rows[2]["pgbench_per_s"])
    expect("and says the speed while it measures", any(e["event"] == "progress" and (e["orders_per_s"] or 0) > 0 and (e["last_p99_ms"] or 0) > 0 for e in events))


watch_matrix()
watch_bench()
watch_stories()
read_log()
read_json()
