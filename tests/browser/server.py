# SPDX-License-Identifier: MIT
"""server.py -- the answers of `seckill show` to a client that is no browser: the clients that are accepted, the requests
that are refused, and the counts of a sale, which must be those of the database."""
import glob
import http.client
import json
import os
import signal
import socket
import sys
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
from laboratory import Show, Tap, soon  # noqa: E402  the folder has to be known first

tap = Tap(27)
show = Show("--processes=2", "--stock=200", "--connections=8", "--limit=600s")
right = {"Authorization": "Bearer " + show.token}


def phase():
    return show.state()["phase"]


def settings():
    return show.state()["run"]["settings"]


def wait_phase(*wanted):
    return soon(f"phase {wanted}", lambda: phase() in wanted)


def post(path, body=None):
    """Wait until no other request is being executed, and no process is being started."""
    def attempt():
        status, answer = show.ask(path, body or {})
        return None if status == 409 and ("being" in answer["error"]) else (status, answer)
    return soon(path + " is taken", attempt)


def is_refused(status, says, path, **how):
    got, answer = show.ask(path, **how)
    assert got == status, (got, answer)
    assert says in answer["error"], answer


def fault(name):
    return next(f for f in show.state()["faults"] if f["name"] == name)


def raw(path, headers):
    """(status, headers) of a request for a part of the page."""
    try:
        with urllib.request.urlopen(urllib.request.Request(show.base + path, headers=headers)) as answer:
            return answer.status, answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.headers


def the_page_is_open_and_strict():
    for path in ("/", "/show.css", "/show.js", "/words.js", "/lines.js"):
        status, headers = raw(path, {})
        policy = headers["Content-Security-Policy"]
        assert status == 200, (path, status)
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy, policy
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["Cache-Control"] == "no-store"
        assert "Access-Control-Allow-Origin" not in headers


def a_page_polls_on_one_connection():
    connection = http.client.HTTPConnection("127.0.0.1", int(show.base.rsplit(":", 1)[1]), timeout=60)

    def stays_open_after(path, **how):
        connection.request("GET", path, headers=right, **how)
        answer = connection.getresponse()
        assert answer.status == 200 and answer.read(), (path, answer.status)
        return not answer.will_close

    assert stays_open_after("/api/state")
    own = connection.sock
    assert stays_open_after("/api/state") and connection.sock is own
    assert not stays_open_after("/api/state", body=b"a body that no answer reads")
    assert not stays_open_after("/api/catalog")
    connection.close()


def brackets_end_no_thread():
    for body in ("[" * 4000, '{"a":' * 800, '{"name":' + "[" * 3900):
        status, answer = post_text("/api/fault", body)
        assert status == 400 and "brackets" in answer["error"], (status, answer)
    assert show.process.poll() is None and phase() == "ready"


def every_field_is_read_or_refused():
    for path, text, says in (("/api/fault", '{"name": "freeze", "colour": 1}', "no field colour"), ("/api/fault", '{"name": "clock", "server": 5}', "server"),
                             ("/api/fault", '{"name": "freeze", "target": "1"}', "target"), ("/api/fault", '{"name": "freeze", "name": "kill"}', "twice"),
                             ("/api/heal", '{"name": "freeze"}', "no field name"), ("/api/run/stop", '{"lock": "none"}', "no field lock"),
                             ("/api/lesson", '{"number": 1, "answer": "sound"}', "no field answer"), ("/api/run", "[]", "no JSON object"),
                             ("/api/run", '{"stock": 1e3}', "stock"), ("/api/run", '{"lock": null}', "lock")):
        status, answer = post_text(path, text)
        assert status == 400 and says in answer["error"], (path, text, status, answer)
    assert phase() == "ready"


def a_slow_body_takes_nothing_back():
    """One browser has sent the head of its request when another changes a setting: both changes stay."""
    body = b'{"stock": 222}'
    head = f"POST /api/offer HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {show.token}\r\nContent-Length: {len(body)}\r\n\r\n"
    lease_ms = 1234

    def both_change():
        """On a slow machine the body comes later than a request may take, and is refused."""
        nonlocal lease_ms
        lease_ms += 1
        with socket.create_connection(("127.0.0.1", int(show.base.rsplit(":", 1)[1]))) as slow:
            slow.sendall(head.encode())
            soon("the head has been read", lambda: show.ask("/api/state")[0] == 200)
            assert post("/api/offer", {"lease_ms": lease_ms})[0] == 202
            wait_phase("ready")
            soon("the other change", lambda: settings()["lease_ms"] == lease_ms)
            try:
                slow.sendall(body)
                return b" 202 " in slow.recv(4096)
            except ConnectionError:
                return False

    soon("the slow change is in time", both_change)
    soon("the change of the slow one", lambda: settings()["stock"] == 222)
    assert settings()["lease_ms"] == lease_ms, settings()
    assert post("/api/offer", {"lease_ms": 1500, "stock": 200})[0] == 202
    wait_phase("ready")


