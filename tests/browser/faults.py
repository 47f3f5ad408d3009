# SPDX-License-Identifier: MIT
"""faults.py -- every fault of the live page: its effect, its end by the same button, several faults at once, and the
reason when a fault is refused."""
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
from laboratory import Show, Tap, soon  # noqa: E402  the folder has to be known first

tap = Tap(23)
# At a fixed rate no user is used up, however fast the machine is.
show = Show("--stock=500000", "--limit=600s", "--connections=8", "--rate=200", "--lock-lease=3s")


def fault(name):
    return next(f for f in show.state()["faults"] if f["name"] == name)


def give(name, status=202, **more):
    """Wait until no other request is being executed."""
    def attempt():
        got, answer = show.ask("/api/fault", {"name": name, **more})
        return None if got == 409 and answer.get("code") == "wish-busy" else (got, answer)
    got, answer = soon(f"{name} is answered", attempt)
    assert got == status, (name, got, answer, [f for f in show.state()["faults"] if f["state"] != "off"])
    return answer


def is_refused(code, name, **more):
    answer = give(name, 409, **more)
    assert answer["code"] == code and answer["error"], answer


def becomes(name, *states):
    soon(f"{name} is {states}", lambda: fault(name)["state"] in states)
    return fault(name)


def undo(name):
    give(name)
    becomes(name, "off")


def run(**settings):
    before = show.state()
    status, answer = soon("the run is taken", lambda: (lambda a: a if a[0] != 409 else None)(show.ask("/api/run", settings)))
    assert status == 202, answer
    show.wait_begun(before)
    sells()


def sells():
    """Wait for new orders, which show that everything works that the sale needs."""
    before = show.state()["stock"]["sold"]
    soon("more orders", lambda: show.state()["stock"]["sold"] > before)


def lock():
    return show.state()["store"]["locks"][0]


def said(name, text):
    """The events of the fault whose text fits."""
    return [e for e in show.state()["events"] if e["fault"] == name and text in (e["said"] or "")]


def says(name, text):
    """Wait for an event of the fault whose text fits; the newest event may already be of the next step."""
    return soon(f"{name} says {text}", lambda: said(name, text))


def nothing_runs():
    for f in show.state()["faults"]:
        assert f["refuses"] == "nothing-runs", f
    is_refused("nothing-runs", "freeze")


def all_of_the_list():
    status, catalog = show.ask("/api/catalog")
    assert status == 200
    names = [f["name"] for f in catalog["faults"]]
    listed = [line.split("(")[1].split(")")[0].replace("_", "-") for line in open("loadtest/fault/faults.def", encoding="utf-8")
              if line.startswith("SERVER_FAULT(")]
    assert names[-len(listed):] == listed, (names, listed)
    assert names == [f["name"] for f in show.state()["faults"]]


def unavailable():
    run(lock="reentrant")
    is_refused("no-gap", "check-gap")
    is_refused("no-server", "zookeeper-expire")
    is_refused("judge", "server-stop", server="postgres")
    is_refused("no-time", "clock", by_ms=-999999999)
    assert show.ask("/api/fault", {"name": "nothing"})[0] == 400
    assert show.ask("/api/fault", {"name": "kill", "target": 9})[0] == 400


def a_cut_wire():
    give("cut", target=1)
    assert becomes("cut", "on")["process"] == 1
    soon("the other process holds the lock", lambda: lock()["process"] == 2)
    sells()
    undo("cut")
    soon("the process with the mended wire holds the lock", lambda: lock()["process"] == 1)


def paused():
    give("server-stop")
    assert becomes("server-stop", "on")["server"] == "redis"
    soon("the store does not answer", lambda: not show.state()["store"]["answers"])
    says("server-stop", "does not answer")
    is_refused("server-busy", "server-kill")
    undo("server-stop")
    soon("the store answers", lambda: show.state()["store"]["answers"])
    sells()


def taken_back_at_once():
    """By U and by the end of the sale, while it is still being made: it must not stay when it has been made."""
    give("server-stop")
    soon("it is taken back", lambda: show.ask("/api/heal", {})[0] == 202)
    becomes("server-stop", "off")
    sells()
    give("server-stop")
    soon("the load ends", lambda: show.ask("/api/run/stop", {})[0] == 202)
    soon("the sale has ended", lambda: show.state()["phase"] == "ended")
    becomes("server-stop", "off")
    soon("the store answers", lambda: show.state()["store"]["answers"])
    run(lock="reentrant")


def killed():
    give("server-kill")
    becomes("server-kill", "on")
    soon("the store does not answer", lambda: not show.state()["store"]["answers"])
    undo("server-kill")
    sells()


def failed_over():
    """The lock is held nearly all the time: the copy of the replica may have to run out."""
    give("redis-failover")
    says("redis-failover", "role:master now")
    becomes("redis-failover", "off")
    sells()


def emptied():
    give("redis-restart-empty")
    says("redis-restart-empty", "loaded 0")
    sells()


