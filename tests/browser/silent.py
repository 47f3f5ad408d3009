# SPDX-License-Identifier: MIT
"""silent.py -- the live page while servers of the laboratory have ended or hang, without a press of a button: the page
reports this and starts a killed server again, no wait is endless, and an interrupt ends everything."""
import json
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
from laboratory import Show, Tap, soon  # noqa: E402  the folder has to be known first
from page import Page  # noqa: E402

tap = Tap(7)
show = Show("--stock=500000", "--limit=600s", "--connections=8", "--rate=200")
page = None


def pids_of(server):
    """The process of the server, and its children."""
    with open(os.path.join(show.lab, "state.json"), encoding="utf-8") as text:
        first = next(s["pid"] for s in json.load(text)["servers"] if s["name"] == server)
    with open(f"/proc/{first}/task/{first}/children", encoding="ascii") as text:
        return [first, *map(int, text.read().split())]


def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:  # a server process of a connection may have ended meanwhile
            assert pid != pids[0]


def run():
    before = show.state()
    soon("the run is taken", lambda: show.ask("/api/run", {"lock": "reentrant"})[0] == 202)
    show.wait_begun(before)
    soon("orders", lambda: show.state()["stock"]["sold"] > 20)


def stuck(is_so):
    page.wait(f"stuck: {is_so}", lambda p: p.data("stuck") == ("true" if is_so else "false"))


def postgres_hangs():
    """The page must not show its last count as a new one."""
    global page
    run()
    page = Page(show.address)
    page.wait_phase("running")
    pids = pids_of("postgres")
    send(pids, signal.SIGSTOP)
    try:
        stuck(True)
        assert "has not been able to look" in page.text("#banner") and page.data("gone") == "false", page.text("#banner")
        status, answer = show.ask("/api/run/stop", {})
        assert status in (202, 409), (status, answer)
    finally:
        send(pids, signal.SIGCONT)
    stuck(False)


def the_counts_are_right_afterwards():
    soon("the load ends", lambda: show.state()["phase"] == "ended" or show.ask("/api/run/stop", {})[0] == 202)
    soon("the load has ended", lambda: show.state()["phase"] == "ended")
    soon("the verdict is final", lambda: show.state()["verdict"]["final"])
    assert show.state()["stock"]["sold"] == show.orders() and show.state()["verdict"]["valid"] is True, show.state()


def the_banner_moves_nothing():
    """The laboratory hangs between a press and its release: the button is still under the mouse."""
    def hang():
        show.process.send_signal(signal.SIGSTOP)
        page.wait("the banner", lambda p: p.data("gone") == "true" and p.js("!document.getElementById('banner').hidden"))
    run()
    page.wait_phase("running")
    number = page.sale()[1]
    try:
        page.click_slowly("#go", until=lambda _: hang())
    finally:
        show.process.send_signal(signal.SIGCONT)
    page.wait("the sale has ended", lambda p: p.sale() == ["ended", number])


def redis_is_gone():
    run()
    page.wait_phase("running")
    send(pids_of("redis")[:1], signal.SIGKILL)
    soon("the store does not answer", lambda: not show.state()["store"]["answers"])
    page.wait("the page says so", lambda p: "no answer for" in p.text("#ttl") and "redis has ended" in p.text("#also") and "X or U starts redis again" in p.text("#why"))
    events = [e for e in show.state()["events"] if e["kind"] == "server-ended"]
    assert len(events) == 1 and "has ended" in events[0]["said"] and "does not answer" in events[0]["said"], events
    soon("the orders stop", lambda: show.state()["rates"]["accepted"][-4:] == [0, 0, 0, 0])
    assert page.data("stuck") == "false" and show.state()["verdict"]["valid"] is True, show.state()["verdict"]


def killed():
    return next(f for f in show.state()["faults"] if f["name"] == "server-kill")


def the_button_starts_it():
    """The same button takes a kill back, whoever killed the server."""
    before = pids_of("redis")[0]
    assert killed()["state"] == "on" and killed()["server"] == "redis" and killed()["ended"] is True, killed()
    assert page.text("#faults [data-fault=server-kill]").endswith("Start redis"), page.text("#faults [data-fault=server-kill]")
    page.click("#faults [data-fault=server-kill]")
    soon("Redis is started", lambda: killed()["state"] == "off" and killed()["ended"] is False)
    assert pids_of("redis")[0] != before
    soon("the log has it", lambda: [e for e in show.state()["events"] if e["kind"] == "server-started" and "answers on" in e["said"]])
    sold = show.state()["stock"]["sold"]
    soon("the store answers, and orders come", lambda: show.state()["store"]["answers"] and show.state()["stock"]["sold"] > sold)
    page.wait("the button kills again", lambda p: p.text("#faults [data-fault=server-kill]").endswith("Kill Redis"))


def the_next_sale_starts_it():
    soon("the load ends", lambda: show.state()["phase"] == "ended" or show.ask("/api/run/stop", {})[0] == 202)
    soon("the load has ended", lambda: show.state()["phase"] == "ended")
    send(pids_of("redis")[:1], signal.SIGKILL)
    soon("the end is seen", lambda: killed()["ended"])
    assert killed()["refuses"] == "nothing-runs", killed()
    page.wait("the page says how", lambda p: "Space starts redis again" in p.text("#why"))
    run()
    assert killed()["state"] == "off", killed()


def life(pid):
    """The start time of the process in ticks; None: it has ended, and its parent may not have waited for it yet."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


def an_interrupt_ends_all():
    """While Redis is gone, and PostgreSQL hangs for good."""
    send(pids_of("redis")[:1], signal.SIGKILL)
    soon("the end is seen", lambda: killed()["ended"])
    pids, services = pids_of("postgres"), [p["pid"] for p in show.state()["processes"]]
    lives = {pid: life(pid) for pid in pids + services}
    send(pids, signal.SIGSTOP)
    stuck(True)
    assert show.stop(signal.SIGINT) == 0
    page.wait("the page is alone", lambda p: p.data("gone") == "true")
    # The kernel may still be ending them, and gives their numbers to others later.
    soon("no process is left", lambda: not [pid for pid, began in lives.items() if began and life(pid) == began])
    assert not os.path.exists(os.path.join(show.lab, "state.json"))


try:
    tap.check("PostgreSQL hangs: the page says that it is old", postgres_hangs)
    tap.check("and afterwards its counts are those of the database", the_counts_are_right_afterwards)
    tap.check("the laboratory hangs while a button is pressed: the button gets its click", the_banner_moves_nothing)
    tap.check("Redis is killed from outside: the page says which server has ended, and since when", redis_is_gone)
    tap.check("the button that kills Redis starts it again", the_button_starts_it)
    tap.check("Redis is killed while nothing runs: the next sale starts it", the_next_sale_starts_it)
    tap.check("an interrupt ends all while no server answers", an_interrupt_ends_all)
finally:
    if page:
        page.close()
    show.close()
tap.end()
