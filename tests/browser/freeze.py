# SPDX-License-Identifier: MIT
"""freeze.py -- the holder is frozen and continued by buttons: what the page shows, and in which order."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
from laboratory import Show, Tap  # noqa: E402  the folder has to be known first
from page import Page  # noqa: E402

tap = Tap(13)
show = Show("--stock=500000", "--limit=600s", "--connections=8", "--lock-lease=2s")
page = None
# The states of the page, each time that a part of it changed.
WATCH = """window.seen = []; window.watch = setInterval(() => {
    const states = [...document.querySelectorAll('#lanes [data-state]')].map((e) => e.dataset.state).join(' ');
    const now = {states, late: document.getElementById('also').classList.contains('hot'), ttl: document.getElementById('ttl').dataset.ms,
        verdict: document.documentElement.dataset.verdict, apart: !!document.querySelector('#bar .lost, #bar .over')};
    if (JSON.stringify(now) !== JSON.stringify(window.seen[window.seen.length - 1])) { window.seen.push(now); }
}, 20)"""


def begin(lock, guard):
    def check():
        global page
        if page is None:
            page = Page(show.address)
            page.wait_phase("ready")
        for name, value in (("lock", lock), ("stock_guard", guard)):
            choose(name, value)
        page.begin_sale(lambda: page.click("#go"))
        page.wait("orders", lambda p: int(p.text("#sold").replace(",", "")) > 0)
        page.driver.execute_script(WATCH)
    return check


def choose(name, value):
    """Set the value as a person does, unless it is set already."""
    if page.js("document.getElementById('set-' + arguments[0]).value", name) == value:
        return
    before = int(page.data("run"))
    page.driver.execute_script("""const e = document.getElementById('set-' + arguments[0]); e.value = arguments[1];
        e.dispatchEvent(new Event('change')); e.blur();""", name, value)
    page.wait(f"{name} is {value}", lambda p: int(p.data("run")) > before and p.data("phase") in ("ready", "failed"))


def freeze():
    page.click("#faults [data-fault=freeze]")
    page.wait("the lane shows stopped", lambda p: p.js("!!document.querySelector('#lanes [data-state=frozen]')"))


def another_holder():
    page.wait("the store's time to live ran out, and a second holder is there",
              lambda p: p.js("document.getElementById('also').classList.contains('hot') && !!document.querySelector('#lanes [data-state=holding]')"))


def go_on():
    page.click("#faults [data-fault=freeze]")
    page.wait("no lane is frozen", lambda p: not p.js("document.querySelector('#lanes [data-state=frozen]')"))


def parts_and_turns():
    page.wait("row and orders part", lambda p: p.js("!!document.querySelector('#bar .lost, #bar .over')"))
    page.wait("the verdict turns", lambda p: p.data("verdict") == "false final")


def in_this_order():
    seen = page.js("window.seen")
    page.js("clearInterval(window.watch)")

    def first(what, condition):
        return next((i for i, s in enumerate(seen) if condition(s)), None) if seen else what
    frozen = first("frozen", lambda s: "frozen" in s["states"])
    # The lease is not renewed any more: two looks within the lease show that its time falls.
    ttls = [int(s["ttl"]) if s["ttl"] else None for s in seen]
    low = next((i for i in range(frozen + 1, len(seen)) if None not in ttls[i - 1:i + 1] and ttls[i] < ttls[i - 1]), None)
    late = first("late", lambda s: s["late"])
    apart = first("apart", lambda s: s["apart"])
    turned = first("turned", lambda s: s["verdict"].startswith("false"))
    assert None not in (frozen, low, late, apart, turned), (frozen, low, late, apart, turned)
    assert frozen < low < late < turned and frozen < apart and late < apart, (frozen, low, late, apart, turned)
    assert all(s["verdict"].startswith("true") for s in seen[frozen:late]), "the verdict turned before its time"


def stopped():
    page.end_sale(page.click_slowly)


def refused():
    page.wait("the page names the refused write", lambda p: "refused" in p.js("document.getElementById('log').textContent") and p.js(
        "Number(document.getElementById('detail').dataset.refused) > 0"))


def stays_sound():
    page.end_sale(page.click)
    page.wait("the verdict", lambda p: p.data("verdict") == "true final")
    page.wait("the count is the database's", lambda p: int(p.text("#sold").replace(",", "")) == show.orders())


try:
    tap.check("reentrant with guard read-write sells", begin("reentrant", "read-write"))
    tap.check("the button freezes the holder, and its lane shows stopped", freeze)
    tap.check("the time to live runs out, and a second holder appears", another_holder)
    tap.check("the same button lets it go on", go_on)
    tap.check("row and orders part, and the verdict turns", parts_and_turns)
    tap.check("all of it came in this order", in_this_order)
    tap.check("a slow click on the button ends the sale: the page drew itself between press and release", stopped)
    tap.check("fenced with guard fence sells", begin("fenced", "fence"))
    tap.check("the holder is frozen", freeze)
    tap.check("a second holder appears", another_holder)
    tap.check("it goes on", go_on)
    tap.check("its late write is refused, and named", refused)
    tap.check("the sale is sound, finally, and sold is what SQL counts", stays_sound)
finally:
    if page:
        page.close()
    show.close()
tap.end()
