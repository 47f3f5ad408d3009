# SPDX-License-Identifier: MIT
"""handover.py -- two processes of this library hand a lock over inside, while Redisson contends for it.

    handover.py JAVA-CLASSPATH C-PEER RECORD-DIR [HOLDS]

First Redisson inspects the fair lock while a process of this library hands it over from thread to thread: Redisson
sees one owner with one level, and its own request is granted after that process has released the lock. Then two of our processes and Redisson contend for NAMES (8) locks, with
connections cut and the server paused, until HOLDS (2000000) of ours are made. All three map
one file. Each section says there that it is inside, so that a second holder is seen, and
reads a number and writes the next, so that two holders at once lose a count. `seckill check`
judges what our processes recorded in RECORD-DIR afterwards; tests/interop/run calls it.

The faults come FAULT_EVERY_MS (250) apart. HANDOVER (64) is how often a lock is handed over
after a grant of Redis."""

import os
import random
import struct
import sys
import tempfile
import threading

from cluster_redis import servers_of
from rig import Failed, PeerSet, expect, until

HANDOVER = int(os.environ.get("HANDOVER", "64"))
NAMES = int(os.environ.get("NAMES", "8"))
THREADS = 4 * NAMES
JAVA_THREADS = NAMES
PLACE_BYTES = 64  # of a name in the file: holders that are inside, sections so far
ROUND_MS = 10000
FAULT_S = float(os.environ.get("FAULT_EVERY_MS", "250")) / 1000
PAUSE_MS = 20
LOCK_COMMANDS = ("evalsha", "eval", "subscribe", "unsubscribe", "ssubscribe", "sunsubscribe")


def redisson_sees_one_owner(peers):
    java, c = peers.peer("java"), peers.peer("slow")
    name = peers.name()
    words = {"kind": "fair", "name": name}

    def look():
        return java.tell("look", **words).expect("ok")

    def waiting():
        return peers.redis.llen(f"redisson_lock_queue:{{{name}}}")

    def line_up(thread, place):
        """The thread stands in the line of its process, at that place."""
        pending = c.begin("lock", thread=thread, wait=-1, lease=0, **words)
        until(
            lambda: c.tell("line", **words).expect("ok").number("count") == place,
            f"{thread} in the line of its process",
        )
        return pending

    def pass_on(thread):
        return c.tell("unlock", thread=thread, **words).expect("ok")

    first = c.tell("lock", thread="a", wait=-1, lease=0, **words).expect("ok")
    next_ones = [line_up("b", 1), line_up("c", 2)]
    other = java.begin("lock", thread="x", wait=-1, lease=0, **words)
    until(lambda: waiting() >= 1, "Redisson in the queue")
    owner = first.values["owner"]
    for thread, pending in zip("ab", next_ones):
        expect(look().number("locked") == 1, "Redisson finds the lock free")
        expect(peers.redis.hgetall(name) == {owner: "1"}, "one owner with one level")
        pass_on(thread)
        got = pending.expect("ok")
        expect(got.values["owner"] == owner, f"{got.values['owner']} and {owner}")
        expect(not other.is_done(), "Redisson got a lock that is held")
    pass_on("c")
    other.expect("ok")
    expect(list(peers.redis.hgetall(name)) != [owner], "the owner is still the first")
    java.tell("unlock", thread="x", **words).expect("ok")


class Faults:
    """Cuts a connection of ours that carries locks, or lets a server stand still."""

    def __init__(self, redis):
        self.servers = servers_of(redis)
        self.count = 0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.ended.wait(FAULT_S):
            server = random.choice(self.servers)
            ours = [
                one
                for one in server.client_list()
                if one["name"] == "" and one["cmd"] in LOCK_COMMANDS
            ]
            self.count += 1
            if self.count % 3 == 0 or not ours:
                server.client_pause(PAUSE_MS)
            else:
                server.client_kill_filter(_id=random.choice(ours)["id"])

    def end(self):
        self.ended.set()
        self.thread.join()


def counted_in(places):
    """How many sections the file has counted; nobody is inside now."""
    places.seek(0)
    each = list(struct.iter_unpack(f"=qq{PLACE_BYTES - 16}x", places.read()))
    expect(all(inside == 0 for inside, _ in each), "a section has not ended")
    return sum(count for _, count in each)


def contend(peers, wanted, places):
    """Our holds, Redisson's, and the faults."""
    words = {
        "kind": "fair",
        "name": peers.name(),
        "number": "-",
        "places": places.name,
        "names": NAMES,
        "sectionus": 0,
        "ms": ROUND_MS,
    }
    ours, theirs = 0, 0
    places.truncate(NAMES * PLACE_BYTES)
    faults = Faults(peers.redis)
    try:
        while ours < wanted:
            begun = [
                peers.peer(n).begin("contend", threads=THREADS, faults=1, **words)
                for n in ("c1", "c2")
            ]
            begun.append(peers.peer("java").begin("contend", threads=JAVA_THREADS, **words))
            for pending in begun:
                while not pending.is_done():
                    faults.ended.wait(0.1)
            grants = [pending.expect("ok").number("grants") for pending in begun]
            ours, theirs = ours + sum(grants[:2]), theirs + grants[2]
            counted = counted_in(places)
            expect(ours + theirs == counted, f"{ours + theirs} grants, a number of {counted}")
            print(f"# {ours} holds of ours, {theirs} of Redisson's", flush=True)
    finally:
        faults.end()
    return ours, theirs, faults.count


def main():
    classpath, peer, records = sys.argv[1:4]
    wanted = int(sys.argv[4]) if len(sys.argv) > 4 else 2000000
    urls = [os.environ["SECKILL_REDIS_URL"], os.environ["SECKILL_REDLOCK_URLS"], "30000"]
    ours = [peer, *urls, str(HANDOVER), records]
    peers = PeerSet(
        urls[0],
        {
            "java": ["java", "-Xshare:auto", "-cp", classpath, "Peer", *urls],
            "c1": ours,
            "c2": ours,
            "slow": [*ours, "slow"],
        },
    )
    failed = 0

    def case(number, text, run):
        nonlocal failed
        try:
            told = run()
            print(f"ok {number} - {text}", flush=True)
            if told:
                print("# {} holds of ours, {} of Redisson's, {} faults".format(*told))
        except Failed as error:
            failed += 1
            print(f"# {error}\nnot ok {number} - {text}", flush=True)

    print("1..2", flush=True)
    case(1, "Redisson sees one owner", lambda: redisson_sees_one_owner(peers))
    with tempfile.NamedTemporaryFile(buffering=0) as places:
        case(
            2,
            f"{wanted} holds beside Redisson lose no count",
            lambda: contend(peers, wanted, places),
        )
    for name in ("c1", "c2", "slow"):
        if name in peers.peers:  # with its input it closes its record
            process = peers.peers[name].process
            process.stdin.close()
            process.wait()
    peers.close()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
