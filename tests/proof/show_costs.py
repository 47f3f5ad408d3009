#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""show_costs.py [--loads=9] [--seconds=10] [--rate=5000] -- how fast the pages open, and what the live page costs.

live page    the first paint over loopback, and the first drawn state, of a browser that knows nothing yet
main thread  of a browser before the live page, while the laboratory's states of a real sale are replayed with
             the figures of --rate orders a second; processor time of the thread, as the browser counts it
story        from opening the file until the page with 10,000 events has loaded and is painted
report       the same for a report of 200 cells
snapshot     what one look at the sale costs the thread that looks, and PostgreSQL for its questions, in
             processor time; without viewers and with forty, while the orders become more
restart      how long a sale takes to be offered anew after a change of a setting

Times that a busy machine makes longer are wall-clock times: the first paint, story, report and restart.

Exit status: 0 every limit is kept, 3 one is not.
"""
import argparse
import http.server
import json
import os
import re
import signal
import statistics
import sys
import tempfile
import threading
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "browser", "support"), HERE]
from files import address, end_lab, seckill  # noqa: E402  the folders have to be known first
from grown import change_recording, grow_comparison, grow_recording  # noqa: E402
from laboratory import Show, soon  # noqa: E402
from page import Page  # noqa: E402
from viewers import Viewers, thread_ns  # noqa: E402

EVENTS, CELLS, VIEWERS, RESTARTS = 10000, 200, 40, 5
STEP_MS = 100  # between two looks of the laboratory
# The names of the lines, and their limits in milliseconds.
LIMITS = {"first paint of the live page": 300, "main thread a second, live page": 200, f"story of {EVENTS:,} events opens": 1000,
          f"report of {CELLS} cells opens": 1000, "snapshot": 5, "restart after a change": 2000}
missed = []


def row(name, milliseconds, detail):
    limit = LIMITS[name]
    kept = milliseconds < limit
    if not kept:
        missed.append(name)
    print(f"{name:33} {milliseconds:8.2f} ms   limit {limit:5} ms  {'reached' if kept else 'MISSED '}  {detail}", flush=True)


def spread(values):
    return f"{len(values)} times, {min(values):.0f} to {max(values):.0f} ms"


# ---- the live page ----

def first_paints(show, count):
    paints, drawn = [], []
    for _ in range(count):
        page = Page("about:blank")
        try:
            page.driver.get(show.address)
            page.wait("a state", lambda p: p.data("seq"))
            paints.append(page.wait("a paint", lambda p: p.js("(performance.getEntriesByName('first-contentful-paint')[0] || {}).startTime")))
            drawn.append(page.js("performance.getEntriesByType('resource').filter((r) => r.name.endsWith('/api/state'))[0].responseEnd"))
        finally:
            page.close()
    row("first paint of the live page", statistics.median(paints),
        f"{spread(paints)}; the first state came after {statistics.median(drawn):.0f} ms")


def recorded(show, seconds):
    """States of a real sale, a look apart, in which a fault comes and goes."""
    states = []
    assert show.ask("/api/run", {"lock": "reentrant", "order_path": "each"})[0] == 202
    soon("full charts", lambda: len(show.state()["rates"]["accepted"]) >= 40)
    end = time.monotonic() + seconds
    is_frozen = False
    while time.monotonic() < end:
        states.append(show.state())
        if not is_frozen and time.monotonic() > end - seconds * 3 / 4:
            is_frozen = show.ask("/api/fault", {"name": "freeze"})[0] == 202
        time.sleep(STEP_MS / 1000)
    show.ask("/api/heal", {})
    show.ask("/api/run/stop", {})
    soon("the end", lambda: show.state()["phase"] == "ended")
    return states


class Replay(http.server.ThreadingHTTPServer):
    """The page and the catalogs of the laboratory; the states of a sale at another rate."""
    daemon_threads = True

    def __init__(self, show, states, rate):
        super().__init__(("127.0.0.1", 0), Answer)
        self.states, self.rate, self.begin = states, rate, time.monotonic()
        self.polls, self.files = 0, {}
        for path in ("/", "/head.css", "/show.css", "/show.js", "/words.js", "/lesson.css", "/lesson.js", "/api/catalog", "/api/lesson"):
            with urllib.request.urlopen(urllib.request.Request(show.base + path, headers={"Authorization": "Bearer " + show.token})) as answer:
                self.files[path] = (answer.headers["Content-Type"], answer.read())
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def state(self):
        """The look of now: lanes, store and faults as they were seen, counts as the rate makes them."""
        at = time.monotonic() - self.begin
        look = json.loads(json.dumps(self.states[int(at * 1000 / STEP_MS) % len(self.states)]))
        sold, step_s = int(at * self.rate), look["rates"]["step_ms"] / 1000
        look.update(seq=int(at * 1000 / STEP_MS) + 1, phase="running", at_ms=int(at * 1000))
        look["run"]["elapsed_ms"] = int(at * 1000)
        look["stock"] = {"issued": 1000000, "sold": sold, "left": 1000000 - sold}
        for process in look["processes"]:
            process["orders"] = sold // len(look["processes"])
        look["rates"]["accepted"] = [int(self.rate * step_s) + (i * 37 + look["seq"]) % 50 for i in range(len(look["rates"]["accepted"]))]
        self.polls += 1
        return json.dumps(look).encode()


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # the name is the library's
        kind, body = ("application/json", self.server.state()) if self.path == "/api/state" else self.server.files.get(self.path, ("text/plain", b""))
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):  # the name is the library's
        pass


def task_s(page):
    return {m["name"]: m["value"] for m in page.cdp("Performance.getMetrics")["metrics"]}["TaskDuration"]


def main_thread(show, options):
    replay = Replay(show, recorded(show, 10), options.rate)
    page = Page("about:blank")
    try:
        page.cdp("Performance.enable", timeDomain="threadTicks")
        page.driver.get(f"http://127.0.0.1:{replay.server_port}/#token=0")
        page.wait("a state", lambda p: p.data("phase") == "running")
        time.sleep(2)  # what opening costs is another line
        polls, before, begin = replay.polls, task_s(page), time.monotonic()
        time.sleep(options.seconds)
        took, polls, seconds = task_s(page) - before, replay.polls - polls, time.monotonic() - begin
    finally:
        page.close()
        replay.shutdown()
    row("main thread a second, live page", 1000 * took / seconds,
        f"{options.rate:,} orders a second replayed for {seconds:.0f} s; {polls / seconds:.1f} states a second drawn")


# ---- what the laboratory's look costs ----

def backends_ns(show):
    """Processor time of the PostgreSQL sessions of the laboratory: those of the service are named p1, p2 and so on."""
    pids = show.sql("SELECT string_agg(pid::text, ' ') FROM pg_stat_activity WHERE backend_type = 'client backend'"
                    " AND application_name !~ '^p[0-9]+$' AND pid <> pg_backend_pid()").split()
    assert pids, "the laboratory has no session"
    return sum(thread_ns(int(pid), int(pid)) for pid in pids)


def snapshots(show, options):
    """The first thread of the laboratory looks at the sale, ten times a second, and does little else."""
    viewers = Viewers(show, VIEWERS)
    try:
        assert show.ask("/api/run", {"lock": "reentrant", "order_path": "combined", "connections": 16})[0] == 202
        soon("orders", lambda: show.state()["stock"]["sold"] > 0)
        for on in (False, True, False, True):
            viewers.switch(on)
            first, own, theirs = show.state(), thread_ns(show.process.pid, show.process.pid), backends_ns(show)
            time.sleep(options.seconds)
            last, own, theirs = show.state(), thread_ns(show.process.pid, show.process.pid) - own, backends_ns(show) - theirs
            looks = last["seq"] - first["seq"]
            row("snapshot", (own + theirs) / looks / 1e6, f"{VIEWERS if on else 'no'} viewers, {last['stock']['sold']:,} orders: "
                f"{own / looks / 1e6:.2f} ms of its own, {theirs / looks / 1e6:.2f} ms of PostgreSQL's; {looks} looks")
        good, bad = viewers.switch(False)
        assert good > 0 and bad == 0, f"{bad} of the viewers' {good + bad} requests failed"
    finally:
        viewers.close()


def restarts(show):
    made = []
    for i in range(RESTARTS):
        before = show.state()["run"]["id"]
        assert show.ask("/api/run", {"lock": ("lua", "reentrant")[i % 2], "order_path": "each"})[0] == 202
        soon("the sale runs anew", lambda before=before: (lambda s: s["run"]["id"] > before and s["phase"] == "running")(show.state()))
        made.append(show.state()["run"]["made_ms"])
    row("restart after a change", statistics.median(made), f"under load, {spread(made)}")


# ---- pages that are files ----

def opened(page, path, fragment, ready):
    """Milliseconds until the page has loaded, shows what `ready` asks for, and is painted."""
    page.driver.get("about:blank")
    page.driver.get(address(path, fragment))
    page.wait("the page", lambda p: p.js(f"document.readyState === 'complete' && {ready}"))
    return page.wait("a paint", lambda p: p.js("""(() => { const paint = performance.getEntriesByName('first-contentful-paint')[0];
        return paint && Math.max(paint.startTime, performance.getEntriesByType('navigation')[0].loadEventEnd); })()"""))


def files_open(work, options):
    lab, out = os.path.join(work, "lab"), os.path.join(work, "out")
    os.mkdir(out)
    try:
        seckill("lab", "up", "--dir", lab)
        story = re.search(r"^drawn in (.*)$", seckill("scenario", "run", "wrong-delete", "--locks=naive", "--dir", lab, "--out", out), re.M)[1]
        report = re.search(r"^report: (.*)$", seckill("compare", "--dir", lab, "--out", out, "--locks=none,lua", "--experiments=oversell",
                                                      "--hazards=calm,slow", "--repeats=1", statuses=(0, 1)), re.M)[1]
    finally:
        end_lab(lab)
    long = os.path.join(work, "long.html")
    change_recording(story, long, lambda recording: grow_recording(recording, EVENTS))
    many = grow_comparison(os.path.dirname(report), os.path.join(work, "many"), CELLS)[0]
    page = Page("about:blank", is_offline=True)
    try:
        for name, path, ready in ((f"story of {EVENTS:,} events opens", long, "document.documentElement.dataset.step !== undefined"),
                                  (f"report of {CELLS} cells opens", many, "document.querySelector('.verdict') !== null")):
            times = [opened(page, path, "lang=en", ready) for _ in range(options.loads)]
            row(name, statistics.median(times), f"{spread(times)}, {os.path.getsize(path) // 1000} kB")
    finally:
        page.close()


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the servers end, too
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loads", type=int, default=9, help="how often each page is opened")
    parser.add_argument("--seconds", type=float, default=10, help="length of each slice in which costs are counted")
    parser.add_argument("--rate", type=int, default=5000, help="orders a second of the sale that is replayed")
    options = parser.parse_args()
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    show = Show("--stock=1000000", "--limit=600s", "--connections=8")
    try:
        first_paints(show, options.loads)
        main_thread(show, options)
        snapshots(show, options)
        restarts(show)
    finally:
        show.close()
    with tempfile.TemporaryDirectory(prefix="seckill-show-costs-") as work:
        files_open(work, options)
    print(f"missed: {', '.join(missed)}" if missed else "every limit is kept")
    return 3 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
