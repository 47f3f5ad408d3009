# SPDX-License-Identifier: MIT
"""look.py -- the live page as eyes, keyboards and screen readers meet it: contrast, sizes, names,
focus, widths, calm and languages, in its states, in both themes and in presenter mode; and that
names which a person chooses stay text."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
from laboratory import Show, Tap  # noqa: E402  the folder has to be known first
from page import Page  # noqa: E402
import checks  # noqa: E402

ONE_SCREEN = ("#verdict", "#lanes", "#ttl", ".trouble")
tap = Tap(16)
trouble = {}
show = Show("--stock=500000", "--limit=600s", "--connections=8", "--lock-lease=2s")
page = Page(show.address)


def press(key, changed):
    page.press(key)
    page.wait(f"{key} is heard", changed)
    page.wait_shown()


def replace(parts):
    """From now on the page gets these parts of the state in place of the laboratory's."""
    page.driver.execute_script("""const real = window.fetch;
        window.parts = arguments[0];
        window.fetch = async (...a) => { const r = await real(...a); if (!String(a[0]).endsWith('/state')) { return r; }
          return new Response(JSON.stringify({...await r.json(), ...window.parts}), {status: r.status}); };""", parts)


def dark(on):
    press("d", lambda p: (p.data("theme") == "dark") == on)


def presenter(on):
    press("p", lambda p: p.js("document.documentElement.classList.contains('presenter')") == on)


def language(wanted):
    press("l", lambda p: p.js("document.documentElement.lang").startswith(wanted))


def ready():
    page.wait_phase("ready")
    page.wait_shown()
    checks.everything(page, page.wait_shown)


def dark_ready():
    dark(True)
    checks.contrast(page)
    dark(False)


def in_trouble():
    """The fullest page: a holder is frozen, another one has its lock.  A later check shows it again: while a
    process is frozen, time is short, since PostgreSQL ends its transaction in the end."""
    global trouble
    page.begin_sale(lambda: page.press(" "))
    page.wait("orders", lambda p: int(p.text("#sold").replace(",", "")) > 0)
    page.press("f")
    page.wait("a late holder", lambda p: p.js("document.getElementById('also').classList.contains('hot')"))
    trouble = {k: v for k, v in page.js("state").items() if k not in ("seq", "boot_id")}
    for check in (checks.contrast, checks.no_overlap, checks.sizes, checks.names, checks.live_regions):
        check(page)
    checks.fits_one_screen(page, ONE_SCREEN + (".lower",))


def in_trouble_everywhere():
    dark(True)
    checks.contrast(page)
    language("zh")
    checks.contrast(page)
    checks.no_overlap(page)
    checks.fits_one_screen(page, ONE_SCREEN + (".lower",))
    dark(False)


def presented():
    presenter(True)
    for lang in ("en", "zh"):
        language(lang)
        checks.fits_one_screen(page, ONE_SCREEN)
        checks.sizes(page, 24)
        checks.no_overlap(page)
        checks.contrast(page)
    dark(True)
    checks.contrast(page)
    dark(False)
    presenter(False)
    language("en")


def turned():
    page.press("u")
    page.wait("the verdict turns", lambda p: p.data("verdict") == "false final")
    page.wait_shown()
    checks.contrast(page)
    checks.no_overlap(page)
    presenter(True)
    checks.fits_one_screen(page, ONE_SCREEN)
    checks.sizes(page, 24)
    presenter(False)


def narrow():
    checks.widths(page, page.wait_shown)


def keys_listed():
    page.press("?")
    page.wait("the list of keys", lambda p: p.js("document.querySelector('dialog[open]') !== null"))
    checks.contrast(page)
    checks.names(page)
    checks.tab_order(page)
    page.press("\ue00c")
    page.wait("it is closed", lambda p: p.js("document.querySelector('dialog[open]') === null"))


def keyboard():
    checks.tab_order(page)


def both_languages():
    def switch():
        language("zh" if page.js("document.documentElement.lang") == "en" else "en")
    checks.languages(page, switch, same=("seckill show", "Redis", "lock:"))


def numbers_of_the_address():
    """The link starts the same state again, and loses its token when it is opened."""
    settings = page.js("Object.fromEntries(new URLSearchParams(document.getElementById('link').hash.slice(1)))")
    settings.update(lock="none", stock="77")
    page.driver.get(show.base + "/#" + "&".join(f"{k}={v}" for k, v in settings.items()))
    page.wait("the sale of the link", lambda p: p.data("phase") in ("ready", "running") and p.js("document.getElementById('set-lock') && document.getElementById('set-lock').value") == "none"
              and p.js("document.getElementById('set-stock').value") == "77")
    page.wait("the address without settings", lambda p: p.js("location.href") == show.base + "/")