def a_clock():
    give("clock", by_ms=60000)
    becomes("clock", "on")
    says("clock", "+60")
    sells()
    undo("clock")
    sells()


def two_at_once():
    run(lock="reentrant")
    give("slow", target=1)
    assert becomes("slow", "on")["process"] == 1
    give("freeze", target=2)
    becomes("freeze", "on", "armed")
    give("slow")
    becomes("slow", "off")
    assert becomes("freeze", "on")["process"] == 2
    give("freeze")
    becomes("freeze", "off")
    sells()


def frozen_while_slow():
    give("slow", target=1)
    becomes("slow", "on")
    give("freeze", target=1)
    assert becomes("freeze", "on")["process"] == 1
    is_refused("process-stopped", "slow")
    undo("freeze")
    assert fault("slow")["state"] == "on"
    undo("slow")
    sells()


def met(name, kind):
    """The event that says in this sale whom the fault met; its name is in the state, too."""
    return [e for e in show.state()["events"] if e["fault"] == name and e["kind"] == kind]


def slow_holder():
    give("slow")
    return becomes("slow", "on")["process"]


def ends():
    """The last state of the sale, which has the counts of the database."""
    soon("the load ends", lambda: show.ask("/api/run/stop", {})[0] == 202)
    soon("it has ended", lambda: show.state()["phase"] == "ended")
    verdict = soon("it is final", lambda: (lambda v: v["final"] and v)(show.state()["verdict"]))
    of = f"voucher_id = {show.state()['run']['voucher']}"
    left = int(show.sql(f"SELECT stock FROM tb_seckill_voucher WHERE {of}"))
    lost = left + show.orders() - show.state()["stock"]["issued"]
    assert lost == verdict["lost_updates"], (lost, verdict)
    return verdict


def fails_over_under_a_holder(**settings):
    """The holder goes on without its lock, and writes after another one has sold."""
    run(lease_ms=1000, **settings)
    held = slow_holder()
    give("redis-failover")
    says("redis-failover", "role:master now")
    soon("it is late", lambda: show.state()["processes"][held - 1]["state"] == "late")
    soon("the page knows whom the fault met", lambda: fault("redis-failover")["met"] == 1)
    assert met("redis-failover", "met")[-1]["number"] == 1
    soon("another sells", lambda: "second-holder" in [e["kind"] for e in show.state()["events"]])
    sells()
    undo("slow")
    return ends()


def shown_live():
    verdict = fails_over_under_a_holder(lock="reentrant")
    assert verdict["lost_updates"] > 0 and verdict["valid"] is False, verdict


def fenced_off():
    verdict = fails_over_under_a_holder(lock="fenced", stock_guard="fence")
    assert verdict["valid"] is True and verdict["refused"] > 0, verdict


def while_slow():
    """Each fault that takes the lock away is given while a holder is slow, and meets it."""
    run(lock="reentrant", stock_guard="read-write", lease_ms=1000)
    for name in ("redis-restart-empty", "clock", "cut", "kill", "server-stop", "server-kill"):
        held = slow_holder()
        give(name)
        soon(f"{name} met the holder", lambda: (fault(name)["met"] or 0) > 0)  # noqa: B023
        assert name != "kill" or met(name, "met")[-1]["process"] == held
        assert not met(name, "met-nobody"), (name, show.state()["events"])
        soon("all is undone", lambda: show.ask("/api/heal", {})[0] == 202)
        soon("it is over", lambda: all(f["state"] == "off" for f in show.state()["faults"]))
        sells()
    # What a frozen process has lost is known when it goes on.
    give("freeze", target=slow_holder())
    becomes("freeze", "on")
    give("redis-failover")
    says("redis-failover", "role:master now")
    assert fault("redis-failover")["met"] is None
    soon("all is undone", lambda: show.ask("/api/heal", {})[0] == 202)
    soon("it met a holder", lambda: (fault("redis-failover")["met"] or 0) > 0)


def nobody_at_work():
    """A process that is killed beside the holder has no lock.  If no process runs, nobody has."""
    run(lock="reentrant", stock_guard="read-write")
    give("slow", target=1)
    becomes("slow", "on")
    give("kill", target=2)
    killed = soon("the killed one held nothing", lambda: met("kill", "met-nobody"))[-1]
    assert killed["process"] == 2, killed
    undo("kill")
    undo("slow")
    for process in show.state()["processes"]:
        os.kill(process["pid"], signal.SIGKILL)
    soon("they are", lambda: all(p["state"] == "dead" for p in show.state()["processes"]))
    give("redis-restart-empty")
    soon("the page says so", lambda: met("redis-restart-empty", "met-nobody"))
    assert not [e for e in met("redis-restart-empty", "met") if e["seq"] > killed["seq"]]
    assert ends()["valid"] is True
    assert fault("redis-restart-empty")["met"] == fault("kill")["met"] == 0


def gone():
    give("kill", target=2)
    soon("it is dead", lambda: show.state()["processes"][1]["state"] == "dead")
    for name in ("freeze", "slow", "cut"):
        is_refused("process-gone", name, target=2)
    undo("kill")
    soon("it serves", lambda: show.state()["processes"][1]["state"] != "dead")


