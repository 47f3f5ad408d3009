# SPDX-License-Identifier: MIT
"""threads.py PROGRAM -- the threads of `seckill show` beside one another: clients that poll and press in
parallel while faults come and go, settings change, a lesson is played, and Ctrl-C ends it.

PROGRAM is seckill from a sanitizer's build; the seckilld beside it is the service.
"""
import glob
import http.client
import json
import os
import signal
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
from laboratory import Show, Tap, soon  # noqa: E402  the folder has to be known first

VIEWERS = 6
SERVER_FAULTS = ("server-stop", "server-kill", "clock", "redis-failover")
tap = Tap(10)
show = Show("--stock=500000", "--limit=600s", "--connections=4", "--lock-lease=2s", program=sys.argv[1])
port = int(show.base.rsplit(":", 1)[1])
ending = threading.Event()


class Viewer(threading.Thread):
    """Poll as the page does, each request on a connection of its own, until `ending` is set."""

    def __init__(self, number):
        super().__init__(daemon=True)
        self.paths = ("/api/state",) if number % 2 else ("/api/state", "/api/catalog", "/api/lesson", "/show.js", "/")
        self.good, self.wrong = 0, []
        self.start()

    def ask(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            connection.request("GET", path, headers={"Authorization": "Bearer " + show.token})
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 200:
                self.wrong.append((path, answer.status, body))
            elif path.startswith("/api/"):
                json.loads(body)
            self.good += 1
        except (OSError, http.client.HTTPException, ValueError) as error:
            # The laboratory goes away in the middle of a request.
            if not ending.is_set():
                self.wrong.append((path, repr(error)))
        finally:
            connection.close()

    def run(self):
        n = 0
        while not ending.is_set():
            self.ask(self.paths[n % len(self.paths)])
            n += 1
            ending.wait(0.05)


viewers = []


def all_are_served():
    """Every viewer got another answer, and no viewer got a wrong one."""
    before = [v.good for v in viewers]
    soon("every viewer is answered", lambda: all(v.good > b for v, b in zip(viewers, before)))
    assert not any(v.wrong for v in viewers), [v.wrong[:3] for v in viewers]


def post(path, body):
    """Wait until no other request is being executed, and no process is being started."""
    def attempt():
        status, answer = show.ask(path, body)
        return None if status == 409 and "being" in answer["error"] else (status, answer)
    return soon(f"{path} {body} is taken", attempt)


def fault(name):
    return next(f for f in show.state()["faults"] if f["name"] == name)


def press(name, *states):
    status, answer = post("/api/fault", {"name": name})
    assert status == 202, (name, status, answer)
    soon(f"{name} is {states}", lambda: fault(name)["state"] in states)


def sells():
    before = show.state()["stock"]["sold"]
    soon("more orders", lambda: show.state()["stock"]["sold"] > before)


def run(**settings):
    before = show.state()
    status, answer = post("/api/run", settings)
    assert status == 202, answer
    show.wait_begun(before)
    sells()


def begin():
    viewers.extend(Viewer(i) for i in range(VIEWERS))
    run()
    all_are_served()


def process_faults():
    for name in ("freeze", "slow", "kill", "cut"):
        press(name, "on")
        press(name, "off")
        sells()


def server_faults():
    for name in SERVER_FAULTS:
        lasts = name != "redis-failover"
        press(name, "on" if lasts else "off")
        if lasts:
            press(name, "off")
        sells()


def many_press_at_once():
    """One request is executed at a time; other requests are told so."""
    answers = []

    def push(body):
        answers.append(show.ask("/api/fault", body)[0])

    def one_is_taken():
        """Send eight requests at once.  Returns true if one was accepted: all are refused while an earlier one is executed."""
        answers.clear()
        bodies = [{"name": name} for name in ("freeze", "slow", "server-stop", "cut")] * 2
        pushers = [threading.Thread(target=push, args=(body,)) for body in bodies]
        for pusher in pushers:
            pusher.start()
        for pusher in pushers:
            pusher.join()
        assert len(answers) == len(bodies) and set(answers) <= {202, 409}, answers
        return 202 in answers
    soon("one of those who press is taken", one_is_taken)

    def healed():
        status, _ = show.ask("/api/heal", {})
        return status == 202 and all(f["state"] == "off" for f in show.state()["faults"])
    soon("no fault is there", healed)
    sells()


def settings_change():
    run(lock="owner", connections=6)
    run(lock="none", processes=3)
    run(lock="lua", stock=400000, scope="user")
    run(lock="reentrant", scope="voucher", processes=2, rate=40)
    press("kill", "on")
    press("kill", "off")
    sells()
    run(rate=0, users="same", duplicate_guard="count")
    run(users="different", duplicate_guard="none")
    assert post("/api/offer", {"lock": "reentrant", "scope": "voucher", "processes": 2})[0] == 202
    soon("a fresh sale", lambda: show.state()["phase"] == "ready")


def a_fault_ends_with_its_sale():
    run()
    press("server-stop", "on")
    press("freeze", "armed", "on")
    run(lease_ms=1500)
    assert all(f["state"] == "off" for f in show.state()["faults"])


def a_lesson():
    lesson = show.ask("/api/lesson")[1]["lessons"][4]
    assert post("/api/lesson", {"number": 5})[0] == 202
    soon("the lesson asks", lambda: (show.state()["lesson"] or {}).get("stage") == "asked")
    status, answer = post("/api/lesson/predict", {"answer": lesson["answers"][0]["name"]})
    assert status == 202, answer
    assert post("/api/lesson/run", {})[0] == 202
    soon("the lesson has begun", lambda: show.state()["lesson"]["runs"] > 0)
    assert post("/api/lesson", {"number": 0})[0] == 202
    soon("no lesson is shown", lambda: show.state()["lesson"] is None)
    # The stock of the lesson would be sold before a busy machine has looked.
    run(lock="reentrant", scope="voucher", stock=400000)


def the_end():
    """In the middle of a fault, while everybody polls."""
    press("server-stop", "on")
    press("freeze", "armed", "on")
    all_are_served()
    ending.set()
    assert show.stop(signal.SIGINT) == 0
    for viewer in viewers:
        viewer.join(60)
        assert not viewer.is_alive()
    assert not os.path.exists(os.path.join(show.lab, "state.json"))


def nobody_complains():
    """No sanitizer has a report about the laboratory or the service."""
    paths = [os.path.join(show.directory, "errors"), *glob.glob(os.path.join(show.directory, "show-*", "seckilld-*.log"))]
    assert len(paths) > 1, paths
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as log:
            text = log.read()
        assert "Sanitizer" not in text and "runtime error" not in text, path + "\n" + text


try:
    tap.check("a sale runs, and every viewer is answered", begin)
    tap.check("faults of processes come and go", process_faults)
    tap.check("faults of servers come and go", server_faults)
    tap.check("many who press at once are each answered", many_press_at_once)
    tap.check("the settings change while everybody looks", settings_change)
    tap.check("a change of the settings takes faults back", a_fault_ends_with_its_sale)
    tap.check("a lesson is begun and left", a_lesson)
    tap.check("every viewer is answered to the last", all_are_served)
    tap.check("an interrupt in the middle of two faults takes everything down", the_end)
    tap.check("no sanitizer has anything to say", nobody_complains)
finally:
    ending.set()
    show.errors.flush()
    if tap.failed:
        show.errors.seek(0)
        print("".join("# " + line for line in show.errors), end="")
    show.close()
tap.end()
