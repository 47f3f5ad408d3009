# SPDX-License-Identifier: MIT
"""lanes.py -- under every lock, a sale with a frozen and a killed holder.  What lanes, store and
verdict say is compared with the records that the processes write of their locks, and with SQL.
Arguments: the locks; all without."""
import collections
import os
import shutil
import struct
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
from laboratory import ROOT, SECKILL, Show, Tap, soon  # noqa: E402  the folder is known now

HEADER, SLOT = 4096, 128         # lock/record/record.h
BEGUN, DONE, RELEASING, RELEASED, ACQUIRE = 0xd10b, 0xd10c, 0xd10e, 0xd10f, 3
CALL = struct.Struct("<Q6qBB")
NEVER = 2 ** 63 - 1
LEASE_S = 1
WINDOW_S = .75  # a look takes at most 0.25 s, and its time is known to half a second
# Frozen, their holders keep them.
ENDS_WITH_ITS_HOLDER = ("none", "local", "pg-advisory", "pg-row")
Call = collections.namedtuple("Call", "pid uuid asked granted ends over")
Seen = collections.namedtuple("Seen", "received state")


def now():
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Recorded:
    """A copy of the programs in which seckilld records its locks."""

    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="seckill-lanes-")
        self.records = os.path.join(self.top, "records")
        for name in ("build", "loadtest", "records"):
            os.mkdir(os.path.join(self.top, name))
        self.seckill = shutil.copy(SECKILL, os.path.join(self.top, "build"))
        os.symlink(os.path.join(ROOT, "loadtest/wrk"), os.path.join(self.top, "loadtest/wrk"))
        service = os.path.join(self.top, "build/seckilld")
        with open(service, "w", encoding="utf-8") as script:
            script.write(f"""#!/bin/sh
exec '{ROOT}/build/seckilld' --record='{self.records}' "$@"
""")
        os.chmod(service, 0o755)

    def calls(self, name):
        """The calls that asked for the lock `name`, and the holds that came of them, until now."""
        found = []
        for file in os.listdir(self.records):
            with open(os.path.join(self.records, file), "rb") as record:
                data = record.read()
            pid, = struct.unpack_from("<I", data, 28)
            uuid = data[88:128].split(b"\0")[0].decode()
            for at in range(HEADER, len(data) - SLOT + 1, SLOT):
                commit, asked, answered, _, over, _, ends, kind, status = CALL.unpack_from(data, at)
                step = commit >> 48
                if step not in (BEGUN, DONE, RELEASING, RELEASED) or kind != ACQUIRE or \
                        data[at + 108:at + 128].rstrip(b"\0").decode() != name:
                    continue
                is_held = step != BEGUN and status == 0
                if step != RELEASED:
                    over = answered if step == DONE and not is_held else NEVER
                found.append(Call(pid, uuid, asked / 1e9, answered / 1e9 if is_held else NEVER,
                                  ends / 1e9, over / 1e9))
        return found

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)


programs = Recorded()
show = None


class Sale:
    """The states of a sale under one lock, and the records that its processes wrote meanwhile."""

    def __init__(self, lock):
        self.lock, self.seen, self.pids = lock, [], set()
        before = show.state()
        status, answer = show.ask("/api/run", {"lock": lock, "stock_guard": "read-write"})
        assert status == 202, answer
        show.wait_begun(before)
        soon("orders", lambda: self.look()["stock"]["sold"] > 30)

    def look(self):
        state = show.state()
        if not self.seen or state["seq"] > self.seen[-1].state["seq"]:
            self.seen.append(Seen(now(), state))
            self.pids.update(p["pid"] for p in state["processes"])
        return state

    def wait(self, what, condition):
        return soon(f"{self.lock}: {what}", lambda: condition(self.look()))

    def calls(self):
        name = self.seen[-1].state["store"]["locks"][0]["name"]
        return [c for c in programs.calls(name) if c.pid in self.pids]

    def fault(self, name, wanted):
        """Press the fault's button, and wait for its state, which is returned."""
        status, answer = show.ask("/api/fault", {"name": name})
        assert status == 202, answer
        return self.wait(f"{name} is {wanted}", lambda state: next(
            (f for f in state["faults"] if f["name"] == name and f["state"] == wanted), None))

    def frozen_until_it_is_lost(self):
        """Long enough for another to take the lock, where the lock ends without its holder."""
        number = self.fault("freeze", "on")["process"]
        pid = self.seen[-1].state["processes"][number - 1]["pid"]
        begun, since = now(), len(self.seen)

        def others():
            return [c.granted for c in self.calls() if c.pid != pid and begun < c.granted < NEVER]
        if self.lock in ENDS_WITH_ITS_HOLDER:
            self.wait("looks at the frozen holder", lambda _: len(self.seen) > since + 10)
        else:
            first = self.wait("another holder", lambda _: min(others(), default=None))
            self.wait("looks at both",
                      lambda _: now() > first + 2 * WINDOW_S and len(self.seen) > since + 10)
        self.fault("freeze", "off")

    def killed(self):
        self.fault("kill", "on")
        dead = self.wait("one is dead", lambda state: next(
            (p for p in state["processes"] if p["state"] == "dead"), None))
        assert not os.path.exists(f"/proc/{dead['pid']}/exe"), dead
        self.fault("kill", "off")

    def a_node_is_silent(self):
        self.fault("server-kill", "on")
        self.wait("one of five is silent", lambda state: state["store"]["nodes"].count("?") == 1)
        self.fault("server-kill", "off")
        self.wait("five answer", lambda state: "?" not in state["store"]["nodes"])

    def end(self):
        """The last state, in which nothing is open any more."""
        status, answer = show.ask("/api/run/stop", {})
        assert status == 202, answer

        def final():
            state = show.state()
            return state if state["phase"] == "ended" and state["verdict"]["final"] else None
        try:
            return soon("the verdict is final", final)
        except AssertionError as waited:
            raise AssertionError(f"{waited}: {show.state()['verdict']}; " + show.sql(
                "SELECT string_agg(concat_ws(' ', application_name, state, query), '; ')"
                " FROM pg_stat_activity WHERE state <> 'idle'")) from waited


