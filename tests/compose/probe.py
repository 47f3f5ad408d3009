#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""probe.py URL FILE -- an honest client: one GET after another, until SIGTERM.

Each request has a connection of its own, and one second lies between none of them: the
next begins 50 ms after the last answer.  A line of FILE per request: when it began and
how long it took, in seconds, and its status (0: no answer).

probe.py --report FILE SINCE UNTIL -- what the lines between two such times say:
    asked N, failed N, longest failure S, slowest S
The longest failure is the time from the begin of the first request that failed to the end
of the next that did not.
"""
import signal
import sys
import time
import urllib.error
import urllib.request

PAUSE_S = 0.05
PATIENCE_S = 20


def ask(url):
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
            answer.read()
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def probe(url, path):
    running = True

    def stop(*_):
        nonlocal running
        running = False

    signal.signal(signal.SIGTERM, stop)
    with open(path, "w", buffering=1, encoding="ascii") as out:
        while running:
            began = time.time()
            status = ask(url)
            out.write(f"{began:.3f} {time.time() - began:.3f} {status}\n")
            time.sleep(PAUSE_S)


def report(path, since, until):
    asked = failed = 0
    longest = slowest = 0.0
    first_failure = None
    with open(path, encoding="ascii") as lines:
        for line in lines:
            began, took, status = (float(word) for word in line.split())
            if not since <= began <= until:
                continue
            asked += 1
            slowest = max(slowest, took)
            if status != 200:
                failed += 1
                first_failure = began if first_failure is None else first_failure
                longest = max(longest, began + took - first_failure)
            elif first_failure is not None:
                longest = max(longest, began + took - first_failure)
                first_failure = None
    print(f"asked {asked}, failed {failed}, longest failure {longest:.2f}, "
          f"slowest {slowest:.2f}")


if __name__ == "__main__":
    if sys.argv[1] == "--report":
        report(sys.argv[2], float(sys.argv[3]), float(sys.argv[4]))
    else:
        probe(sys.argv[1], sys.argv[2])
