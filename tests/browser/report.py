# SPDX-License-Identifier: MIT
"""report.py -- the reports of real runs in a browser, from files and without a network."""
import json
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
import checks  # noqa: E402  the folder has to be known first
from files import HOSTILE_DIRECTORY, address, end_lab, open_file, seckill  # noqa: E402
from grown import grow_comparison  # noqa: E402
from laboratory import Tap  # noqa: E402
from page import Page  # noqa: E402

PAGES_MOST = 6  # of A4
BYTES_MOST = 1000000
BENCHES = 10  # of one second each, until one has measured everything
CELLS = 200
# The threads of each process compete, so that without a lock each sale is oversold.
LOADED = ("--order-path=each", "--lock-scope=voucher", "--lock-wait=20s", "--stock-guard=read-write", "--duplicate-guard=none")
# Names and figures are the same in both languages.
SAME = ("seckill", "none", "lua", "naive", "reentrant", "--", "runs", "x86_64", "Linux", "PostgreSQL", "Redis", "wrk", "calm",
        "slow", "oversell", ", n =", "B / A", "p50", "p90", "p95", "p99", "expired-lease")

work = tempfile.mkdtemp(prefix="seckill-report-")
lab, out = os.path.join(work, "lab"), os.path.join(work, HOSTILE_DIRECTORY)
reports, page = {}, None
tap = Tap(14)


def reported(name, *arguments):
    """Run a command, whatever it finds; the path that it prints is the report of that name.  False: nothing was
    measured, since pgbench or wrk did nothing within a second: the machine is busy."""
    said = seckill(*arguments, statuses=(0, 1, 3, 69) if name == "bench" else (0, 1, 3))
    found = re.search(r"^report: (.*)$", said, re.M)
    assert found, said
    reports[name] = found[1]
    return os.path.exists(os.path.join(os.path.dirname(found[1]), "bench.json"))


def load(name, lock):
    reported(name, "load", "--dir", lab, "--out", os.path.join(out, name), "--stock=100", "--connections=16", "--duration=30s",
             "--", "--lock=" + lock, *LOADED)


def show(name):
    open_file(page, reports[name], "", "the report", lambda p: p.js("!!document.querySelector('.verdict')"))


def verdict():
    return page.js("document.querySelector('.verdict').innerText").strip()


def written_by_default():
    global page
    os.mkdir(out)
    seckill("lab", "up", "--dir", lab)
    load("broken", "none")
    load("sound", "reentrant")
    load("again", "reentrant")
    reported("compare", "compare", "--dir", lab, "--out", os.path.join(out, "compare"), "--locks=none,lua",
             "--experiments=oversell", "--hazards=calm,slow", "--repeats=1")
    reported("story", "scenario", "run", "expired-lease", "--locks=lua,reentrant", "--dir", lab, "--out", os.path.join(out, "story"))
    for name, locks in (("compare-none", "none"), ("compare-sound", "reentrant"), ("compare-again", "reentrant")):
        reported(name, "compare", "--dir", lab, "--out", os.path.join(out, name), "--locks=" + locks,
                 "--experiments=oversell", "--hazards=calm", "--repeats=1")
    for name, locks in (("scenario-naive", "naive"), ("scenario-again", "naive"), ("scenario-sound", "lua")):
        reported(name, "scenario", "run", "wrong-delete", "--locks=" + locks, "--dir", lab, "--out", os.path.join(out, name))
    for name, locks in (("matrix-naive", "naive"), ("matrix-again", "naive"), ("matrix-sound", "lua")):
        reported(name, "matrix", "--scenarios=wrong-delete", "--locks=" + locks, "--seeds=1", "--dir", lab, "--out", os.path.join(out, name))
    reported("service-story", "scenario", "run", "double-click", "--locks=reentrant", "--dir", lab, "--out", os.path.join(out, "service-story"))
    reported("service-matrix", "matrix", "--scenarios=double-click", "--locks=reentrant", "--seeds=1", "--dir", lab,
             "--out", os.path.join(out, "service-matrix"))
    reported("bench-locks", "bench-locks", "--only=pairs", "--rounds=1", "--duration=100ms", "--dir", lab, "--out", os.path.join(out, "bench-locks"))
    for _ in range(BENCHES):
        if reported("bench", "bench", "--clients=64", "--duration=1s", "--repeats=1", "--dir", lab, "--out", os.path.join(out, "bench")):
            break
    page = Page("about:blank", is_offline=True)


