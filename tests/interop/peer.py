# SPDX-License-Identifier: MIT
"""A Python program that executes commands with redis-py's Lock: one command a line, and one line
with the command's tag for each answer. Each named thread of the commands is a thread of the
program, because a Lock keeps its token per thread.

    peer.py REDIS-URL

The program ends when its input ends. Locks that are held then are not released.
"""

import os
import queue
import sys
import threading

import redis
from redis.exceptions import LockError

SLEEP_S = 0.02  # between two attempts of a waiter, because redis-py polls

client = redis.Redis.from_url(sys.argv[1])
out = threading.Lock()


def say(line):
    with out:
        print(line, flush=True)


class Actor:
    """A thread of the program, and its Lock objects."""

    def __init__(self):
        self.commands = queue.Queue()
        self.locks = {}
        threading.Thread(target=self.act, daemon=True).start()

    def act(self):
        while True:
            tag, verb, words = self.commands.get()
            try:
                answer = getattr(self, "run_" + verb)(**words)
            except LockError:
                answer = "lost"
            except Exception as error:  # the driver gets every error as an answer
                answer = f"error {type(error).__name__}: {error}"
            say(f"{tag} {answer}")

    def run_lock(self, name, wait, lease, **_):
        lock = client.lock(name, timeout=int(lease) / 1000, sleep=SLEEP_S)
        wait_s = int(wait) / 1000
        got = lock.acquire(
            blocking=wait_s != 0, blocking_timeout=wait_s if wait_s > 0 else None
        )
        if not got:
            return "busy" if wait_s == 0 else "timeout"
        self.locks[name] = lock
        return "ok token=" + lock.local.token.decode()

    def run_unlock(self, name, **_):
        self.locks.pop(name).release()
        return "ok"

    def run_renew(self, name, **_):
        """Start the whole lease again, as dlock_renew() does."""
        self.locks[name].reacquire()
        return "ok"

    def run_extend(self, name, more, **_):
        """Add time to the lease. The C library has no such call."""
        self.locks[name].extend(int(more) / 1000)
        return "ok"

    def run_look(self, name, **_):
        lock = self.locks.get(name) or client.lock(name)
        return f"ok locked={int(lock.locked())} mine={int(lock.owned())}"


def main():
    actors = {}
    say(f"ready redis-py-{redis.__version__}")
    for line in sys.stdin:
        tag, verb, *pairs = line.split()
        words = dict(pair.split("=", 1) for pair in pairs)
        thread = words.pop("thread", "main")
        if thread not in actors:
            actors[thread] = Actor()
        actors[thread].commands.put((tag, verb, words))
    os._exit(0)


main()
