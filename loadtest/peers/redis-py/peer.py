# SPDX-License-Identifier: MIT
"""Pairs of acquire and release by redis-py's Lock, for peers.py.

    peer.py threads|asyncio SERVERS PREFIX FILE

../README.md has the command line and the lines."""

import asyncio
import mmap
import os
import struct
import sys
import threading
import time

import redis
import redis.asyncio

LEASE_S = 30
SLEEP_S = 0.001  # between two attempts of a waiter: redis-py polls
WORKERS_MAX = 1024


class Slice:
    """The counts of a slice, and the guarded section."""

    def __init__(self, guard, prefix, is_hot, duration_ms):
        self.guard, self.prefix, self.is_hot = guard, prefix, is_hot
        self.deadline = time.monotonic() + duration_ms / 1000
        self.counts = []

    def goes_on(self):
        return time.monotonic() < self.deadline

    def name(self, index):
        return f"{self.prefix}:hot" if self.is_hot else f"{self.prefix}:{os.getpid()}:{index}"

    def be_inside(self, index, count):
        """Neither word is atomic: two holders at once lose a count or see each other."""
        if self.is_hot:
            me = os.getpid() * WORKERS_MAX + index
            struct.pack_into("=q", self.guard, 8, me)
            struct.pack_into("=q", self.guard, 0, struct.unpack_from("=q", self.guard, 0)[0] + 1)
            count[2] += struct.unpack_from("=q", self.guard, 8)[0] != me

    def begin(self):
        """The counts of a worker: pairs in time, all pairs, overlaps, errors."""
        count = [0, 0, 0, 0]
        self.counts.append(count)
        return count

    def done(self, count):
        count[1] += 1
        count[0] += self.goes_on()

    def failed(self, count, error):
        count[3] += 1
        print(f"redis-py: {type(error).__name__}: {error}", file=sys.stderr)

    def tell(self):
        sums = [sum(column) for column in zip(*self.counts)]
        print("pairs={} total={} overlaps={} errors={}".format(*sums), flush=True)


class Threads:
    """Each worker is a thread; the pool has a connection for each."""

    def __init__(self, url):
        self.client = redis.Redis.from_url(url)

    def work(self, piece, index):
        count = piece.begin()
        lock = self.client.lock(piece.name(index), timeout=LEASE_S, sleep=SLEEP_S)
        try:
            while piece.goes_on():
                lock.acquire()
                piece.be_inside(index, count)
                lock.release()
                piece.done(count)
        except Exception as error:  # the driver is told, whatever it is
            piece.failed(count, error)

    def run(self, piece, in_flight):
        threads = [threading.Thread(target=self.work, args=(piece, i)) for i in range(in_flight)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


class Tasks:
    """Each worker is a task of one event loop."""

    def __init__(self, url):
        self.loop = asyncio.new_event_loop()
        self.client = redis.asyncio.Redis.from_url(url)

    async def work(self, piece, index):
        count = piece.begin()
        # Tasks share a thread, so what is kept for each thread is kept in the lock here.
        lock = self.client.lock(piece.name(index), timeout=LEASE_S, sleep=SLEEP_S,
                                thread_local=False)
        try:
            while piece.goes_on():
                await lock.acquire()
                piece.be_inside(index, count)
                await lock.release()
                piece.done(count)
        except Exception as error:
            piece.failed(count, error)

    async def work_all(self, piece, in_flight):
        await asyncio.gather(*(self.work(piece, i) for i in range(in_flight)))

    def run(self, piece, in_flight):
        self.loop.run_until_complete(self.work_all(piece, in_flight))


def main():
    setting, servers, prefix, path = sys.argv[1:]
    workers = {"threads": Threads, "asyncio": Tasks}[setting](servers)
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as guard:
        print("ready", flush=True)
        for line in sys.stdin:
            mode, in_flight, duration_ms = line.split()
            piece = Slice(guard, prefix, mode == "hot", int(duration_ms))
            workers.run(piece, int(in_flight))
            piece.tell()


main()
