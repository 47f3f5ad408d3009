# SPDX-License-Identifier: MIT
"""contention.py -- measures the shares of the grants of one lock that equally many threads of this
library and of Redisson get.

    contention.py JAVA-CLASSPATH C-PEER [ROUNDS]

For ROUND_MS, both programs run THREADS threads that acquire the lock, increment a number in Redis
by a GET and a SET, with a sleep of SECTIONS_US between the two, and release the lock. On a Redis
Cluster the number is in a file that both programs map. Each round measures both programs together
and each program alone. The program prints TAP: a kind passes when no count was lost and the median
of Redisson's shares is at least SHARE_LEAST. Two totals are printed with each share: the measured
total, and the total if a grant that passes from one program to the other cost no extra time. The
second total is computed from the share and from the rates of each program alone."""

import os
import statistics
import sys
import tempfile
import time

from cluster_redis import is_cluster
from handover import PLACE_BYTES, counted_in
from rig import PeerSet, expect, Failed, until

KINDS = ("plain", "fenced", "write")
SECTIONS_US = (0, 1000)
THREADS = 16
ROUND_MS = 1500
WARM_MS = 3000
SHARE_LEAST = 0.10
# On a Redis Cluster a waiter of Redisson's write lock can miss the message that wakes it, also if
# Redisson contends alone.  The waiter then waits for the lease of 30 s, and may miss the next
# message, too.
LEASE_S = 30
JAVA_PATIENCE_S = 10 * LEASE_S


class Contention:
    """The two programs on one kind of lock."""

    def __init__(self, peers, kind, section_us, places):
        self.peers = peers
        self.kind = kind
        self.section_us = section_us
        self.places = places  # the file with the numbers; None: the number is in Redis

    def contend(self, names, ms=ROUND_MS):
        """Let these programs contend, and return the answer of each."""
        name = self.peers.name()
        words = {
            "kind": self.kind,
            "name": name,
            "number": f"{name}number",
            "sectionus": self.section_us,
        }
        if self.places:
            words.update(places=self.places.name, names=1)
            self.places.truncate(0)
            self.places.truncate(PLACE_BYTES)
        begun = {
            n: self.peers.peer(n).begin("contend", threads=THREADS, ms=ms, **words)
            for n in names
        }
        begun_s = time.monotonic()
        if "c" in begun:
            until(begun["c"].is_done, "the end of our contention")
        if "java" in begun:
            until(begun["java"].is_done, "the end of Redisson's contention", JAVA_PATIENCE_S)
        took_s = time.monotonic() - begun_s
        if took_s > LEASE_S:
            print(f"# {' and '.join(names)}: {took_s:.1f} s instead of {ms / 1000} s", flush=True)
        answers = {n: pending.expect("ok") for n, pending in begun.items()}
        granted = sum(a.number("grants") for a in answers.values())
        counted = self.counted(words["number"])
        expect(granted == counted, f"{granted} grants and a number of {counted}")
        return answers

    def counted(self, number):
        if self.places:
            return counted_in(self.places)
        counted = int(self.peers.redis.get(number))
        self.peers.redis.delete(number)
        return counted

    def measure(self, rounds):
        self.contend(("java",), WARM_MS)
        together, alone = [], {"java": [], "c": []}
        for _ in range(rounds):
            together.append(self.contend(("java", "c")))
            for name, rates in alone.items():
                answer = self.contend((name,))[name]
                rates.append(rate(answer.number("grants")))
        return self.report(together, {n: statistics.median(r) for n, r in alone.items()})

    def report(self, together, alone):
        """Print the figures, and return the median of Redisson's shares."""
        totals = [rate(sum(a.number("grants") for a in one.values())) for one in together]
        shares = [
            one["java"].number("grants") / sum(a.number("grants") for a in one.values())
            for one in together
        ]
        share = statistics.median(shares)
        ideal = 1 / (share / alone["java"] + (1 - share) / alone["c"])
        wait_ms = {
            n: statistics.median(one[n].number("p99us") for one in together) / 1000
            for n in alone
        }
        print(
            f"# {self.kind:7} {self.section_us:4} us: Redisson's share {share:.2f} ({min(shares):.2f} to "
            f"{max(shares):.2f}); {statistics.median(totals):.0f} grants/s, "
            f"{ideal:.0f} if changing sides were free (alone: Redisson "
            f"{alone['java']:.0f}, ours {alone['c']:.0f}); p99 of the waits: Redisson "
            f"{wait_ms['java']:.0f} ms, ours {wait_ms['c']:.0f} ms",
            flush=True,
        )
        return share


def rate(grants):
    return grants * 1000 / ROUND_MS


def main():
    classpath, peer = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    urls = [os.environ["SECKILL_REDIS_URL"], os.environ["SECKILL_REDLOCK_URLS"], "30000"]
    peers = PeerSet(
        urls[0],
        {
            "java": ["java", "-Xshare:auto", "-cp", classpath, "Peer", *urls],
            "c": [peer, *urls],
        },
    )
    failed = 0
    places = tempfile.NamedTemporaryFile(buffering=0) if is_cluster(urls[0]) else None
    cases = [(kind, us) for us in SECTIONS_US for kind in KINDS]
    print(f"1..{len(cases)}", flush=True)
    for number, (kind, section_us) in enumerate(cases, 1):
        text = (
            f"{kind}, sections that sleep {section_us} us: as many threads of each, no count lost, "
            f"Redisson's share at least {SHARE_LEAST}"
        )
        try:
            share = Contention(peers, kind, section_us, places).measure(rounds)
            expect(share >= SHARE_LEAST, f"a share of {share:.2f}")
            print(f"ok {number} - {text}", flush=True)
        except Failed as error:
            failed += 1
            print(f"# {error}\nnot ok {number} - {text}", flush=True)
    peers.close()
    sys.exit(1 if failed else 0)


main()