def post_text(path, text):
    request = urllib.request.Request(show.base + path, data=text.encode(), headers=right, method="POST")
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def run(settings):
    """Begin a sale, and return a state of it, not of the sale before."""
    before = show.state()
    status, answer = post("/api/run", settings)
    assert status == 202, answer
    show.wait_begun(before)


def a_sale(settings):
    run(settings)
    wait_phase("ended")
    soon("the verdict is final", lambda: show.state()["verdict"]["final"])
    state = show.state()
    assert state["stock"]["sold"] == show.orders() == wrk_count(), (state["stock"], show.orders(), wrk_count())
    return state


def wrk_count():
    """The number of accepted orders in wrk's own summary."""
    paths = glob.glob(os.path.join(show.directory, "show-*", "load.json"))
    with open(max(paths, key=os.path.getmtime), encoding="utf-8") as summary:
        return json.load(summary)["outcomes"]["accepted"]


def a_lock_keeps_the_sale_sound():
    state = a_sale({"lock": "reentrant"})
    assert state["verdict"]["valid"] is True, state["verdict"]
    assert state["stock"] == {"issued": 200, "left": 0, "sold": 200}, state["stock"]


def no_lock_oversells():
    state = a_sale({"lock": "none", "order_path": "each"})
    verdict, stock = state["verdict"], state["stock"]
    assert verdict["valid"] is False and verdict["lost_updates"] > 0, verdict
    assert verdict["oversold"] == stock["sold"] - 200 > 0, (verdict, stock)


def orders_come_at_the_rate():
    """The open loop sends in place of wrk: never more than the rate, and what was accepted is in the database."""
    rate = 100
    run({"lock": "reentrant", "stock": 500000, "rate": rate})
    soon("an order", lambda: show.state()["stock"]["sold"] > 20)
    assert post("/api/fault", {"name": "freeze"})[0] == 202
    soon("a process is frozen", lambda: fault("freeze")["state"] == "on")
    assert post("/api/heal")[0] == 202
    soon("the fault is over", lambda: fault("freeze")["state"] == "off")
    soon("a median", lambda: show.state()["rates"]["p50_us"][-1] is not None)
    state = show.state()
    assert state["stock"]["sold"] <= rate * (state["run"]["elapsed_ms"] / 1000 + 1), (state["stock"], state["run"])
    assert [e["number"] for e in state["events"] if e["kind"] == "started-rated"] == [rate], state["events"]
    assert f"--rate={rate}" in state["run"]["command"], state["run"]["command"]
    stopping_ends_the_load()


def one_user_orders_from_everywhere():
    """The guard counts a user's orders, and its count is right only with a lock."""
    run({"lock": "none", "stock": 500000, "users": "same", "duplicate_guard": "count", "stock_guard": "conditional", "rate": 0})
    soon("a second order of a user", lambda: show.state()["verdict"]["duplicates"] > 0)
    assert show.state()["verdict"]["valid"] is False
    run({"lock": "reentrant"})
    soon("orders", lambda: show.state()["stock"]["sold"] > 10)
    stopping_ends_the_load()
    soon("the verdict is final", lambda: show.state()["verdict"]["final"])
    assert show.state()["verdict"]["valid"] is True, show.state()["verdict"]
    assert post("/api/offer", {"users": "different", "duplicate_guard": "none", "stock_guard": "read-write"})[0] == 202
    wait_phase("ready")


def begin():
    """A sale that goes on for long, with one order at least."""
    run({"lock": "reentrant", "stock": 500000, "lease_ms": 1500, "processes": 2})
    wait_phase("running")
    soon("an order", lambda: show.state()["stock"]["sold"] > 0)