def copied(name, copy, change):
    """The same run once more, since a bench measures other speeds each time; `change` is called with its rows."""
    run = os.path.join(work, copy)
    os.mkdir(run)
    with open(os.path.join(os.path.dirname(reports[name]), "data.json"), encoding="utf-8") as old:
        data = json.load(old)
    change(data["results"]["bench"] if name == "bench" else data["results"]["bench_locks"]["pairs"])
    with open(os.path.join(run, "data.json"), "w", encoding="utf-8") as new:
        json.dump(data, new)
    seckill("report", run)
    reports[copy] = os.path.join(run, "report.html")


def turn(rows):
    """The first row with a target that was reached misses the target, or the other way round."""
    row = next(row for row in rows if isinstance(row.get("reached"), bool))
    row["reached"] = not row["reached"]


def both(first, second):
    path = os.path.join(work, f"{first}-{second}.html")
    reports[f"{first}-{second}"] = path
    seckill("report", os.path.dirname(reports[first]), os.path.dirname(reports[second]), "--out", path)
    show(f"{first}-{second}")


def settings_of_seckilld():
    """The rows of the table: name, value, origin."""
    return page.js("[...document.querySelectorAll('#service tbody tr')].map((r) => [...r.children].map((c) => c.innerText.trim()))")


def settings_have_origins():
    for name, wanted in (("broken", ["lock", "none", "flag"]), ("compare", ["order-path", "each", "flag"]),
                         ("bench", ["order-path", "each", "flag"]), ("service-story", ["lock", "reentrant", "flag"]),
                         ("service-matrix", ["lock", "reentrant", "flag"])):
        show(name)
        rows = settings_of_seckilld()
        assert len(rows) > 40 and wanted in rows and "default" in {row[2] for row in rows}, (name, rows)
    for name in ("story", "matrix-naive"):
        show(name)
        assert not settings_of_seckilld() and "call the lock library directly" in page.text("#service"), (name, page.text("#service"))


def verdict_comes_first():
    for name, said in (("broken", r"✗ Oversold by [\d,]+"), ("sound", r"✓ Sound: 100 orders for 100 vouchers"),
                       ("compare", r"✓ All 4 cells are as expected"), ("story", r"✓ All 2 performances have the expected outcome")):
        show(name)
        assert re.match(said, verdict()), (name, verdict())
        first = page.js("document.querySelector('main').innerText || document.body.innerText").strip()
        assert first.index(verdict()) < 400, first[:400]


def speed_of_a_broken_lock_is_struck_out():
    show("compare")
    struck = page.js("[...document.querySelectorAll('s')].filter((e) => e.getClientRects().length).length")
    assert struck >= 1
    show("sound")
    assert page.js("document.querySelectorAll('s').length") == 0


def same_and_different():
    both("sound", "again")
    assert page.js("!!document.querySelector('[data-same=yes]')"), verdict()
    both("broken", "sound")
    assert verdict().startswith("≠ Different"), verdict()


def each_kind_same_and_different():
    for name in ("bench", "bench-locks"):
        copied(name, name + "-again", lambda rows: None)
        copied(name, name + "-other", turn)
    for first, again, other in (("compare-sound", "compare-again", "compare-none"), ("scenario-naive", "scenario-again", "scenario-sound"),
                                ("matrix-naive", "matrix-again", "matrix-sound"), ("bench", "bench-again", "bench-other"),
                                ("bench-locks", "bench-locks-again", "bench-locks-other")):
        both(first, again)
        assert page.js("!!document.querySelector('[data-same=yes]')"), (first, verdict())
        both(first, other)
        assert verdict().startswith("≠ Different"), (first, other, verdict())


