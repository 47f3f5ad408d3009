# SPDX-License-Identifier: MIT
"""pages.py -- the matrix and the timeline of real runs in a browser, from files and without a
network, in English and in Chinese."""
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
import checks  # noqa: E402  the folder has to be known first
from files import HOSTILE_DIRECTORY, address, end_lab, open_file, seckill  # noqa: E402
from laboratory import Tap  # noqa: E402
from page import Page  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

# Words that a Chinese text may have without a Chinese letter: names of locks and scenarios, numbers,
# times, and whom the records name.
PLAIN = re.compile(r"[\W\d_]*|[-+][\d.]+ ms( ·)?|seckill|naive|lua|wrong-delete|expired-lease|English|S\d+|pid \d+, \S+")
HOSTILE_LOCK = checks.HOSTILE.replace(" ", "_")  # a name of a history in text has no blanks

work = tempfile.mkdtemp(prefix="seckill-pages-")
lab, out = os.path.join(work, "lab"), os.path.join(work, HOSTILE_DIRECTORY)
files, page = {}, None
tap = Tap(13)


def show(name, fragment=""):
    open_file(page, files[name], fragment, "its buttons", lambda p: p.js("document.querySelectorAll('.tools button').length") == 4)


def language():
    return page.js("document.documentElement.lang")


def switch():
    was = language()
    page.press("l")
    page.wait("the other language", lambda p: language() != was)


def dark(on):
    page.press("d")
    page.wait("the other theme", lambda p: (p.data("theme") == "dark") == on)


def matrix(name, status, *flags):
    said = seckill("matrix", "--dir", lab, "--out", os.path.join(out, name), "--seeds=1", *flags, statuses=(status,))
    files[name] = os.path.join(re.search(r"^kept in (.*) \(matrix.html", said, re.M)[1], "matrix.html")


def written():
    global page
    os.mkdir(out)
    seckill("lab", "up", "--dir", lab)
    matrix("sound", 0, "--scenarios=wrong-delete,expired-lease", "--locks=naive,lua", "--keep")
    matrix("unexpected", 1, "--scenarios=wrong-delete", "--locks=naive,lua", "--expect=holds")
    run = os.path.dirname(files["unexpected"])
    records = [d.path for d in os.scandir(run) if d.is_dir() and "naive" in d.name]
    files["invalid"] = os.path.join(work, "invalid.html")
    seckill("check", records[0], "--html=" + files["invalid"], statuses=(1,))
    files["valid"] = os.path.join(work, "valid.html")
    kept = [d.path for d in os.scandir(os.path.dirname(files["sound"])) if d.is_dir() and "wrong-delete-lua" in d.name]
    seckill("check", kept[0], "--html=" + files["valid"])
    page = Page("about:blank", is_offline=True)


def without_live_region(name):
    """Nothing changes by itself on a matrix, so it needs no live region."""
    assert page.js("document.querySelectorAll('[aria-live], [role=status], output').length") == 0, name


def keeps_the_rules(name, regions):
    def check():
        show(name)
        for one in (checks.contrast, checks.no_overlap, checks.names, regions, checks.calm, checks.sizes, checks.tab_order, checks.widths):
            one(page)
        dark(True)
        checks.contrast(page)
        switch()
        for one in (checks.contrast, checks.no_overlap, checks.names, checks.sizes, checks.widths):
            one(page)
        dark(False)
        checks.contrast(page)
        switch()
    return check


def open_everything():
    page.js("document.querySelectorAll('details').forEach((e) => { e.open = true; })")


def all_in_chinese(*names):
    """Every visible text, in any element, has a Chinese character or is a name."""
    script = checks.COMMON + """return seen().filter(({e}) => !e.closest('kbd, code, bdi')).map(({text, e}) => [named(e), text]);"""
    for name in names:
        show(name, "lang=zh")
        open_everything()
        bad = [(where, text) for where, text in page.driver.execute_script(script)
               if not any("\u4e00" <= c <= "\u9fff" for c in text) and not PLAIN.fullmatch(text)]
        assert not bad, (name, bad[:12])
        unnamed = page.js("[...document.querySelectorAll('[data-zh-name]')].filter((e) => e.getAttribute('aria-label') !== e.dataset.zhName).length")
        assert unnamed == 0 and any("\u4e00" <= c <= "\u9fff" for c in page.js("document.title")), (unnamed, page.js("document.title"))


def one_language_at_a_time(*names):
    for name in names:
        show(name)
        open_everything()
        english = page.driver.execute_script(checks.COMMON + "return seen().map(({text}) => text).join(' ')")
        assert not any("\u4e00" <= c <= "\u9fff" for c in english.replace("中文", "")), name
        checks.languages(page, switch, ("seckill", "naive", "lua", "wrong-delete", "expired-lease", "pid ", "scenario:", "+", "-", "S"))


def verdicts():
    show("sound")
    assert "4 of 4 cells as expected" in page.js("document.body.innerText"), page.js("document.body.innerText")[:300]
    table = page.js("[...document.querySelectorAll('tr')].slice(1).map((r) => [...r.children].map((c) => c.innerText.trim()))")
    assert table == [["wrong-delete", "breaks", "holds"], ["expired-lease", "breaks", "breaks"]], table
    switch()
    table = page.js("[...document.querySelectorAll('tr')].slice(1).map((r) => [...r.children].map((c) => c.innerText.trim()))")
    assert table == [["wrong-delete", "失守", "守住了"], ["expired-lease", "失守", "失守"]], table
    switch()
    show("unexpected")
    assert "1 of 2 cells as expected, 1 UNEXPECTED" in page.js("document.body.innerText")


