# SPDX-License-Identifier: MIT
"""live.py -- watch `seckill load` and `seckill compare` on a terminal, and say what was seen.

    live.py SECKILL LAB DIRECTORY RESULTS     as watched.py says
"""
import json
import os
import re
import signal
import subprocess

from terminal import Terminal
from watched import PLACE, SECKILL, WORK, expect

# Nothing is sold out, so the load goes on until it is interrupted.
ENDLESS = [SECKILL, "load", *PLACE, "--duration=20m", "--connections=8"]
# At a low rate a fast machine ends each order before the next is due, and no update is lost.
CLOSE = ["--rate=3000"]
NO_LOCK = ["--", "--lock=none", "--order-path=each", "--stock-guard=read-write", "--duplicate-guard=none"]
SO_FAR = re.compile(r"^so far +(sound|broken): .*\d+ of \d+ sold", re.M)


def has_speed(screen):
    return SO_FAR.search(screen) and re.search(r"^orders +\d+ a second now", screen, re.M) \
        and re.search(r"^p99 +about \d+ ms", screen, re.M)


def lines_of(screen, begin):
    return [line for line in screen.split("\n") if line.startswith(begin)]


def services_of(process):
    """The seckilld processes that it started."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/" + pid + "/stat", encoding="utf-8") as file:
                stat = file.read()
        except OSError:
            continue
        name, rest = stat.split("(", 1)[1].rsplit(")", 1)
        if name == "seckilld" and int(rest.split()[1]) == process.pid:
            found.append(int(pid))
    return sorted(found)


def is_one_narrow_block(screen):
    block = [line for line in screen.split("\n") if re.match("so far|orders  |p99  ", line)]
    return [line[:6] for line in block] == ["so far", "orders", "p99   "] and all(len(line) < 40 for line in block)


def watch_load():
    t = Terminal(ENDLESS + CLOSE + NO_LOCK)
    expect("a terminal shows verdict so far, speed and p99", t.until(has_speed), t)
    expect("the time that is left is shown", re.search(r"^\[[#-]{20}\] at most \d+ s left", t.screen.text(), re.M), t)
    later = t.until(lambda s: has_speed(s) and "broken" in SO_FAR.search(s).group())
    expect("updates that were lost turn the verdict so far", later, t)
    expect("the block is drawn in place", len(lines_of(t.screen.all(), "so far")) == 1, t)
    expect("the cursor is never hidden", "\x1b[?25" not in t.raw)
    t.resize(40)
    expect("a terminal that is made narrower shows one block that fits", t.until(is_one_narrow_block), t)
    pids = services_of(t.process)
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    expect("a service that stalls is named", t.until(lambda s: re.search(r"^trouble +no answer for", s, re.M)), t)
    for pid in pids:
        os.kill(pid, signal.SIGCONT)
    expect("and no longer when it goes on", t.until(lambda s: "trouble" not in s), t)
    if pids:
        os.kill(pids[0], signal.SIGKILL)
    expect("a process that dies is named", t.until(lambda s: re.search(r"^trouble +1 seckilld process", s, re.M)), t)
    t.key("\x03")
    status = t.wait()
    expect("Ctrl-C ends with 130", status == 130, t)
    text = t.screen.all()
    expect("and leaves no block", not lines_of(text, "so far") and not lines_of(text, "p99  "), t)
    expect("and prints what was measured", re.search(r"^\S*(VALID|INVALID|UNKNOWN)", text, re.M), t)


def watch_narrow():
    t = Terminal(ENDLESS + ["--rate=40", "--", "--lock=lua"], columns=24, rows=6, env={"NO_COLOR": "1"})
    seen = t.until(lambda s: lines_of(s, "so far   sound"))
    expect("24 columns and 6 rows show the verdict so far",
           seen and len(lines_of(t.screen.text(), "so far")) == 1, t)
    t.key("\x03")
    expect("there too Ctrl-C ends with 130", t.wait() == 130, t)
    expect("NO_COLOR takes the colours away", not re.search(r"\x1b\[[0-9;]*m", t.raw))


def run_without_terminal(*more):
    command = [SECKILL, "load", *PLACE, "--rate=40", "--duration=12s", *more, "--", "--lock=lua"]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def progress_of(run):
    """What is on stderr, but for the meaning of an exit status: a busy machine may leave a
    request without an answer."""
    return [line for line in run.stderr.split("\n") if line and not line.startswith("seckill load: exit ")]


def read_logs():
    plain = run_without_terminal()
    expect("without a terminal a line says how far the load is",
           re.search(r"^seckill load: .*selling, \d+ s.*; sound so far: \d+ of \d+ sold", plain.stderr, re.M))
    expect("no line moves the cursor", "\x1b" not in plain.stderr and "\r" not in plain.stderr)
    quiet = run_without_terminal("--quiet")
    expect("--quiet prints the result alone", not progress_of(quiet) and re.search("VALID|UNKNOWN", quiet.stdout))
    lines = run_without_terminal("--json-lines", "--quiet", "--objective=oversold=0")
    events = [json.loads(line) for line in lines.stdout.splitlines()]
    kinds = [event["event"] for event in events]
    expect("--json-lines has one object a line, with format and time",
           all(event["format"] == 1 and event["at_ms"] >= 0 for event in events))
    expect("the events are progress, step, run and end",
           set(kinds) == {"progress", "step", "run", "end"} and kinds[-2:] == ["run", "end"])
    expect("the verdict so far is counted in the database",
           any(e["event"] == "progress" and e["verdict_so_far"] == "sound" and e["database"]["orders"] > 0 for e in events))
    expect("the end has the exit status and the run its verdict",
           events[-1].get("exit") == lines.returncode and events[-2]["verdict"]["valid"] in (True, "unknown")
           and events[-2]["objectives"][0]["objective"] == "oversold=0")
    expect("--quiet leaves nothing on stderr beside JSON lines", not progress_of(lines))


def watch_compare():
    command = [SECKILL, "compare", *PLACE, "--locks=naive,lua", "--experiments=oversell", "--hazards=calm",
               "--repeats=3", "--json-lines"]
    with open(WORK + "/compare.jsonl", "w", encoding="utf-8") as out:
        t = Terminal(command, stdout=out)
        per_lock = t.until(lambda s: lines_of(s, "naive ") and lines_of(s, "lua ") and SO_FAR.search(s), 300)
        expect("a comparison shows the run and a line for each lock", per_lock, t)
        expect("and how many runs are done", re.search(r"^\d of 6 runs done, about \d+:\d\d min left", t.screen.text(), re.M), t)
        t.key("\x03")
        expect("Ctrl-C ends a comparison with 130", t.wait() == 130, t)
    text = t.screen.all()
    expect("and prints the table without a block", "cells as expected" in text and not lines_of(text, "so far"), t)
    with open(WORK + "/compare.jsonl", encoding="utf-8") as file:
        events = [json.loads(line) for line in file]
    runs = [e for e in events if e["event"] == "run"]
    expect("each run of a comparison is an event",
           {run["lock"] for run in runs} == {"naive", "lua"} and all(run["planned"] == 6 for run in runs))
    expect("the last event is the end", events[-1]["event"] == "end" and events[-1]["exit"] == 130)


watch_load()
watch_narrow()
read_logs()
watch_compare()