def keeps_the_rules(name):
    def check():
        show(name)
        checks.everything(page)
        page.press("d")
        page.wait("dark", lambda p: p.data("theme") == "dark")
        checks.contrast(page)
        page.press("d")
        page.wait("light", lambda p: p.data("theme") == "light")
    return check


def changes_the_language():
    def switch():
        was = page.js("document.documentElement.lang")
        page.press("l")
        page.wait("the other language", lambda p: p.js("document.documentElement.lang") != was)
    for name in ("broken", "compare", "broken-sound"):
        show(name)
        checks.languages(page, switch, SAME)


def whole_without_scripts():
    """All that it says is in the file, before any script has run."""
    show("broken")
    shown = page.js("[...document.querySelectorAll('h2, td, dd')].filter((e) => e.getClientRects().length).map((e) => e.innerText.trim()).filter((t) => t)")
    page.cdp("Emulation.setScriptExecutionDisabled", value=True)
    try:
        page.driver.get(address(reports["broken"]))
        text = page.driver.find_element("css selector", "body").text
    finally:
        page.cdp("Emulation.setScriptExecutionDisabled", value=False)
    missing = [t for t in shown if " ".join(t.split()) not in " ".join(text.split())]
    assert len(shown) > 10 and not missing, missing[:5]


def prints_on_paper():
    for name, path in reports.items():
        show(name)
        page.assert_printed(verdict()[1:])
        page.press("l")
        page.assert_printed(verdict()[1:])
        page.press("l")
        count = page.printed_pages(os.path.join(work, name + ".pdf"))
        assert count <= PAGES_MOST, (name, count)
        size = os.path.getsize(os.path.join(work, name + ".pdf"))
        assert size < BYTES_MOST, (name, size)
        assert os.path.getsize(path) < BYTES_MOST, (name, os.path.getsize(path))


def many_cells_open():
    """How long the browser works at a report of 200 cells is told, and not judged: the machine decides."""
    reports["many"], cells = grow_comparison(os.path.dirname(reports["compare"]), os.path.join(work, "many"), CELLS)
    page.cdp("Performance.enable")
    show("many")
    metrics = {m["name"]: m["value"] for m in page.cdp("Performance.getMetrics")["metrics"]}
    print(f"# {CELLS} cells: {os.path.getsize(reports['many'])} bytes, {metrics['TaskDuration']:.2f} s of the main thread")
    assert page.js("document.querySelectorAll('table tbody tr').length") >= CELLS / cells
    checks.no_sideways(page)
    assert os.path.getsize(reports["many"]) < BYTES_MOST


def quiet_and_unharmed():
    checks.is_unharmed(page)
    checks.is_quiet(page)


try:
    tap.check("each command writes its report", written_by_default)
    tap.check("the verdict stands first, in one sentence", verdict_comes_first)
    tap.check("the speed of a broken lock is struck out, and of a sound one not", speed_of_a_broken_lock_is_struck_out)
    tap.check("every kind with seckilld names its settings and their origins", settings_have_origins)
    tap.check("two runs of the same settings are the same, none and reentrant different", same_and_different)
    tap.check("so are two runs of each other kind", each_kind_same_and_different)
    tap.check("the report of a load keeps the rules of all pages", keeps_the_rules("broken"))
    tap.check("the report of a comparison, too", keeps_the_rules("compare"))
    tap.check("the report of two runs, too", keeps_the_rules("broken-sound"))
    tap.check("one language at a time, and every text is in both", changes_the_language)
    tap.check("everything is there without scripts", whole_without_scripts)
    tap.check("each report prints on at most six pages, in either language", prints_on_paper)
    tap.check("a report of 200 cells opens, in less than 1 MB", many_cells_open)
    tap.check("no request, no error in the console, and a hostile name is text", quiet_and_unharmed)
finally:
    if page:
        page.close()
    end_lab(lab)
    shutil.rmtree(work, ignore_errors=True)
tap.end()
