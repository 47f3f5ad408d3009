#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""failovers.py [--times=20] [--lock=reentrant] [--replicas-acknowledge=0] [--no-stories] [--markdown=FILE] -- fail-overs
of a Redis master by Sentinel under order load, and what they break where only the lock stands.

Each try has servers of its own: a master, two replicas and three Sentinels with down-after 1000 ms, and a
laboratory whose `seckill load` sells through an address of the Sentinels, 300 orders a second.  The master is
killed, stopped, shut down or told to fail over, in turn.  The table says for each try when a Sentinel named
the new master, how much later the database got the next order, how many scripts the old master ran for
clients from a second after the new name on (it is started or continued for that), and what the audit says.

Three columns show what the machine itself cost.  "a plain client" is a client of this program's own that asks
the Sentinels, connects to the address that they name and writes one key, over and over, without the project's
code.  "late" is the longest that a sleep of this program was late between the new name and the next order.  "gap
before" is the longest time without a new order, seen in the same way, in the seconds before the fail-over.  No
fault in how the library or the service follows a fail-over makes any of the three longer, so the limit of a try is a
second and the longest of them.  On a quiet machine that is one second and a tenth.

The database guards of these sales hide what asynchronous replication may lose.  So two stories follow, in which only
the lock stands: the master grants a lock that no replica has, and another master is named.  sentinel-partition
has to end with two holders, which the checker and the stock of the database name; sentinel-acknowledged is the
same with --replicas-acknowledge=1, and has to end without them, because the grant was given back.

Exit status: 0 every try kept the limits (orders resume in time, no script on the old master, a valid audit) and both
stories ended as they have to, 1 one did not.
"""
import argparse
import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
# pylint: disable=wrong-import-position
from free_ports import free_ports  # noqa: E402
from results_page import Page  # noqa: E402

WAYS = ("kill", "stop", "shutdown", "failover")
RESUME_S = 1.0
WATCH_OLD_S = 3.0
PATIENCE_S = 60.0
RATE, LOAD_S, ORDERS_BEFORE, GAP_WATCH_S = 300, 15, 300, 2.5
BEAT_S = 0.02
STORIES = (("sentinel-partition", "breaks"), ("sentinel-acknowledged", "holds"))


def soon(what, state, pause_s=0.02):
    """Wait until state() returns a true value, and return that value."""
    end = time.monotonic() + PATIENCE_S
    while not (answer := state()):
        if time.monotonic() > end:
            sys.exit(f"failovers: after {PATIENCE_S:.0f} s still not: {what}")
        time.sleep(pause_s)
    return answer


class Company:
    """A master (0), two replicas and three Sentinels (3 to 5)."""

    def __init__(self, folder):
        self.folder, self.ports = folder, free_ports(6)
        self.children = [None] * 6

    def form(self):
        """Start the servers, and wait until they know each other."""
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
        """The answer of server i; "" if there is none within a second."""
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
        """The scripts that the old master runs for clients in the next seconds.  Commands
        that arrived while it was stopped are done before the count begins."""
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


def say(port, *words):
    """One command to the server at that port: the parts of its answer; [] if there is none."""
    text = f"*{len(words)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in words)
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=0.3) as one:
            one.settimeout(0.3)
            one.sendall(text.encode())
            return one.recv(4096).decode().split("\r\n")
    except OSError:
        return []


class Machine(threading.Thread):
    """Sleeps for BEAT_S again and again, and knows how late it was."""

    def __init__(self):
        super().__init__(daemon=True)
        self.is_over, self.beats = False, []
        self.start()

    def run(self):
        while not self.is_over:
            before = time.monotonic()
            time.sleep(BEAT_S)
            self.beats.append((before, time.monotonic()))

    def latest_s(self, begin, end):
        """The longest delay of a sleep in that time."""
        return max([woken - slept - BEAT_S for slept, woken in self.beats if woken > begin and slept < end] or [0])


class Plain(threading.Thread):
    """A client without the project's code: when could it write to another master than the first?"""

    def __init__(self, company):
        super().__init__(daemon=True)
        self.company, self.is_over, self.written = company, False, None
        self.start()

    def try_once(self, sentinel):
        answer = say(self.company.ports[sentinel], "SENTINEL", "get-master-addr-by-name", "shop")
        place = answer[4] if len(answer) > 4 else ""
        return (place.isdigit() and int(place) != self.company.ports[0] and
                say(int(place), "SET", "plain", "1")[:1] == ["+OK"])

    def run(self):
        number = 0
        while not self.is_over and self.written is None:
            number += 1
            if self.try_once(3 + number % 3):
                self.written = time.monotonic()
            else:
                time.sleep(BEAT_S)


