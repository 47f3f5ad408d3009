# SPDX-License-Identifier: MIT
"""A Python program that uses redis-py's Lock by commands: one command a line, and one line
with the command's tag for each answer. The commands of one named thread run in
order, in a thread of its own, since the Lock keeps its token per thread.

    peer.py REDIS-URL

The program ends with its input; locks that are held stay held.
"""

import os
import queue
import sys
import threading

import redis
from redis.exceptions import LockError

SLEEP_S = 0.02  # between two attempts of a waiter: redis-py polls

client = redis.Redis.from_url(sys.argv[1])
out = threading.Lock()


def say(line):
    with out:
        print(line, flush=True)


class Actor:
    """A thread, and the Lock objects that it uses."""

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
            except Exception as error:  # the driver is told, whatever it is
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
        """Set the lease anew, as dlock_renew() does."""
        self.locks[name].reacquire()
        return "ok"

    def run_extend(self, name, more, **_):
        """Add to the lease, which only redis-py can."""
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