def gone_by_itself():
    """A process that was killed from outside is started by the button that starts killed processes."""
    os.kill(show.state()["processes"][1]["pid"], signal.SIGKILL)
    soon("it is dead", lambda: show.state()["processes"][1]["state"] == "dead")
    assert fault("kill")["state"] == "off"
    give("kill", target=2)
    soon("it serves", lambda: show.state()["processes"][1]["state"] != "dead")


def undone_with_the_store_away():
    """A process that starts needs its lock's server, which therefore comes back first."""
    give("server-stop")
    becomes("server-stop", "on")
    give("kill", target=1)
    becomes("kill", "on")
    is_refused("no-store", "kill")
    soon("all is undone", lambda: show.ask("/api/heal", {})[0] == 202)
    becomes("server-stop", "off")
    soon("it serves", lambda: show.state()["processes"][0]["state"] != "dead")
    assert not [e for e in show.state()["events"] if e["kind"] == "failed" and e["fault"] == "kill"], show.state()["events"]
    sells()


def cut_often():
    """Give and end more faults than a proxy can keep."""
    for _ in range(66):
        give("cut", target=1)
        becomes("cut", "on")
        undo("cut")
    sells()


def out_of_a_lesson():
    """A user's own run does not count for a lesson, even if it fits the voucher of the lesson."""
    settings = show.state()["run"]["settings"]
    soon("the load ends", lambda: show.ask("/api/run/stop", {})[0] == 202)
    soon("the sale has ended", lambda: show.state()["phase"] == "ended")
    soon("the lesson is shown", lambda: show.ask("/api/lesson", {"number": 4})[0] == 202)
    soon("its voucher is on offer", lambda: show.state()["lesson"] and show.state()["phase"] == "ready")
    run()
    assert not [f for f in show.state()["faults"] if f["refuses"] == "in-a-lesson"], show.state()["faults"]
    run(**settings)


def a_late_delete():
    run(lock="owner", lease_ms=1000)
    give("check-gap")
    held = becomes("check-gap", "on")["process"]
    soon("its lease ends, and another holds", lambda: show.state()["processes"][held - 1]["state"] == "late")
    give("slow", target=3 - held)
    becomes("slow", "on")
    owner = lock()["owner"]
    undo("check-gap")
    soon("the lock of the other one is gone", lambda: lock()["owner"] != owner)
    undo("slow")
    soon("the lost update is seen", lambda: show.state()["verdict"]["valid"] is False)


def the_terminal_is_closed():
    """In the middle of a fault.  Shell and kernel both say so: the second time asks for no haste."""
    run(lock="reentrant")
    give("server-stop")
    becomes("server-stop", "on")
    pids = [p["pid"] for p in show.state()["processes"]]
    show.process.send_signal(signal.SIGHUP)
    soon("it stops", lambda: "stopping" in open(show.errors.name, encoding="utf-8").read())
    assert show.stop(signal.SIGHUP) == 0
    assert not [pid for pid in pids if os.path.exists(f"/proc/{pid}")], pids
    assert not os.path.exists(os.path.join(show.lab, "state.json"))


try:
    tap.check("no fault while nothing runs, with the reason", nothing_runs)
    tap.check("every fault of the list can be asked for", all_of_the_list)
    tap.check("a fault that cannot be says why", unavailable)
    tap.check("a cut wire silences one process, and is mended", a_cut_wire)
    tap.check("a paused Redis, and no second fault on the same server", paused)
    tap.check("a fault that is taken back while it is being made is over when it has been made", taken_back_at_once)
    tap.check("a killed Redis comes back", killed)
    tap.check("Redis fails over to a replica without the lock", failed_over)
    tap.check("Redis starts again empty", emptied)
    tap.check("a clock jumps, and is put back", a_clock)
    tap.check("two processes suffer at once, and are let go one by one", two_at_once)
    tap.check("a process that works slowly is frozen, and keeps its other fault", frozen_while_slow)
    tap.check("a fail-over under a slow holder ends with a lost update", shown_live)
    tap.check("with fences the late write is refused", fenced_off)
    tap.check("every fault that takes the lock away meets a slow holder", while_slow)
    tap.check("a fault that met nobody says so, and says it at the end", nobody_at_work)
    run(lock="reentrant", lease_ms=3000)
    tap.check("a process that is gone suffers nothing more", gone)
    tap.check("a process that was killed from outside is started by the same button", gone_by_itself)
    tap.check("all is undone while a process is gone and the store away", undone_with_the_store_away)
    tap.check("a wire is cut as often as one likes", cut_often)
    tap.check("a run of one's own ends a lesson", out_of_a_lesson)
    tap.check("a late delete frees the lock of another, who is held meanwhile", a_late_delete)
    tap.check("a terminal that is closed in the middle of a fault takes everything down", the_terminal_is_closed)
finally:
    show.close()
tap.end()
