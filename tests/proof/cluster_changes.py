#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""cluster_changes.py [--times=8] [--lock=reentrant] [--markdown=FILE] -- changes of a Redis Cluster under order load.

Each try has a cluster of its own, three masters with a replica each and cluster-node-timeout 2000 ms, and a
laboratory whose `seckill load` sells 300 orders a second of one voucher, whose lock all of them need.  The master
that has this lock is killed, stopped, or replaced by CLUSTER FAILOVER, or the slot of the lock moves to another
master and back five times, in turn.  The table says for each try when a node that took no part named the new master,
how much later the database got the next order, how many scripts the old master ran from a second after the new
name on (it is started or continued for that), how many requests were answered with a 5xx, and what the audit says.

Exit status: 0 every try kept the limits (orders resume within a second of the new name, no script on the old
master, a valid audit, and no 5xx while slots move), 1 one did not.
"""
import argparse
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from failovers import ORDERS_BEFORE, RESUME_S, WATCH_OLD_S, Page, Sale, free_ports, soon

WAYS = ("kill", "stop", "failover", "reshard")
MASTERS, NODE_TIMEOUT_MS, MOVES = 3, 2000, 5
LOCK = "lock:voucher:1"
FLAGS = ("--lock-scope=voucher", "--lock-wait=3s")


class Cluster:
    """Three masters, each with `replicas` replicas.  A node is named by its port."""

    def __init__(self, folder, replicas=1):
        self.folder, self.children, self.replicas = folder, {}, replicas
        node_count = MASTERS * (1 + replicas)
        ports = free_ports(2 * node_count)
        self.ports = ports[:node_count]
        self.buses = dict(zip(self.ports, ports[node_count:]))
        self.slot = None

    def form(self):
        """Start the nodes, make them a cluster, and wait until every node sees a complete cluster."""
        for port in self.ports:
            self.start(port)
        for port in self.ports:
            soon("nodes answer", lambda port=port: "PONG" in self.ask(port, "PING"))
        places = [f"127.0.0.1:{port}" for port in self.ports]
        subprocess.run(["redis-cli", "--cluster", "create", *places, "--cluster-replicas", str(self.replicas),
                        "--cluster-yes"],
                       check=True, stdout=subprocess.DEVNULL)
        self.slot = int(self.ask(self.ports[0], "CLUSTER", "KEYSLOT", LOCK))
        for port in self.ports:
            soon("a cluster that stands", lambda port=port: self.is_whole(port))

    def start(self, port):
        words = {"port": port, "bind": "127.0.0.1", "dir": self.folder, "save": "", "cluster-enabled": "yes",
                 "cluster-port": self.buses[port], "cluster-node-timeout": NODE_TIMEOUT_MS,
                 "cluster-config-file": f"{port}.nodes", "repl-diskless-sync-delay": 0}
        flags = [text for key, value in words.items() for text in (f"--{key}", str(value))]
        self.children[port] = subprocess.Popen(["redis-server", *flags], stdout=subprocess.DEVNULL)

    def ask(self, port, *words):
        """The node's answer; "" if there is none within a second."""
        command = ["timeout", "1", "redis-cli", "-p", str(port), *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()

    def is_whole(self, port):
        return "cluster_state:ok" in self.ask(port, "CLUSTER", "INFO") and (
            "role:master" in (told := self.ask(port, "INFO", "replication")) or "master_link_status:up" in told)

    def nodes(self, port):
        """For each node, as the asked node lists them: id, port, the id of its master or "-", its slots."""
        for line in self.ask(port, "CLUSTER", "NODES").splitlines():
            node, place, _, master, _, _, _, _, *slots = line.split()
            yield node, int(re.search(r":(\d+)", place).group(1)), master, slots

    def owner(self, asked):
        """The node that has the slot of the lock, as the asked node lists it; None: the list has no such node."""
        for _, port, _, slots in self.nodes(asked):
            for text in slots:
                first, _, last = text.partition("-")
                if first.isdigit() and int(first) <= self.slot <= int(last or first):
                    return port
        return None

    def replica(self, master):
        ids = {port: node for node, port, _, _ in self.nodes(master)}
        return next(port for _, port, its_master, _ in self.nodes(master) if its_master == ids[master])

    def bystander(self, master):
        """Another master."""
        return next(port for _, port, its_master, _ in self.nodes(master) if its_master == "-" and port != master)

    def move(self, source, target):
        """The slot of the lock, with its keys."""
        ids = {port: node for node, port, _, _ in self.nodes(target)}
        self.must(target, "CLUSTER", "SETSLOT", self.slot, "IMPORTING", ids[source])
        self.must(source, "CLUSTER", "SETSLOT", self.slot, "MIGRATING", ids[target])
        while keys := self.ask(source, "CLUSTER", "GETKEYSINSLOT", self.slot, 100).split():
            # NOKEY: a lock was released meanwhile.
            answer = self.ask(source, "MIGRATE", "127.0.0.1", target, "", 0, 1000, "KEYS", *keys)
            if answer not in ("OK", "NOKEY"):
                sys.exit(f"cluster_changes: MIGRATE: {answer}")
        self.must(target, "CLUSTER", "SETSLOT", self.slot, "NODE", ids[target])
        self.must(source, "CLUSTER", "SETSLOT", self.slot, "NODE", ids[target])

    def must(self, port, *words):
        answer = self.ask(port, *words)
        if answer != "OK":
            sys.exit(f"cluster_changes: {' '.join(map(str, words))}: {answer}")

    def replace(self, way, master, other):
        """Let the master's place go to another node, in that way."""
        if way == "kill":
            self.children[master].kill()
        elif way == "stop":
            self.children[master].send_signal(signal.SIGSTOP)
        elif way == "failover":
            self.must(other, "CLUSTER", "FAILOVER")
        else:
            for _ in range(MOVES - 1):
                self.move(master, other)
                self.move(other, master)
            self.move(master, other)

    def bring_back(self, way, master):
        if way == "stop":
            self.children[master].send_signal(signal.SIGCONT)
        elif way == "kill":
            self.children[master].wait()
            self.start(master)

    def old_scripts(self, master):
        """The scripts that it runs for clients in the next seconds; what was sent to it while it was stopped is
        done before."""
        soon("the old master answers", lambda: "PONG" in self.ask(master, "PING"))
        soon("the old master forgets its counts", lambda: self.ask(master, "CONFIG", "RESETSTAT") == "OK")
        time.sleep(WATCH_OLD_S)
        return sum(int(calls) for calls in
                   re.findall(r"cmdstat_eval\w*:calls=(\d+)", self.ask(master, "INFO", "commandstats")))

    def address(self):
        return "redis-cluster://" + ",".join(f"127.0.0.1:{port}" for port in self.ports)

    def end(self):
        for child in self.children.values():
            child.kill()
            child.wait()


def failed_count(text):
    """Of the answers that the load counts, those that have a 5xx, as app/outcome.def says."""
    with open("app/outcome.def", encoding="utf-8") as file:
        names = re.findall(r'^OUTCOME\(\w+,\s+"([\w-]+)",\s+5\d\d,', file.read(), re.MULTILINE)
    counts = dict(re.findall(r"^  ([\w-]+) +(\d+)", text, re.MULTILINE))
    return sum(int(counts.get(name, 0)) for name in names)


def change(way, lock, folder):
    """One try: named_s, resumed_s, scripts on the old master, answers 5xx, verdict."""
    cluster = sale = None
    try:
        cluster = Cluster(folder)
        cluster.form()
        sale = Sale(folder, cluster.address(), lock, FLAGS)
        soon("orders", lambda: sale.order_count() > ORDERS_BEFORE)
        master = cluster.owner(cluster.ports[0])
        witness = cluster.bystander(master)
        other = witness if way == "reshard" else cluster.replica(master)
        begun = time.monotonic()
        cluster.replace(way, master, other)
        soon("a new master", lambda: cluster.owner(witness) == other and
             "cluster_state:ok" in cluster.ask(other, "CLUSTER", "INFO"))
        named = time.monotonic()
        before = sale.order_count()
        soon("an order after the change", lambda: sale.order_count() > before)
        resumed = time.monotonic()
        time.sleep(max(0, named + RESUME_S - time.monotonic()))
        cluster.bring_back(way, master)
        scripts = cluster.old_scripts(master)
        if way == "reshard":
            cluster.move(other, master)
        verdict = sale.end()
        return named - begun, resumed - named, scripts, failed_count(sale.text), verdict
    finally:
        if sale:
            sale.stop()
        if cluster:
            cluster.end()


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the servers end, too
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--times", type=int, default=8)
    parser.add_argument("--lock", default="reentrant")
    parser.add_argument("--markdown", metavar="FILE", help="write what is printed as a page, too")
    options = parser.parse_args()
    page = Page(options.markdown, "Changes of a Redis Cluster under orders", __doc__,
                ["python3", "tests/proof/cluster_changes.py", *sys.argv[1:]])
    kept = 0
    page.say("| try | the lock's place was changed by | named after | orders again | scripts on the old master | 5xx | audit |\n"
             "|---|---|---|---|---|---|---|")
    for number in range(options.times):
        way = WAYS[number % len(WAYS)]
        folder = tempfile.mkdtemp(prefix="seckill-cluster-")
        try:
            named_s, resumed_s, scripts, failed, verdict = change(way, options.lock, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        kept += (resumed_s <= RESUME_S and scripts == 0 and verdict == "VALID" and not (way == "reshard" and failed))
        page.say(f"| {number + 1} | {way} | {named_s:.2f} s | {resumed_s:.2f} s later | {scripts} | {failed} | {verdict} |")
    page.say(f"\n{kept} of {options.times} kept the limits.")
    page.write()
    return 0 if kept == options.times else 1


if __name__ == "__main__":
    sys.exit(main())