def cells_lead_to_performances():
    show("sound")
    page.click("td a")
    page.wait("its performances", lambda p: p.js("document.querySelector('details[open]') !== null"))
    target = page.js("document.querySelector('details[open]').id")
    assert page.js("location.hash") == "#" + target
    story = page.js("document.querySelector('details[open] pre.en').innerText")
    assert "Ann asks for the lock: ok" in story, story[:200]
    switch()
    story = page.js("document.querySelector('details[open] pre.zh').innerText")
    assert "小安" in story and "issued" not in story, story
    switch()


def step():
    return page.text(".step-now")


def keys_step():
    show("invalid")
    count = page.js("document.querySelector('section.figure .steps').children.length")
    for key, at in ((Keys.ARROW_RIGHT, 1), (Keys.ARROW_RIGHT, 2), (Keys.ARROW_LEFT, 1), (Keys.END, count), (Keys.HOME, 1)):
        page.press(key)
        page.wait(f"step {at}", lambda p, at=at: step().startswith(f"{at} of {count}: "))
    checks.live_regions(page)
    checks.contrast(page)
    switch()
    assert page.js("document.querySelector('.step-now').innerText").startswith(f"第 1 步，共 {count} 步："), step()
    switch()
    page.press(Keys.ESCAPE)
    page.wait("all at once", lambda p: step() == "")


def presented(*names):
    for name in names:
        show(name, "lang=zh&presenter")
        page.wait("large letters", lambda p: p.js("parseFloat(getComputedStyle(document.documentElement).fontSize)") >= 26)
        checks.sizes(page, 24)
        checks.no_overlap(page)
        checks.no_sideways(page)
        seen = "[...document.querySelectorAll('h1, h2, th')].filter((head) => head.offsetWidth)"
        heads = page.js(seen + ".map((head) => head.innerText)")
        page.assert_printed(*heads)


def whole_without_scripts():
    page.cdp("Emulation.setScriptExecutionDisabled", value=True)
    try:
        for name, words in (("sound", ("4 of 4 cells as expected", "wrong-delete")), ("invalid", ("The run is invalid", "How to read it", "asks to acquire"))):
            page.driver.get(address(files[name]))
            text = page.driver.find_element("css selector", "body").text
            for word in words:
                assert word in text, (name, word, text[:500])
            assert not any("\u4e00" <= c <= "\u9fff" for c in text), name
    finally:
        page.cdp("Emulation.setScriptExecutionDisabled", value=False)


def hostile_names():
    """A lock that is named with tags, in a history; directories that are, in all of these."""
    records = os.path.join(work, "hostile.txt")
    with open(records, "w", encoding="utf-8") as text:
        text.write(f"10 p1 t1 acquire {HOSTILE_LOCK} -> 11 ok until=40\n12 p2 t2 acquire {HOSTILE_LOCK} -> 13 ok until=42\n"
                   f"14 fault {HOSTILE_LOCK} happened process\n20 p1 t1 release {HOSTILE_LOCK} -> 21 ok\n30 p2 t2 release {HOSTILE_LOCK} -> 31 ok\n")
    files["hostile"] = os.path.join(work, "hostile.html")
    seckill("check", records, "--html=" + files["hostile"], statuses=(1,))
    for lang in ("en", "zh"):
        show("hostile", "lang=" + lang)
        assert HOSTILE_LOCK in page.js("document.querySelector('bdi').textContent"), page.js("document.querySelector('bdi').textContent")
        assert HOSTILE_LOCK in page.js("document.querySelector('.faults').innerText")
        for _ in range(4):
            page.press(Keys.ARROW_RIGHT)
        page.wait("a step", lambda p: step() != "")
        checks.is_unharmed(page)
    for name in files:
        show(name, "lang=zh")
        checks.is_unharmed(page)


try:
    tap.check("two matrices and two checks write their pages", written)
    tap.check("a matrix keeps the rules of all pages, in both languages", keeps_the_rules("sound", without_live_region))
    tap.check("so does one with what was not expected", keeps_the_rules("unexpected", without_live_region))
    tap.check("so does a timeline with a violation", keeps_the_rules("invalid", checks.live_regions))
    tap.check("and one without", keeps_the_rules("valid", checks.live_regions))
    tap.check("in Chinese, every text is Chinese, or a name", lambda: all_in_chinese("sound", "unexpected", "invalid", "valid"))
    tap.check("one language at a time", lambda: one_language_at_a_time("sound", "unexpected", "invalid", "valid"))
    tap.check("the cells say what came out, in either language", verdicts)
    tap.check("a cell leads to its performances and its story", cells_lead_to_performances)
    tap.check("arrows, Home and End step through a timeline", keys_step)
    tap.check("presenter mode has large letters, and prints", lambda: presented("sound", "invalid"))
    tap.check("everything is there without scripts", whole_without_scripts)
    tap.check("hostile names are text; no request, no console error", lambda: (hostile_names(), checks.is_quiet(page)))
finally:
    if page:
        page.close()
    end_lab(lab)
    shutil.rmtree(work, ignore_errors=True)
tap.end()
