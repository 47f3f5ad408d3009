#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""plan.py [--rounds=5] [--seconds=6] [--vouchers=8] [--points=FILE] [--markdown=FILE] -- orders per second at 1, 2 and 4
partitions, with 1 and 2 replicas, beside what `seckill plan` predicts from four of these points.

The point of one partition and one replica gives the cost of an order.  Each of three other points gives one more cost:
twice the vouchers, with half the orders in a transaction, the cost of a transaction; two replicas the cost of a replica;
two partitions the cost of spreading orders over databases.

Each number of partitions has a laboratory of its own, whose PostgreSQL has one database for each partition.  The same load
goes to each in turn, round after round, so that a busy machine slows all of them alike; the figures are medians.  The
processor time of an order is that of all processes of the run: seckilld, wrk, Redis and PostgreSQL.  It is measured
while wrk runs, and so without the start and the audit.

Exit status: 0 if every audit was valid, else 1.
"""
import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

SECKILL = os.environ.get("SECKILL", "build/seckill")
# Partitions, replicas, and the factor of the number of vouchers.  The first four points predict the others.
CASES = ((1, 1, 1), (1, 1, 2), (1, 2, 1), (2, 1, 1), (2, 2, 1), (4, 1, 1), (4, 2, 1))
# More users than any run has orders, because wrk needs a user who has not bought yet for each order.
CONNECTIONS, USERS, TICKS = 64, 200000, os.sysconf("SC_CLK_TCK")
WARM_UP_S, LOOK_S = 1.5, 0.1
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


def family():
    """The children of each process of the machine."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8") as file:
                    parent = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                continue
            found.setdefault(parent, []).append(int(name))
    return found


def descendants_of(pid, children):
    return [pid] + [below for child in children.get(pid, []) for below in descendants_of(child, children)]


def is_wrk(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
            return file.read().strip() == "wrk"
    except OSError:
        return False


class Laboratory:
    """A laboratory with the given number of partitions."""

    def __init__(self, folder, partitions):
        self.dir, self.out = f"{folder}/lab-{partitions}", f"{folder}/runs-{partitions}"
        up = run(SECKILL, "lab", "up", f"--dir={self.dir}", f"--partitions={partitions}")
        if up.returncode:
            sys.exit(up.stdout)
        seeded = run(SECKILL, "seed", f"--dir={self.dir}", f"--users={USERS}")
        if seeded.returncode:
            sys.exit(seeded.stdout)
        with open(f"{self.dir}/state.json", encoding="utf-8") as file:
            pids = {server["name"]: server["pid"] for server in json.load(file)["servers"]}
        self.postgres, self.redis = pids["postgres"], pids["redis"]

    def look(self, load):
        """The time, the processor time of a load with its servers, and that of the machine; None unless wrk runs."""
        children = family()
        clients = descendants_of(load, children)
        if not any(is_wrk(pid) for pid in clients):
            return None
        # A backend that has ended is its parent's child.
        own = sum(processor_s(pid) for pid in clients + descendants_of(self.postgres, children)[1:] + [self.redis])
        return time.monotonic(), own + processor_s(self.postgres, with_children=True), *machine()

    def down(self):
        run(SECKILL, "lab", "down", f"--dir={self.dir}")


def watch(lab, load):
    """The first look once wrk has warmed up, and the last one while it runs."""
    first = last = begun = None
    while load.poll() is None:
        look = lab.look(load.pid)
        if look:
            begun = begun or look[0]
            first = first or (look if look[0] - begun > WARM_UP_S else None)
            last = look
        time.sleep(LOOK_S)
    return first, last


def measure(lab, case, args):
    """One load: a point of `seckill plan`."""
    partitions, replicas, factor = case
    vouchers = args.vouchers * factor
    command = [SECKILL, "load", f"--dir={lab.dir}", f"--out={lab.out}", f"--processes={replicas}", f"--connections={CONNECTIONS}",
               f"--vouchers={vouchers}", "--stock=1000000", f"--duration={args.seconds}s", "--quiet", "--",
               "--duplicate-guard=unique", "--workers=256"]
    with tempfile.TemporaryFile("w+") as out, subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT) as load:
        first, last = watch(lab, load)
        out.seek(0)
        said = out.read()
    rate = RATE.search(said)
    if load.returncode or not rate or not first or last[0] <= first[0]:
        sys.exit(f"{case}: exit {load.returncode}\n{said}")
    elapsed, own, busy, idle = (after - before for before, after in zip(first, last))
    per_s = float(rate.group(1))
    return {"partitions": partitions, "replicas": replicas, "vouchers": vouchers, "connections": CONNECTIONS,
            "orders_per_s": per_s, "cpu_us": own / elapsed / per_s * 1e6, "own_cores": own / elapsed, "idle_cores": idle / elapsed,
            "others_cores": max(0.0, (busy - own) / elapsed)}


def median_of(points):
    return {key: statistics.median(point[key] for point in points) for key in points[0]}


def name_the_measurement(path, load):
    """The page names the command that was called, and the load of the machine before it measured."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    command = " ".join(["python3", "tests/proof/plan.py", *sys.argv[1:]])
    text = re.sub(r"^\| load before \| [0-9.]+", f"| load before | {load:.1f}", text, count=1, flags=re.M)
    text = re.sub(r"^\| command \| .*", lambda _: f"| command | `{command}` |", text, count=1, flags=re.M)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the servers end, too
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=6)
    parser.add_argument("--vouchers", type=int, default=8)
    parser.add_argument("--points", default="runs/plan-points.json")
    parser.add_argument("--markdown")
    args = parser.parse_args()
    load = os.getloadavg()[0]
    folder = tempfile.mkdtemp(prefix="seckill-plan-")
    labs, points = {}, {case: [] for case in CASES}
    try:
        for partitions in sorted({case[0] for case in CASES}):
            labs[partitions] = Laboratory(folder, partitions)
        for number in range(args.rounds):
            for case in CASES:
                point = measure(labs[case[0]], case, args)
                points[case].append(point)
                print(f"round {number + 1}: {case[0]} partitions, {case[1]} replicas, {point['vouchers']} vouchers: "
                      f"{point['orders_per_s']:.0f} orders/s, {point['cpu_us']:.0f} us each", flush=True)
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
    status = subprocess.run(command, check=False).returncode
    if args.markdown and status == 0:
        name_the_measurement(args.markdown, load)
    return status


if __name__ == "__main__":
    sys.exit(main())