def a_frozen_holder_loses_its_lock():
    begin()
    assert post("/api/fault", {"name": "freeze"})[0] == 202
    soon("a process is frozen", lambda: fault("freeze")["state"] == "on")
    frozen = fault("freeze")["process"]

    def late():
        state = show.state()
        process, lock = state["processes"][frozen - 1], state["store"]["locks"][0]
        return process["state"] == "frozen" and process["lease"]["by_right"] is False and lock["process"] not in (0, frozen)
    soon("another process holds the lock", late)
    assert open(f"/proc/{show.state()['processes'][frozen - 1]['pid']}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()[0] == "T"


def silent_clients_hold_nobody_up():
    """A silent client is disconnected after five seconds; a client behind a thousand silent ones must not wait for them."""
    sold, address = show.state()["stock"]["sold"], ("127.0.0.1", int(show.base.rsplit(":", 1)[1]))
    silent = [socket.create_connection(address) for _ in range(1000)]
    begin = time.monotonic()
    assert show.ask("/api/state")[0] == 200
    waited = time.monotonic() - begin
    soon("the sale goes on", lambda: show.state()["stock"]["sold"] > sold)
    for one in silent:
        one.close()
    assert waited < 10, f"an answer took {waited:.1f} s"


def its_late_write_loses_updates():
    assert post("/api/heal")[0] == 202
    soon("the lost update is seen", lambda: show.state()["verdict"]["lost_updates"] > 0)
    soon("the verdict is final", lambda: (lambda v: v["valid"] is False and v["final"] is True)(show.state()["verdict"]))


def slow_work_is_renewed():
    assert post("/api/fault", {"name": "slow"})[0] == 202
    soon("work is slow", lambda: fault("slow")["state"] == "on")
    soon("the lease is renewed", lambda: show.state()["store"]["locks"][0]["renewals"] >= 2)

    def holds_by_right():
        state = show.state()
        slow = next(f for f in state["faults"] if f["name"] == "slow")
        process = state["processes"][slow["process"] - 1]
        return process["state"] == "slow" and process["lease"] and process["lease"]["by_right"] is True
    soon("the slow process holds the lock by right", holds_by_right)
    status, answer = post("/api/fault", {"name": "freeze"})
    assert status == 202, answer
    assert post("/api/fault", {"name": "freeze"})[0] == 202
    assert post("/api/fault", {"name": "slow"})[0] == 202
    soon("the fault is over", lambda: fault("slow")["state"] == "off")


def a_killed_process_comes_back():
    pid = show.state()["processes"][1]["pid"]
    assert post("/api/fault", {"name": "kill", "target": 2})[0] == 202
    soon("it is dead", lambda: show.state()["processes"][1]["state"] == "dead")
    soon("the system has forgotten it", lambda: not os.path.exists(f"/proc/{pid}"))
    assert post("/api/fault", {"name": "kill"})[0] == 202
    soon("another one runs", lambda: show.state()["processes"][1]["state"] != "dead")
    assert show.state()["processes"][1]["pid"] != pid


def stopping_ends_the_load():
    assert post("/api/run/stop")[0] == 202
    wait_phase("ended")
    soon("nothing is in flight", lambda: show.state()["verdict"]["in_flight"] == 0)
    soon("the count is SQL's", lambda: show.state()["stock"]["sold"] == show.orders())


def settings_that_do_not_fit_say_why():
    assert post("/api/offer", {"lock": "lua", "stock_guard": "fence"})[0] == 202
    wait_phase("failed")
    assert "fence" in show.state()["run"]["why"]
    assert post("/api/offer", {"lock": "fenced", "stock_guard": "fence"})[0] == 202
    wait_phase("ready")


def a_change_restarts_the_sale():
    state = show.state()
    assert post("/api/offer", {"lock": "reentrant", "stock_guard": "read-write", "lease_ms": 700})[0] == 202
    changed = soon("a fresh sale", lambda: (lambda s: s if s["run"]["id"] > state["run"]["id"] and s["phase"] == "ready" else None)(show.state()))
    assert changed["run"]["voucher"] != state["run"]["voucher"] and changed["stock"]["sold"] == 0, changed["stock"]
    assert "--lock-lease=700ms" in changed["run"]["command"], changed["run"]["command"]
    assert changed["run"]["made_ms"] > 0
    print(f"# the sale was restarted in {changed['run']['made_ms']} ms")


def a_change_under_load_starts_all_anew():
    """A process is dead, and the answers to its clients are lost: the old sale ends, and then the new one begins."""
    begin()
    assert post("/api/fault", {"name": "kill", "target": 2})[0] == 202
    soon("it is dead", lambda: show.state()["processes"][1]["state"] == "dead")
    before = show.state()
    status, answer = post("/api/run", {"lock": "lua", "processes": 3})
    assert status == 202, answer
    phases = []

    def has_begun():
        state = show.state()
        if [state["phase"]] != phases[-1:]:
            phases.append(state["phase"])
        return state["run"]["id"] > before["run"]["id"] and state["phase"] == "running"
    soon("the load runs again", has_begun)
    # A poll may miss a phase, and never sees them in another order.
    order = iter(("running", "starting", "ready", "starting", "running"))
    assert all(p in order for p in phases), phases
    after = show.state()
    assert after["run"]["voucher"] > before["run"]["voucher"] and after["run"]["settings"]["lock"] == "lua", after["run"]
    assert len(after["processes"]) == 3 and not {p["pid"] for p in before["processes"]} & {p["pid"] for p in after["processes"]}
    for process in before["processes"]:
        assert not os.path.exists(f"/proc/{process['pid']}"), process
    kinds = [e["kind"] for e in after["events"] if e["seq"] > before["events"][-1]["seq"]]
    assert [k for k in kinds if k in ("restarted", "failed", "offered", "started")] == ["offered", "started"], kinds
    print(f"# the sale was restarted in {after['run']['made_ms']} ms")
    assert post("/api/run/stop")[0] == 202
    wait_phase("ended")


def the_end_leaves_nothing():
    pids = [p["pid"] for p in show.state()["processes"]]
    assert show.stop(signal.SIGINT) == 0
    for pid in pids:
        assert not os.path.exists(f"/proc/{pid}"), pid
    assert not os.path.exists(os.path.join(show.lab, "state.json"))


try:
    tap.check("the page is open to this machine, under a strict policy", the_page_is_open_and_strict)
    tap.check("a page polls the state on one connection", a_page_polls_on_one_connection)
    tap.check("no token: 401", lambda: is_refused(401, "prints the token", "/api/state", headers={}))
    tap.check("a wrong token: 403", lambda: is_refused(403, "prints it", "/api/state", headers={"Authorization": "Bearer 00"}))
    tap.check("a foreign Host: 421", lambda: is_refused(421, "one Host", "/api/state", headers={**right, "Host": "evil.example"}))
    tap.check("a foreign Host gets no page either", lambda: is_refused(421, "one Host", "/", headers={"Host": "evil.example"}))
    tap.check("a foreign Origin: 403", lambda: is_refused(403, "other sites", "/api/run", headers={**right, "Origin": "http://evil.example"}, body={}))
    tap.check("no fault while nothing runs: 409", lambda: is_refused(409, "nothing runs", "/api/fault", body={"name": "freeze"}))
    tap.check("a setting out of its bounds: 400", lambda: is_refused(400, "lease_ms", "/api/run", body={"lease_ms": 1}))
    tap.check("a setting that is none: 400", lambda: is_refused(400, "no setting", "/api/run", body={"colour": "red"}))
    tap.check("a body of brackets: 400, and the laboratory goes on", brackets_end_no_thread)
    tap.check("a field that nobody reads is refused", every_field_is_read_or_refused)
    tap.check("a request whose body comes late takes no change of another back", a_slow_body_takes_nothing_back)
    tap.check("a lock keeps the sale sound, as the page, SQL and wrk count it", a_lock_keeps_the_sale_sound)
    tap.check("without a lock it oversells, as the page, SQL and wrk count it", no_lock_oversells)
    tap.check("a frozen holder loses its lock to another", a_frozen_holder_loses_its_lock)
    tap.check("and its late write loses updates", its_late_write_loses_updates)
    tap.check("a thousand silent clients hold nobody up, and the sale goes on", silent_clients_hold_nobody_up)
    tap.check("slow work is renewed, and a second fault is given and taken back", slow_work_is_renewed)
    tap.check("a killed process comes back", a_killed_process_comes_back)
    tap.check("a stop ends the load, and the counts are SQL's", stopping_ends_the_load)
    tap.check("orders come at a fixed rate, and a fault beside them", orders_come_at_the_rate)
    tap.check("one user orders from everywhere: sound under a lock alone", one_user_orders_from_everywhere)
    tap.check("settings that do not fit say why, and others go on", settings_that_do_not_fit_say_why)
    tap.check("a change restarts the sale with a fresh voucher, and says the command", a_change_restarts_the_sale)
    tap.check("a change under load ends the old processes, a dead one too, before the new load", a_change_under_load_starts_all_anew)
    tap.check("an interrupt takes everything down", the_end_leaves_nothing)
finally:
    show.close()
tap.end()
