#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""failovers.py [--times=20] [--lock=reentrant] -- fail-overs of a Redis master by Sentinel under order load.

Each try has servers of its own: a master, two replicas and three Sentinels with down-after 1000 ms, and a
laboratory whose `seckill load` sells through an address of the Sentinels, 300 orders a second.  The master is
killed, stopped, shut down or told to fail over, in turn.  The table says for each try when a Sentinel named
the new master, how much later the database got the next order, how many scripts the old master ran for
clients from a second after the new name on (it is started or continued for that), and what the audit says.

Exit status: 0 every try kept the limits (orders resume within a second of the new name, no script on the old
master, a valid audit), 1 one did not.
"""
import argparse
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

WAYS = ("kill", "stop", "shutdown", "failover")
RESUME_S = 1.0
WATCH_OLD_S = 3.0
PATIENCE_S = 60.0
RATE, LOAD_S, ORDERS_BEFORE = 300, 15, 500


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def soon(what, state, pause_s=0.02):
    """Wait until `state` answers something true, which is answered."""
    end = time.monotonic() + PATIENCE_S
    while not (answer := state()):
        if time.monotonic() > end:
            sys.exit(f"failovers: after {PATIENCE_S:.0f} s still not: {what}")
        time.sleep(pause_s)
    return answer


class Company:
    """A master (0), two replicas and three Sentinels (3 to 5)."""

    def __init__(self, folder):
        self.folder, self.ports = folder, [free_port() for _ in range(6)]
        self.children = [None] * 6
        for i in range(6):
            self.write(i)
            self.start(i)
        for i in (3, 4, 5):
            soon("Sentinels that know all others", lambda i=i: "slaves=2,sentinels=3" in self.ask(i, "INFO", "sentinel"))

    def write(self, i):
        lines = ["bind 127.0.0.1", f"port {self.ports[i]}", f"dir {self.folder}"]
        if i < 3:
            lines += ['save ""', "repl-diskless-sync-delay 0", f"dbfilename {i}.rdb"]
        else:
            lines += [f"sentinel monitor shop 127.0.0.1 {self.ports[0]} 2", "sentinel down-after-milliseconds shop 1000",
                      "sentinel failover-timeout shop 5000"]
        if i in (1, 2):
            lines.append(f"replicaof 127.0.0.1 {self.ports[0]}")
        with open(f"{self.folder}/{i}.conf", "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")

    def start(self, i):
        self.children[i] = subprocess.Popen(["redis-server", f"{self.folder}/{i}.conf"] + ["--sentinel"] * (i > 2),
                                            stdout=subprocess.DEVNULL)

    def ask(self, i, *words):
        """What server i answers; "" if that is nothing."""
        command = ["timeout", "1", "redis-cli", "-p", str(self.ports[i]), *words]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    def is_switched(self):
        answers = [self.ask(i, "SENTINEL", "get-master-addr-by-name", "shop").split() for i in (3, 4, 5)]
        return any(len(place) == 2 and place[1] != str(self.ports[0]) for place in answers)

    def break_master(self, way):
        if way == "kill":
            self.children[0].kill()
        elif way == "stop":
            self.children[0].send_signal(signal.SIGSTOP)
        elif way == "shutdown":
            self.ask(0, "SHUTDOWN", "NOSAVE")
        else:
            self.ask(3, "SENTINEL", "FAILOVER", "shop")

    def bring_back(self, way):
        if way == "stop":
            self.children[0].send_signal(signal.SIGCONT)
        elif way != "failover":
            self.children[0].wait()
            self.start(0)

    def old_scripts(self):
        """The scripts that the old master runs for clients in the next seconds.  What was sent to it while it
        was stopped is done before."""
        soon("the old master answers", lambda: "PONG" in self.ask(0, "PING"))
        soon("the old master forgets its counts", lambda: "OK" in self.ask(0, "CONFIG", "RESETSTAT"))
        time.sleep(WATCH_OLD_S)
        return sum(int(calls) for calls in re.findall(r"cmdstat_eval\w*:calls=(\d+)", self.ask(0, "INFO", "commandstats")))

    def address(self):
        return "redis-sentinel://" + ",".join(f"127.0.0.1:{self.ports[i]}" for i in (3, 4, 5)) + "/shop"

    def end(self):
        for child in filter(None, self.children):
            child.kill()
            child.wait()


class Sale:
    """`seckill load` on a laboratory of its own."""

    def __init__(self, folder, address, lock):
        self.lab = f"{folder}/lab"
        command = ["build/seckill", "load", f"--dir={self.lab}", f"--out={folder}/runs", f"--rate={RATE}",
                   f"--duration={LOAD_S}s", "--", f"--redis-url={address}", f"--lock={lock}"]
        self.output = open(f"{folder}/load", "w+", encoding="utf-8")
        self.load = subprocess.Popen(command, stdout=self.output, stderr=subprocess.STDOUT)

    def order_count(self):
        """0 while there is no database yet."""
        try:
            with open(f"{self.lab}/env", encoding="utf-8") as file:
                url = re.search(r"SECKILL_LAB_DATABASE_URL='?([^'\n]+)", file.read()).group(1)
        except OSError:
            return 0
        answer = subprocess.run(["psql", url, "-Atc", "SELECT count(*) FROM tb_voucher_order"],
                                capture_output=True, text=True, check=False).stdout.strip()
        return int(answer or 0)

    def end(self):
        """The first word of the verdict."""
        self.load.wait()
        self.output.seek(0)
        found = re.search(r"^(VALID|INVALID|[A-Z]+):", self.output.read(), re.MULTILINE)
        self.output.close()
        return found.group(1) if found else "no verdict"

    def stop(self):
        if self.load.poll() is None:
            self.load.send_signal(signal.SIGINT)
            self.load.wait()


def fail_over(way, lock, folder):
    """One try: named_s, resumed_s, scripts on the old master, verdict."""
    company = sale = None
    try:
        company = Company(folder)
        sale = Sale(folder, company.address(), lock)
        soon("orders", lambda: sale.order_count() > ORDERS_BEFORE)
        broken = time.monotonic()
        company.break_master(way)
        soon("a new master", company.is_switched)
        named = time.monotonic()
        before = sale.order_count()
        soon("an order after the fail-over", lambda: sale.order_count() > before)
        resumed = time.monotonic()
        time.sleep(max(0, named + RESUME_S - time.monotonic()))
        company.bring_back(way)
        scripts = company.old_scripts()
        return named - broken, resumed - named, scripts, sale.end()
    finally:
        if sale:
            sale.stop()
        if company:
            company.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--lock", default="reentrant")
    options = parser.parse_args()
    kept = 0
    print("| try | the master was | named after | orders again | scripts on the old master | audit |\n"
          "|---|---|---|---|---|---|", flush=True)
    for number in range(options.times):
        way = WAYS[number % len(WAYS)]
        folder = tempfile.mkdtemp(prefix="seckill-failovers-")
        try:
            named_s, resumed_s, scripts, verdict = fail_over(way, options.lock, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        kept += resumed_s <= RESUME_S and scripts == 0 and verdict == "VALID"
        print(f"| {number + 1} | {way} | {named_s:.2f} s | {resumed_s:.2f} s later | {scripts} | {verdict} |", flush=True)
    print(f"{kept} of {options.times} kept the limits")
    return 0 if kept == options.times else 1


if __name__ == "__main__":
    sys.exit(main())
