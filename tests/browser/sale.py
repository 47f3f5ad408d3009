# SPDX-License-Identifier: MIT
"""sale.py -- the page of `seckill show` in a browser: what the page shows after each key and button."""
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
from laboratory import Show, Tap  # noqa: E402  the folder has to be known first
from page import Page  # noqa: E402
import checks  # noqa: E402

tap = Tap(14)
show = Show("--stock=500000", "--limit=600s", "--lock-lease=1s", "--connections=8")
page = None


def open_page():
    global page
    page = Page(show.address)
    page.wait_phase("ready")


def token_is_gone():
    assert page.js("location.href") == show.base + "/", page.js("location.href")
    assert page.js("sessionStorage.getItem('token')") == show.token


def space_runs():
    page.begin_sale(lambda: page.press(" "))
    page.wait("orders on the page", lambda p: int(p.text("#sold").replace(",", "")) > 0)
    page.wait("sound so far", lambda p: p.data("verdict") == "true")


def f_freezes():
    page.press("f")
    page.wait("a lane is frozen", lambda p: p.js("!!document.querySelector('#lanes [data-state=frozen]')"))


def another_holds():
    page.wait("the page says whose belief is wrong", lambda p: p.js("document.getElementById('also').classList.contains('hot')"))
    page.wait("another holder", lambda p: p.js("!!document.querySelector('#lanes [data-state=holding]')"))


def u_undoes():
    page.press("u")
    page.wait("the verdict turns", lambda p: p.data("verdict") == "false final")
    page.wait("no lane is frozen", lambda p: not p.js("document.querySelector('#lanes [data-state=frozen]')"))
    page.wait("the page says what was lost", lambda p: "back in stock" in p.text("#head"))


def language_changes():
    def switch():
        before = page.js("document.documentElement.lang")
        page.press("l")
        page.wait("html[lang]", lambda p: p.js("document.documentElement.lang") != before)
        page.wait_shown()
    checks.languages(page, switch, same=("seckill show", "Redis", "lock:"))


def presenter_fits():
    page.press("p")
    page.wait_shown()
    checks.fits_one_screen(page, ("#verdict", "#lanes", "#ttl", ".trouble"))
    checks.sizes(page, 24)
    checks.contrast(page)
    page.press("g")
    page.wait("the reason of the refusal", lambda p: "no gap" in p.text("#latest"))
    page.press("p")
    page.wait_shown()
    checks.sizes(page)


def space_stops():
    page.press(" ")
    page.wait_phase("ended")
    page.wait("the count is the database's", lambda p: int(p.text("#sold").replace(",", "")) == show.orders())
    page.assert_printed(*page.text("#verdict").split("\n")[1].strip().split(". "))


def nobody_was_met():
    """No process runs, so nobody holds a lock that Redis loses."""
    number = page.sale()[1]
    status, answer = show.ask("/api/run", {"lock": "reentrant", "stock": 100000, "rate": 50})
    assert status == 202, answer
    page.wait("the sale", lambda p: p.sale() == ["running", number + 1])
    page.wait("orders", lambda p: p.data("verdict") == "true")
    for process in show.state()["processes"]:
        os.kill(process["pid"], signal.SIGKILL)
    page.wait("all are dead", lambda p: p.text("#lanes").count("dead") == 2)
    page.press("e")
    page.wait("the log says it", lambda p: "nobody was at work with the lock" in p.text("#log"))
    page.press(" ")
    page.wait("the end", lambda p: p.data("verdict") == "true final")
    page.wait("it says so", lambda p: "Met nobody at work: Restart empty" in p.text("#detail"))


def without_a_lock_nothing_waits():
    status, answer = show.ask("/api/run", {"lock": "none", "stock": 100000, "rate": 0})
    assert status == 202, answer
    page.wait("a process works", lambda p: "works" in p.text("#lanes") and "waits" not in p.text("#lanes"))


def sell_without_a_lock():
    """A sale of 20 units, from its start to its last count."""
    number = page.sale()[1]
    status, answer = show.ask("/api/run", {"lock": "none", "stock": 20})
    assert status == 202, answer
    page.wait("the last count", lambda p: p.sale() == ["ended", number + 1] and p.data("verdict").endswith("final"))


def none_crosses_the_wall():
    """On a busy machine two processes may never read the same stock, so there are several sales."""
    for _ in range(10):
        sell_without_a_lock()
        if "Oversold by" in page.text("#head"):
            break
    page.wait("the page says oversold", lambda p: "Oversold by" in p.text("#head"))
    page.wait("the bar crosses the wall", lambda p: p.js("!!document.querySelector('#bar .over')"))


def nothing_left_the_origin():
    checks.is_quiet(page, show.base)


def the_end_shows_a_banner():
    assert show.stop(signal.SIGINT) == 0
    page.wait("the banner", lambda p: p.data("gone") == "true" and p.js("!document.getElementById('banner').hidden"))
    assert "has not answered" in page.text("#banner"), page.text("#banner")
    page.press(" ")
    page.wait("the page says that the request has no answer", lambda p: "did not answer the request" in p.text("#why"))


try:
    tap.check("the page shows the sale that is offered", open_page)
    tap.check("the token is in no address any more", token_is_gone)
    tap.check("Space starts the load, and it is sound so far", space_runs)
    tap.check("F freezes the holder, and its lane says so", f_freezes)
    tap.check("another one holds the lock, and the page says who believes to", another_holds)
    tap.check("U undoes, and the verdict turns: sold units are back in stock", u_undoes)
    tap.check("L changes every text and html[lang]", language_changes)
    tap.check("presenter mode fits 1280 x 720, and no text is too small", presenter_fits)
    tap.check("Space stops, and sold is what SQL counts", space_stops)
    tap.check("a fault that met nobody says so in the log and at the end", nobody_was_met)
    tap.check("without a lock a process works, and does not wait", without_a_lock_nothing_waits)
    tap.check("without a lock the bar crosses the wall, in words", none_crosses_the_wall)
    tap.check("no console error, no violation, no request leaves the origin", nothing_left_the_origin)
    tap.check("the laboratory ends, and a banner says so", the_end_shows_a_banner)
finally:
    if page:
        page.close()
    show.close()
tap.end()
