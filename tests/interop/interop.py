# SPDX-License-Identifier: MIT
"""interop.py -- tests the locks of this library together with those of Redisson and redis-py, in
both directions, and prints TAP.

    interop.py JAVA-CLASSPATH C-PEER [PATTERN]

The servers are those of the laboratory whose env file was read. PATTERN chooses lines
of the report, as a shell pattern. If SECKILL_REDIS_URL is the address of a Redis Cluster, the
kinds of lock without `in_cluster` are left out. tests/interop/run starts this program."""

import fnmatch
import os
import sys
import traceback

from behaviours import Case
from cluster_redis import is_cluster
from kinds import KINDS
from rig import Failed, Rig

WATCHDOG_MS = 1500  # short, so that renewals and the ends of leases come soon


def lines(pattern, url):
    """Yield the cases: the text, the kind, the names of the two programs, the behaviour."""
    for kind in KINDS:
        if is_cluster(url) and not kind.in_cluster:
            continue
        for a, b in kind.directions():
            for behaviour in kind.behaviours(a, b):
                said = behaviour.__doc__.splitlines()[0].format(a=a, b=b)
                text = f"{kind.name}: {said}"
                if fnmatch.fnmatchcase(text, pattern):
                    yield text, kind, a, b, behaviour


def main():
    classpath, peer = sys.argv[1:3]
    url = os.environ["SECKILL_REDIS_URL"]
    nodes = os.environ["SECKILL_REDLOCK_URLS"]
    here = os.path.dirname(os.path.abspath(__file__))
    urls = [url, nodes, str(WATCHDOG_MS)]
    rig = Rig(
        url,
        nodes,
        {
            "java": ["java", "-Xshare:auto", "-cp", classpath, "Peer", *urls],
            "c": [peer, *urls],
            "python": [sys.executable, os.path.join(here, "peer.py"), url],
        },
    )
    chosen = list(lines(sys.argv[3] if len(sys.argv) > 3 else "*", url))
    failed = 0
    print(f"1..{len(chosen)}", flush=True)
    for number, (text, kind, a, b, behaviour) in enumerate(chosen, 1):
        try:
            behaviour(Case(rig, kind, a, b))
            print(f"ok {number} - {text}", flush=True)
        except Exception as error:
            failed += 1
            if not isinstance(error, Failed):
                traceback.print_exc()
            print(f"# {error}\nnot ok {number} - {text}", flush=True)
            for peer_name in (a, b):  # a thread that still waits would disturb the next case
                rig.peer(peer_name).restart()
    versions = ", ".join(f"{p.name} {p.version}" for p in rig.peers.values())
    print(f"# tested together: {versions}; {len(chosen) - failed} of {len(chosen)}")
    rig.close()
    sys.exit(1 if failed or not chosen else 0)


main()