def has_lock(call, calls, by):
    """Was nobody else granted the lock between this grant and then?"""
    return not any(call.granted < c.granted <= by for c in calls if c is not call)


def is_whole(call, begin, end):
    """Was it held all the time, and within its lease?"""
    return call.granted <= begin and call.over >= end and call.ends > end


def lie(letter, mine, calls, begin, end):
    """The reason for which the letter of a process is false; None: it may be true.  `mine` are the
    calls of the process, and `calls` those of all that have one lock."""
    holds = [c for c in mine if c.granted <= end and c.over >= begin]
    if letter == "h" and not any(c.asked <= end and c.over >= begin for c in mine):
        return "it did not ask for the lock"
    if letter == "w" and any(is_whole(c, begin, end) and has_lock(c, calls, end) for c in holds):
        return "it had the lock all the time"
    if letter in "fs" and not any(has_lock(c, calls, begin) for c in holds):
        return "another was granted its lock before"
    if letter in "xl" and not any(not has_lock(c, calls, end) or c.ends < end for c in holds):
        return "nobody was granted its lock, and its lease had not ended"
    return None


def lies_of(sale):
    """All that lanes and store say against the records."""
    is_local = sale.seen[-1].state["store"]["kind"] in ("-", "process")
    calls, lies = sale.calls(), []
    begun = min(s.received - s.state["at_ms"] / 1000 for s in sale.seen)
    for state in (s.state for s in sale.seen if s.state["store"]["answers"]):
        end = begun + state["at_ms"] / 1000
        begin = end - 2 * WINDOW_S
        if not is_local:  # else each process was asked, one after another
            end -= state["store"]["age_ms"] / 1000
            begin = end - WINDOW_S
        for process in state["processes"]:
            letter, mine = process["lane"][-1], [c for c in calls if c.pid == process["pid"]]
            why = lie(letter, mine, [] if is_local else calls, begin, end)
            if why:
                lies.append(f"{letter} of process {process['n']} at {state['at_ms']}: {why}")
        held = [c for c in calls if is_whole(c, begin, end + WINDOW_S) and has_lock(c, calls, end)]
        nodes = state["store"]["nodes"]
        if held and not is_local and not state["store"]["locks"][0]["locked"]:
            lies.append(f"free at {state['at_ms']}: {held[0]} had it")
        if held and nodes and nodes.count("h") < 3:
            lies.append(f"nodes {nodes} at {state['at_ms']}: {held[0]} had it")
    return lies


def says_what_it_can_know(sale):
    """A store names processes, or the lanes say nothing of holding and waiting."""
    owners = {s.state["store"]["locks"][0]["owner"] or "" for s in sale.seen}
    uuids = {c.uuid for c in sale.calls()}
    names = any(owner.startswith(uuid) for owner in owners for uuid in uuids)
    letters = {p["lane"][-1] for _, state in sale.seen for p in state["processes"]}
    assert not names or {"h", "w"} <= letters, (owners, letters)
    assert names or not {"h", "w"} & letters, (owners, letters)
    assert sale.lock == "none" or {"f", "x"} & letters, letters
    assert sale.lock in ENDS_WITH_ITS_HOLDER or "x" in letters, letters


def is_true(lock):
    def check():
        sale = Sale(lock)
        sale.frozen_until_it_is_lost()
        sale.killed()
        if lock == "redlock":
            sale.a_node_is_silent()
        soon(f"{lock}: looks", lambda: sale.look() and len(sale.seen) > 25)
        says_what_it_can_know(sale)
        lies = lies_of(sale)
        assert not lies, f"{len(lies)} of {len(sale.seen)} looks: " + "; ".join(lies[:5])
        state = sale.end()
        orders, verdict, stock = show.orders(), state["verdict"], state["stock"]
        left = int(show.sql("SELECT stock FROM tb_seckill_voucher WHERE voucher_id = "
                            f"{state['run']['voucher']}"))
        assert (stock["sold"], stock["left"]) == (orders, left), (stock, orders, left)
        assert verdict["lost_updates"] == left + orders - stock["issued"], verdict
        grants = sum(c.granted < NEVER for c in sale.calls())
        told = sum(p["orders"] for p in state["processes"])
        assert told <= orders <= grants, (told, orders, grants)
    return check


try:
    show = Show("--processes=3", "--stock=500000", "--connections=6", "--limit=600s",
                f"--lock-lease={LEASE_S}s", program=programs.seckill,
                lab=("--zookeeper", "--etcd-alone"))
    locks = [lock["name"] for lock in show.ask("/api/catalog")[1]["locks"]]
    locks = sys.argv[1:] or locks
    tap = Tap(len(locks))
    for each in locks:
        tap.check(f"under {each}, lanes and store agree with records, verdict with SQL",
                  is_true(each))
finally:
    if show:
        show.close()
    programs.close()
tap.end()
