#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""cluster_speed.py [--rounds=41] [--milliseconds=250] [--one=8] [--many=8,64] [--lock=reentrant]
                 [--markdown=FILE]

How fast are locks in a Redis Cluster of three masters, beside the same locks on one Redis server?

The program starts three nodes without replicas, and a server that belongs to no cluster.  build/tests/topology/address_pairs then
takes and gives back locks through both addresses in turn: in each round each address for that many milliseconds.
`--one` is the number of threads that all take the same lock, which one node of the cluster has.  `--many` are the
numbers of threads that have names of their own, which are spread over the nodes.  The ratio of a round is that of the
two rates in it.  The table has the median of the rounds, and the interval in which the true median lies with at
least 95 %: on a loaded machine it is wide.

Exit status: 0 each median is at least its target, 1 a call failed, 3 a median is below it, or was not told apart
from it.
"""
import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from addresses import judge, measure  # pylint: disable=wrong-import-position
from cluster_changes import Cluster  # pylint: disable=wrong-import-position
from failovers import Page, free_ports, soon  # pylint: disable=wrong-import-position

TARGET_OF_ONE, TARGET_OF_MANY = 0.9, 0.8


def start_alone(cluster, folder):
    """Start a Redis server outside the cluster; return its port."""
    [port] = free_ports(1)
    cluster.children[port] = subprocess.Popen(
        ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""],
        stdout=subprocess.DEVNULL)
    soon("the server answers", lambda: "PONG" in cluster.ask(port, "PING"))
    return port


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the servers end, too
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=2)[1])
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--milliseconds", type=int, default=250)
    parser.add_argument("--one", default="8")
    parser.add_argument("--many", default="8,64")
    parser.add_argument("--lock", default="reentrant")
    parser.add_argument("--markdown", metavar="FILE", help="write what is printed as a page, too")
    options = parser.parse_args()
    page = Page(options.markdown, "Locks in a Redis Cluster beside one server", __doc__,
                ["python3", "tests/proof/cluster_speed.py", *sys.argv[1:]])
    cases = [("one", int(count), TARGET_OF_ONE) for count in options.one.split(",") if count]
    cases += [("own", int(count), TARGET_OF_MANY) for count in options.many.split(",") if count]
    folder = tempfile.mkdtemp(prefix="seckill-cluster-speed-")
    cluster, missed = None, 0
    try:
        cluster = Cluster(folder, replicas=0)
        cluster.form()
        addresses = (f"redis://127.0.0.1:{start_alone(cluster, folder)}",
                     cluster.address())
        page.say(f"| {options.lock} | one server, pairs/s | three nodes, pairs/s | ratio, median of {options.rounds} | "
                 "95 % interval | target |\n|---|---|---|---|---|---|")
        for names, thread_count, target in cases:
            alone, rate, ratio, low, high = measure(options, thread_count, names, addresses)
            missed += ratio < target
            page.say(f"| {thread_count} threads, {'one name' if names == 'one' else 'a name each'} | {alone} | {rate} | "
                     f"{ratio:.3f} | {low} to {high} | at least {target}: {judge(ratio, high, target)} |")
    finally:
        if cluster:
            cluster.end()
        shutil.rmtree(folder, ignore_errors=True)
    page.write()
    return 3 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
