# SPDX-License-Identifier: MIT
"""handover.py -- two processes of this library hand locks over internally, while Redisson contends.

    handover.py JAVA-CLASSPATH C-PEER RECORD-DIR [HOLDS]

First Redisson inspects the fair lock while a process of this library hands it over from thread to
thread: Redisson sees one owner with one level, and its own request is granted after that process
has released the lock. Then two processes of this library and one of Redisson contend for NAMES (8)
locks, while connections are cut and servers are paused, until this library has made HOLDS (2000000)
holds. All three processes map one file. Each section increments the number of holders in the file,
which reveals a second holder, and reads a count and writes the next, so two holders at once lose a
count. Afterwards tests/interop/run lets `seckill check` judge the records in RECORD-DIR.

FAULT_EVERY_MS (250) is the time between two faults. HANDOVER (64) is the largest number of times
that a lock is handed over after one grant of Redis."""

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
PLACE_BYTES = 64  # for each name in the file: the number of holders and the number of sections
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
        """Start a waiter, and return when it has this place in the line of its process."""
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
        expect(look().number("locked") == 1, "Redisson sees a free lock")
        expect(peers.redis.hgetall(name) == {owner: "1"}, "not one owner with one level")
        pass_on(thread)
        got = pending.expect("ok")
        expect(got.values["owner"] == owner, f"{got.values['owner']} and {owner}")
        expect(not other.is_done(), "Redisson was granted a lock that is held")
    pass_on("c")
    other.expect("ok")
    expect(list(peers.redis.hgetall(name)) != [owner], "the owner is still the first")
    java.tell("unlock", thread="x", **words).expect("ok")


class Faults:
    """Closes a connection of this library that carries lock commands, or pauses a server."""

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
    """Return the number of sections in the file, and expect that no section is in progress."""
    places.seek(0)
    each = list(struct.iter_unpack(f"=qq{PLACE_BYTES - 16}x", places.read()))
    expect(all(inside == 0 for inside, _ in each), "a section has not ended")
    return sum(count for _, count in each)


def contend(peers, wanted, places):
    """Return the number of holds of this library, of holds of Redisson, and of faults."""
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
        if name in peers.peers:  # a peer closes its record when its input ends
            process = peers.peers[name].process
            process.stdin.close()
            process.wait()
    peers.close()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
