# SPDX-License-Identifier: MIT
"""again.py -- a state of the live page is started again by the command line on the page, and by its link."""
import os
import shlex
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
from laboratory import Show, Tap, soon  # noqa: E402  the folder has to be known first
from page import Page  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

# None of these is the default.
FLAGS = {"locks": "lua", "lock-scope": "user", "stock-guard": "conditional", "duplicate-guard": "count", "watchdog": "off",
         "order-path": "combined", "lock-lease": "700ms", "processes": 3, "connections": 5, "users": "same", "rate": 50,
         "stock": 123}
tap = Tap(9)
show = Show("--limit=45s", *(f"--{name}={value}" for name, value in FLAGS.items()))
page = None
first = None


def settings():
    return show.state()["run"]["settings"]


def post(path, body):
    def attempt():
        status, answer = show.ask(path, body)
        return None if status == 409 and "being" in answer["error"] else (status, answer)
    status, answer = soon(path + " is taken", attempt)
    assert status == 202, answer


def every_switch_is_a_flag():
    global first
    first = settings()
    given = [int(str(value).removesuffix("ms")) if str(value)[0].isdigit() else value for value in FLAGS.values()]
    assert sorted(map(str, first.values())) == sorted(map(str, given)), first
    assert show.state()["run"]["limit_ms"] == 45000


def started_by(command, is_begun=lambda state: True):
    """Start the command line of the page, and return the state after its begin."""
    words = shlex.split(command)
    assert words[:2] == ["seckill", "show"], words
    other = Show(*words[2:])
    try:
        return soon("what the command starts", lambda: (state := other.state()) and is_begun(state) and state)
    finally:
        other.close()


def the_command_starts_the_same():
    other = started_by(show.state()["run"]["command"])
    assert other["run"]["settings"] == first and other["run"]["limit_ms"] == 45000, other["run"]
    assert other["run"]["command"] == show.state()["run"]["command"] and other["lesson"] is None


def change_all():
    """Give every setting another value than its default."""
    post("/api/offer", {"lock": "none", "scope": "voucher", "stock_guard": "read-write", "duplicate_guard": "none", "watchdog": "on",
                        "order_path": "each", "lease_ms": 900, "processes": 2, "connections": 6, "users": "different", "rate": 60,
                        "stock": 321})
    soon("the change", lambda: show.state()["phase"] == "ready" and not set(settings().items()) & set(first.items()))


def open_page():
    global page
    page = Page(show.address)
    page.wait_phase("ready")


def link():
    return page.js("document.getElementById('link').href")


def control(name):
    return page.js("document.getElementById('set-' + arguments[0]).value", name)


def keys_choose_one_lock():
    open_page()
    run = page.sale()[1]
    page.js("document.getElementById('set-lock').focus()")
    for _ in range(3):
        page.press(Keys.ARROW_DOWN)
    page.wait("one more sale", lambda p: p.sale() == ["ready", run + 1])
    assert settings()["lock"] == control("lock") != first["lock"], (settings(), control("lock"))


def a_refused_value_goes_back():
    page.js("document.getElementById('set-lease_ms').select()")
    page.press("1" + Keys.ENTER)
    page.wait("the reason", lambda p: "lease_ms" in p.text("#why"))
    page.wait("the value that is", lambda p: control("lease_ms") == str(settings()["lease_ms"]))
    post("/api/offer", first)
    page.close()


def the_link_starts_the_same():
    open_page()
    page.wait("the link of the first settings", lambda p: "stock=123" in link())
    address = link()
    change_all()
    page.wait("the page shows the change", lambda p: "stock=321" in link())
    before = show.state()["run"]
    page.driver.get(address)
    soon("the first settings again", lambda: settings() == first and show.state()["phase"] == "ready")
    assert show.state()["run"]["voucher"] > before["voucher"]
    page.wait("the address has no token", lambda p: p.js("location.href") == show.base + "/")


def a_page_that_is_opened_by_it():
    page.wait("the link of the first settings", lambda p: "stock=123" in link())
    address = link()
    change_all()
    page.close()
    again = Page(address)
    try:
        soon("the first settings again", lambda: settings() == first and show.state()["phase"] == "ready")
    finally:
        again.close()


def a_lesson_by_its_command():
    post("/api/lesson", {"number": 4})
    soon("the lesson", lambda: (show.state()["lesson"] or {}).get("number") == 4 and show.state()["phase"] == "ready")
    other = started_by(show.state()["run"]["command"], lambda state: state["lesson"])
    assert other["lesson"]["number"] == 4 and other["run"]["settings"] == settings(), other["lesson"]


def a_lesson_by_its_link():
    open_page()
    page.wait("the link of the lesson", lambda p: "lesson=4" in link())
    address = link()
    post("/api/lesson", {"number": 0})
    page.wait("no lesson", lambda p: "lesson" not in link())
    page.driver.get(address)
    soon("the lesson again", lambda: (show.state()["lesson"] or {}).get("number") == 4)


def the_language_is_in_the_link():
    page.press("l")
    page.wait("the link has the language", lambda p: "lang=zh" in link())


try:
    tap.check("every switch is a flag", every_switch_is_a_flag)
    tap.check("the command line that is said starts the same", the_command_starts_the_same)
    tap.check("keys down a list choose one lock, and start one sale", keys_choose_one_lock)
    tap.check("what is refused goes back to what is, with the reason", a_refused_value_goes_back)
    tap.check("the link starts the same in the page that is open", the_link_starts_the_same)
    tap.check("a page that is opened by the link starts the same", a_page_that_is_opened_by_it)
    tap.check("the command line of a lesson starts the lesson", a_lesson_by_its_command)
    tap.check("the link of a lesson starts the lesson", a_lesson_by_its_link)
    tap.check("the link keeps the language", the_language_is_in_the_link)
finally:
    if page:
        page.close()
    show.close()
tap.end()
