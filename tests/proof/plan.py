#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""plan.py [--rounds=3] [--seconds=5] [--vouchers=8] [--points=FILE] [--markdown=FILE] -- orders per second at 1, 2 and 4
partitions, and with 2 replicas, beside what `seckill plan` predicts from the first.

Each number of partitions has a laboratory of its own, whose PostgreSQL has so many databases.  The same load goes to
each in turn, round after round, so that a busy machine troubles all of them alike; the figures are medians.  The
processor time of an order is that of all processes of the run: seckilld, wrk, Redis and PostgreSQL.

Exit status: 0 if every audit was valid, else 1.
"""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SECKILL = os.environ.get("SECKILL", "build/seckill")
CASES = ((1, 1), (2, 1), (4, 1), (4, 2))  # partitions, replicas
CONNECTIONS, TICKS = 64, os.sysconf("SC_CLK_TCK")
RATE = re.compile(r"^([0-9]+) accepted orders per second", re.M)


def run(*command):
    return subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def machine():
    """Busy and idle seconds of all processors so far."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, idle, iowait, irq, softirq, steal = (int(n) for n in file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / TICKS, (idle + iowait) / TICKS


def processor_s(pid, with_children=False):
    """Seconds of processor of a process, with those of the children that it has waited for."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(int(n) for n in fields[11:15 if with_children else 13]) / TICKS


def children_of(pid):
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8") as file:
                    if int(file.read().rpartition(")")[2].split()[1]) == pid:
                        found.append(int(name))
            except OSError:
                pass
    return found


class Laboratory:
    """A laboratory with so many partitions."""

    def __init__(self, folder, partitions):
        self.dir, self.out = f"{folder}/lab-{partitions}", f"{folder}/runs-{partitions}"
        up = run(SECKILL, "lab", "up", f"--dir={self.dir}", f"--partitions={partitions}")
        if up.returncode:
            sys.exit(up.stdout)
        with open(f"{self.dir}/state.json", encoding="utf-8") as file:
            pids = {server["name"]: server["pid"] for server in json.load(file)["servers"]}
        self.postgres, self.redis = pids["postgres"], pids["redis"]

    def servers_s(self):
        """What Redis and PostgreSQL have used; a backend that has ended is its parent's child."""
        backends = sum(processor_s(pid) for pid in children_of(self.postgres))
        return processor_s(self.redis) + processor_s(self.postgres, with_children=True) + backends

    def down(self):
        run(SECKILL, "lab", "down", f"--dir={self.dir}")


def measure(lab, partitions, replicas, args):
    """One load: a point of `seckill plan`."""
    busy, idle = machine()
    servers, begun = lab.servers_s(), time.monotonic()
    before = os.times()
    said = run(SECKILL, "load", f"--dir={lab.dir}", f"--out={lab.out}", f"--processes={replicas}", f"--connections={CONNECTIONS}",
               f"--vouchers={args.vouchers}", "--stock=1000000", f"--duration={args.seconds}s", "--quiet", "--",
               "--duplicate-guard=unique", "--workers=256")
    after, elapsed = os.times(), time.monotonic() - begun
    rate = RATE.search(said.stdout)
    if said.returncode or not rate:
        sys.exit(f"{partitions} partitions: exit {said.returncode}\n{said.stdout}")
    own = (after.children_user + after.children_system - before.children_user - before.children_system
           + lab.servers_s() - servers)
    now_busy, now_idle = machine()
    orders = int(re.search(r"VALID: issued \d+, orders (\d+)", said.stdout).group(1))
    return {"partitions": partitions, "replicas": replicas, "orders_per_s": float(rate.group(1)), "cpu_us": own / orders * 1e6,
            "idle_cores": (now_idle - idle) / elapsed, "others_cores": max(0.0, (now_busy - busy - own) / elapsed)}


def median_of(points):
    return {key: statistics.median(point[key] for point in points) for key in points[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--vouchers", type=int, default=8)
    parser.add_argument("--points", default="runs/plan-points.json")
    parser.add_argument("--markdown")
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="seckill-plan-")
    labs, points = {}, {case: [] for case in CASES}
    try:
        for partitions in sorted({partitions for partitions, _ in CASES}):
            labs[partitions] = Laboratory(folder, partitions)
        for number in range(args.rounds):
            for case in CASES:
                points[case].append(measure(labs[case[0]], *case, args))
                print(f"round {number + 1}: {case[0]} partitions, {case[1]} replicas: "
                      f"{points[case][-1]['orders_per_s']:.0f} orders/s", flush=True)
    finally:
        for lab in labs.values():
            lab.down()
        shutil.rmtree(folder)
    os.makedirs(os.path.dirname(args.points) or ".", exist_ok=True)
    with open(args.points, "w", encoding="utf-8") as file:
        json.dump([median_of(points[case]) for case in CASES], file, indent=1)
    command = [SECKILL, "plan", f"--points={args.points}"]
    if args.markdown:
        command.append(f"--markdown={args.markdown}")
    print(flush=True)
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
