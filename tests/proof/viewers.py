#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""viewers.py [--viewers=40] [--pairs=50] [--seconds=5] [--rate=N] [--every=MS] -- how much forty browsers before the
live page cost the sale that they watch.

One laboratory runs one sale.  Orders come at a fixed rate, so that all slices do the same work: at 80 % of
what wrk reaches in the first seconds, or at --rate.  Slices with the viewers and slices without them follow
each other in turn, in pairs, the first of a pair being once this kind and once the other.  A slice of 5 s
has one full count of the laboratory.  Of each slice, the processor time of all processes of the laboratory
but the load (so of the service, PostgreSQL, Redis, the laboratory itself) is divided by the orders that the
database has got.  A viewer polls as the page does: after the time that the state names
(`next_ms`), or every --every milliseconds, on a connection that it keeps as a browser does.

The estimate is the median of the means of all two pairs (Hodges and Lehmann), with the 95 % interval of
Wilcoxon's test: a checkpoint of PostgreSQL within a slice does not widen it.  The limit is 2 % more.
The default takes ten minutes.

Exit status: 0 the interval lies below the limit, 1 above it, 2 the interval has the limit inside.
"""
import argparse
import asyncio
import math
import os
import re
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "browser", "support"))
from laboratory import Show, soon  # noqa: E402  the folder has to be known first

LIMIT = 1.02
PAIRS_LEAST = 10
SHARE, FIND_S = 0.8, 5  # the share of the rate that wrk reaches in FIND_S seconds
# The thread of the laboratory that sends orders at a fixed rate is a load, as wrk is.
LOAD_THREAD = "orders"


async def poll(stream, request):
    """Send one request and read its whole answer: the seconds until the next request.  None: the answer is not 200."""
    reader, writer = stream
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    body = await reader.readexactly(int(re.search(rb"\r\nContent-Length: (\d+)", head).group(1)))
    return int(re.search(rb'"next_ms":(\d+)}$', body).group(1)) / 1000 if head.startswith(b"HTTP/1.1 200 ") else None


async def view(port, token, every_ms, wanted, counts):
    """One browser: polls while `wanted` is set, on one connection for as long as the server keeps it open."""
    request = (f"GET /api/state HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\r\n").encode()
    stream = None
    while True:
        await wanted.wait()
        next_s = None
        try:
            if stream is None or stream[0].at_eof():
                stream = await asyncio.open_connection("127.0.0.1", port)
                counts["opened"] += 1
            next_s = await poll(stream, request)
        except (OSError, asyncio.IncompleteReadError):
            stream = None
        counts["bad" if next_s is None else "good"] += 1
        await asyncio.sleep(every_ms / 1000 or next_s or 0.5)


async def serve_viewers(port, token, number, every_ms):
    """In a process of its own: "on" and "off" come on stdin; each is answered by the counts so far."""
    wanted, counts = asyncio.Event(), {"good": 0, "bad": 0, "opened": 0}
    tasks = [asyncio.create_task(view(port, token, every_ms, wanted, counts)) for _ in range(number)]
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        (wanted.set if line == b"on\n" else wanted.clear)()
        print(counts["good"], counts["bad"], counts["opened"], flush=True)
    for task in tasks:
        task.cancel()


class Viewers:
    def __init__(self, show, number, every_ms=0):
        port = show.base.rsplit(":", 1)[1]
        self.process = subprocess.Popen([sys.executable, "-B", __file__, "--serve", port, show.token, str(number), str(every_ms)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def switch(self, on):
        """(good, bad) answers until now, and the connections that they took."""
        self.process.stdin.write("on\n" if on else "off\n")
        self.process.stdin.flush()
        good, bad, opened = self.process.stdout.readline().split()
        return int(good), int(bad), int(opened)

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)


def thread_ns(pid, thread):
    """Processor time of one thread, in nanoseconds; 0 if it has ended, or is the load."""
    try:
        with open(f"/proc/{pid}/task/{thread}/comm", encoding="utf-8", errors="replace") as name:
            if name.read().strip() == LOAD_THREAD:
                return 0
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as stat:
            return int(stat.read().split()[0])
    except OSError:
        return 0


def process_ns(pid):
    """Processor time of the threads that a process has, in nanoseconds; 0 if the process has ended."""
    try:
        return sum(thread_ns(pid, thread) for thread in os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0


def processes_below(root):
    """(pid, name) of a process and of all that it has started, directly or not."""
    children, names = {}, {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as stat:
                    text = stat.read()
            except OSError:
                continue
            names[int(entry)] = text[text.index("(") + 1:text.rindex(")")]
            children.setdefault(int(text[text.rindex(")") + 2:].split()[1]), []).append(int(entry))
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        yield pid, names.get(pid, "")
        waiting += children.get(pid, [])


def processor_s(show):
    """(of all but wrk, of the laboratory itself)"""
    return (sum(process_ns(pid) for pid, name in processes_below(show.process.pid) if name != "wrk") / 1e9,
            process_ns(show.process.pid) / 1e9)


def slice_of(show, viewers, on, seconds):
    """Processor seconds for an order, orders, and the processor seconds of the laboratory in a second."""
    viewers.switch(on)
    time.sleep(0.5)  # what the other kind of slice has begun is over
    begin, (cpu, own), orders = time.monotonic(), processor_s(show), show.orders()
    time.sleep(seconds)
    end, (cpu_after, own_after) = time.monotonic(), processor_s(show)
    orders = show.orders() - orders
    assert orders > 0, "no order came"
    return (cpu_after - cpu) / orders, orders, (own_after - own) / (end - begin)


def measure(show, viewers, options):
    logs, own = [], {True: 0, False: 0}
    for pair in range(options.pairs):
        got = {}
        for on in (pair % 2 == 0, pair % 2 != 0):
            got[on], orders, seconds = slice_of(show, viewers, on, options.seconds)
            own[on] += seconds / options.pairs
            print(f"pair {pair + 1:2} {'with   ' if on else 'without'} {got[on] * 1e6:8.1f} us an order, {orders} orders", flush=True)
        logs.append(math.log(got[True] / got[False]))
    print(f"the laboratory itself: {1000 * own[True]:.1f} ms of processor time a second with viewers, {1000 * own[False]:.1f} without")
    return [math.exp(x) for x in interval_of(logs)]


def interval_of(differences):
    """(low, estimate, high), by Hodges and Lehmann, and Wilcoxon."""
    n = len(differences)
    means = sorted((differences[i] + differences[j]) / 2 for i in range(n) for j in range(i, n))
    outside = int(n * (n + 1) / 4 - 1.96 * math.sqrt(n * (n + 1) * (2 * n + 1) / 24))
    return means[outside], statistics.median(means), means[-1 - outside]


def find_rate(show):
    """Orders a second that are most of what wrk reaches."""
    assert show.ask("/api/run", {})[0] == 202
    soon("orders", lambda: show.state()["stock"]["sold"] > 0)
    begin, orders = time.monotonic(), show.orders()
    time.sleep(FIND_S)
    return max(1, int(SHARE * (show.orders() - orders) / (time.monotonic() - begin)))


def sell_at(show, rate):
    assert show.ask("/api/run", {"rate": rate})[0] == 202
    soon("orders at a fixed rate", lambda: show.state()["phase"] == "running"
         and show.state()["run"]["settings"]["rate"] == rate and show.state()["stock"]["sold"] > 0)
    print(f"orders come at {rate} a second", flush=True)


def main():
    if len(sys.argv) == 6 and sys.argv[1] == "--serve":
        asyncio.run(serve_viewers(int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5])))
        return 0
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--viewers", type=int, default=40)
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rate", type=int, default=0, help="orders a second; 0: 80 %% of what wrk reaches")
    parser.add_argument("--every", type=int, default=0, help="milliseconds between two requests of a viewer; 0: as the state says")
    options = parser.parse_args()
    if options.pairs < PAIRS_LEAST:
        parser.error(f"--pairs has to be at least {PAIRS_LEAST}")
    show = Show("--stock=1000000", "--limit=3600s", "--connections=8", "--lock=reentrant")
    viewers = Viewers(show, options.viewers, options.every)
    try:
        sell_at(show, options.rate or find_rate(show))
        low, mean, high = measure(show, viewers, options)
        good, bad, opened = viewers.switch(False)
        assert good > 0 and bad == 0, f"{bad} of the viewers' {good + bad} requests failed"
    finally:
        viewers.close()
        show.close()
    print(f"{options.viewers} viewers: {100 * (mean - 1):+.2f} % processor time for an order, "
          f"95 % interval {100 * (low - 1):+.2f} to {100 * (high - 1):+.2f} %, limit +2 %; {good} answers on {opened} connections")
    return 0 if high <= LIMIT else 1 if low > LIMIT else 2


if __name__ == "__main__":
    sys.exit(main())