def hostile_address():
    page.driver.get(show.base + "/#" + "&".join(f"{name}={page.js('encodeURIComponent(arguments[0])', checks.HOSTILE)}" for name in ("lock", "stock", "lang", "colour")))
    page.driver.refresh()
    page.wait("the page", lambda p: p.data("seq"))
    page.wait_shown()
    checks.is_unharmed(page)


def hostile_names():
    """Put the hostile name into every text of the state: users, vouchers, locks and owners."""
    page.driver.execute_script("""const name = arguments[0], spoil = (v, key) => typeof v === 'string' && !['phase', 'state', 'boot_id', 'kind', 'lane'].includes(key) ? name
          : Array.isArray(v) ? v.map((x) => spoil(x, key)) : v && typeof v === 'object' ? Object.fromEntries(Object.entries(v).map(([k, x]) => [k, spoil(x, k)])) : v;
        const real = window.fetch;
        window.spoilt = 0;
        window.fetch = async (...a) => { const r = await real(...a); if (!String(a[0]).endsWith('/state')) { return r; }
          const s = await r.json(), t = {...s, run: {...s.run, command: name, why: name, settings: s.run.settings}, store: spoil(s.store), events: s.events.map((e) => ({...e, said: name}))};
          window.spoilt++; return new Response(JSON.stringify(t), {status: r.status}); };""", checks.HOSTILE)
    page.wait("spoilt states", lambda p: p.js("window.spoilt") > 2)
    page.wait("the name as text", lambda p: "<script>" in p.js("document.body.textContent"))
    checks.is_unharmed(page)


def labels_of_the_bar():
    """The stock's labels, from nothing sold to a hundred times what there was, and whatever the row says."""
    page.driver.get(show.base)
    page.wait("the page", lambda p: p.data("seq"))
    replace({"stock": {"issued": 200, "left": 200, "sold": 0}})
    for is_presented in (False, True):
        for sold in (0, 100, 199, 200, 201, 240, 390, 950, 1082, 1990, 19000):
            for left in {200, 149, 43, 1, 0}:
                page.js("(window.parts.stock = {issued: 200, left: arguments[0], sold: arguments[1]})", left, sold)
                page.js("(state.stock = window.parts.stock, show())")
                checks.no_overlap(page)
        presenter(not is_presented)


def sold_much():
    """Long numbers, a detail of two lines and stacked labels must still fit on one screen."""
    for is_presented in (False, True):
        for sold in (1, 1457, 12345, 199999, 200000, 499999, 500999, 1234567):
            replace({**trouble, "stock": {"issued": 500000, "left": max(0, 500000 - sold), "sold": sold}})
            page.wait(f"{sold:,} sold", lambda p: p.text("#sold") == f"{sold:,}")
            assert page.js("document.getElementById('also').classList.contains('hot')")
            checks.fits_one_screen(page, ONE_SCREEN + (() if is_presented else (".lower",)))
            checks.no_overlap(page)
        presenter(not is_presented)


try:
    tap.check("the page that waits keeps all rules", ready)
    tap.check("in the dark, too", dark_ready)
    tap.check("a page in trouble keeps them, on one screen", in_trouble)
    tap.check("dark and in Chinese", in_trouble_everywhere)
    tap.check("presented, in both languages: one screen, no text below 24 px", presented)
    tap.check("when the verdict has turned", turned)
    tap.check("at 320, 640, 1024 and 1920 px", narrow)
    tap.check("the list of keys", keys_listed)
    tap.check("Tab reaches everything, and shows where it is", keyboard)
    tap.check("L changes every text", both_languages)
    tap.check("no console error, no request leaves the origin", lambda: checks.is_quiet(page, show.base))
    tap.check("the link starts the same again", numbers_of_the_address)
    tap.check("an address with hostile names does nothing", hostile_address)
    tap.check("hostile names are shown as text", hostile_names)
    tap.check("whatever is sold, no label of the stock is over another", labels_of_the_bar)
    tap.check("whatever is sold, a page in trouble fits on one screen", sold_much)
finally:
    page.close()
    show.close()
tap.end()