class Sale:
    """`seckill load` on a laboratory of its own."""

    def __init__(self, folder, address, lock, flags=()):
        self.lab = f"{folder}/lab"
        self.text = None  # of the command, when it has ended
        command = ["build/seckill", "load", f"--dir={self.lab}", f"--out={folder}/runs", f"--rate={RATE}",
                   f"--duration={LOAD_S}s", "--", f"--redis-url={address}", f"--lock={lock}", *flags]
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

    def longest_gap_s(self):
        """The longest time without a new order, in the next seconds."""
        begun = changed = now = time.monotonic()
        count, gap = self.order_count(), 0
        while gap == 0 or now < begun + GAP_WATCH_S:
            time.sleep(BEAT_S)
            seen, now = self.order_count(), time.monotonic()
            gap = max(gap, now - changed)
            if seen > count:
                count, changed = seen, now
        return gap

    def end(self):
        """The first word of the verdict."""
        self.load.wait()
        self.output.seek(0)
        self.text = self.output.read()
        self.output.close()
        found = re.search(r"^(VALID|INVALID|[A-Z]+):", self.text, re.MULTILINE)
        return found.group(1) if found else "no verdict"

    def stop(self):
        if self.load.poll() is None:
            self.load.send_signal(signal.SIGINT)
            self.load.wait()


def fail_over(way, options, folder):
    """One try: named_s, resumed_s, (plain_s, late_s, gap_s), scripts on the old master, verdict."""
    company = sale = plain = None
    machine = Machine()
    try:
        company = Company(folder)
        company.form()
        sale = Sale(folder, company.address(), options.lock, [f"--replicas-acknowledge={options.replicas_acknowledge}"])
        soon("orders", lambda: sale.order_count() > ORDERS_BEFORE)
        gap_s = sale.longest_gap_s()
        plain = Plain(company)
        broken = time.monotonic()
        company.break_master(way)
        soon("a new master", company.is_switched)
        named = time.monotonic()
        before = sale.order_count()
        soon("an order after the fail-over", lambda: sale.order_count() > before)
        resumed = time.monotonic()
        plain_s = max(0, soon("a write of the plain client", lambda: plain.written) - named)
        late_s = machine.latest_s(named, resumed)
        time.sleep(max(0, named + RESUME_S - time.monotonic()))
        company.bring_back(way)
        scripts = company.old_scripts()
        return named - broken, resumed - named, (plain_s, late_s, gap_s), scripts, sale.end()
    finally:
        machine.is_over = True
        if plain:
            plain.is_over = True
        if sale:
            sale.stop()
        if company:
            company.end()


def tell_story(name, outcome, lock):
    """Tell the story with servers of its own: its row of the table, and whether it ended so."""
    folder = tempfile.mkdtemp(prefix="seckill-failovers-")
    command = ["build/seckill", "scenario", "run", name, f"--locks={lock}", f"--out={folder}/runs", f"--dir={folder}/lab"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, check=False)
        pages = glob.glob(f"{folder}/runs/2*/stories.json")
        if not pages:
            return f"| {name} | not told: {told.stderr.strip().splitlines()[-1:]} | | |", False
        with open(pages[0], encoding="utf-8") as file:
            cells = json.load(file)["cells"]
        asked = re.search(r"Ann (?:enters|asks for the lock): .*", told.stdout)
        row = [(cell["outcome"], ", ".join(cell["signs"]) or "nothing", cell["verdict"]) for cell in cells]
        return (f"| {name} | {asked.group(0).strip() if asked else '-'} | {row[0][1]} | {row[0][0]}, {row[0][2]} |",
                told.returncode == 0 and all(cell[0] == outcome for cell in row))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def tell_stories(lock, page):
    """How many of the stories ended as they have to."""
    page.say("\nWhere only the lock stands, and no replica has the grant when another master is named:\n\n"
             "| story | the first holder | seen by the checker and in the database | outcome |\n|---|---|---|---|")
    good = 0
    for name, outcome in STORIES:
        row, is_good = tell_story(name, outcome, lock)
        good += is_good
        page.say(row)
    return good


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the servers end, too
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--lock", default="reentrant")
    parser.add_argument("--replicas-acknowledge", type=int, default=0, help="as of seckilld, in the sales under load")
    parser.add_argument("--no-stories", action="store_true", help="only the sales under load")
    parser.add_argument("--markdown", metavar="FILE", help="write what is printed as a page, too")
    options = parser.parse_args()
    page = Page(options.markdown, "Fail-overs by Sentinel", __doc__, ["python3", "tests/proof/failovers.py", *sys.argv[1:]])
    kept = 0
    page.say("| try | the master was | named after | orders again | a plain client | late | gap before "
             "| scripts on the old master | audit |\n|---|---|---|---|---|---|---|---|---|")
    for number in range(options.times):
        way = WAYS[number % len(WAYS)]
        folder = tempfile.mkdtemp(prefix="seckill-failovers-")
        try:
            named_s, resumed_s, costs, scripts, verdict = fail_over(way, options, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        kept += resumed_s <= RESUME_S + max(costs) and scripts == 0 and verdict == "VALID"
        page.say(f"| {number + 1} | {way} | {named_s:.2f} s | {resumed_s:.2f} s later | {costs[0]:.2f} s later | {costs[1]:.2f} s "
                 f"| {costs[2]:.2f} s | {scripts} | {verdict} |")
    page.say(f"\n{kept} of {options.times} kept the limits.")
    good = len(STORIES) if options.no_stories else tell_stories(options.lock, page)
    if not options.no_stories:
        page.say(f"\n{good} of {len(STORIES)} stories ended as they have to.")
    page.write()
    return 0 if kept == options.times and good == len(STORIES) else 1


if __name__ == "__main__":
    sys.exit(main())
