# SPDX-License-Identifier: MIT
"""lessons.py [LESSON...] [--times=N] -- the lessons of the live page in a browser, with real load
and real faults: the question, the prediction, and whether each comes out as the lesson says.

With --times=N every lesson is played so often, and one that does not come out counts as failed;
`make lessons` does so with all ten.  Otherwise a lesson that does not come about is repeated, as
the page offers.  A table of lessons and results ends the output.
"""
import os
import sys
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
from laboratory import ROOT, Show, Tap  # noqa: E402  the folder has to be known first
from page import Page  # noqa: E402
import checks  # noqa: E402

REPEATS = 4  # of a lesson that did not come about
NEXT, BACK, PAGE_DOWN, PAGE_UP = "\ue014", "\ue012", "\ue00f", "\ue00e"

strict = [a for a in sys.argv[1:] if a.startswith("--times=")]
times = int(strict[0].split("=")[1]) if strict else 1
chosen = [int(a) for a in sys.argv[1:] if not a.startswith("-")] or ([*range(1, 11)] if strict else [3, 4, 10])
LAST = chosen[-1]

tap = Tap(10 + times * len(chosen))
show = Show(f"--lesson={chosen[0]}", "--limit=300s")
page = None
table = {number: [] for number in chosen}
titles = {}


def stage():
    return page.data("stage")


def wait_stage(*stages):
    return page.wait(f"stage {stages}", lambda p: p.data("stage") in stages and p.data("phase") != "starting")


def lesson():
    return show.state()["lesson"]


def state_if(condition):
    """The present state if the condition holds for it, else None."""
    now = show.state()
    return now if condition(now) else None


def open_page():
    global page
    page = Page(show.address)
    page.wait("the lesson that was asked for", lambda p: p.data("lesson") == str(chosen[0]))
    wait_stage("asked")
    for one in show.ask("/api/lesson")[1]["lessons"]:
        titles[one["number"]] = one["title"]["en"]


def documents_are_there():
    """Each lesson leads to a section of a document of the project, in either language; the laboratory serves it."""
    for one in show.ask("/api/lesson")[1]["lessons"]:
        for lang in ("en", "zh"):
            path, section = one["document"][lang], one["read"][lang]
            with open(os.path.join(ROOT, path), encoding="utf-8") as document:
                text = document.read()
            assert f"\n## {section}\n" in text, (one["number"], path, section)
            with urllib.request.urlopen(show.base + "/" + path) as answer:
                assert answer.headers["Content-Type"] == "text/plain; charset=utf-8" and answer.read().decode() == text, path
    for path in ("docs/../Makefile", "docs/explanation/handing-over.md", "docs/"):
        status = show.ask("/" + path)[0]
        assert status in (400, 404), (path, status)


def no_run_without_a_prediction():
    runs = lesson()["runs"]
    page.press(" ")
    page.wait("the page asks for a prediction", lambda p: "prediction first" in p.text("#lessonHint"))
    page.wait_shown()
    assert lesson()["runs"] == runs and stage() == "asked", lesson()
    for path, body, wanted in (("/api/lesson/run", {}, (409, "lesson-unpredicted")), ("/api/lesson/predict", {"answer": "a guess"}, (400, None)),
                               ("/api/lesson", {"number": 11}, (400, None))):
        status, answer = show.ask(path, body)
        assert (status, answer.get("code")) == wanted and " " in answer["error"], (path, status, answer)


def press_theme():
    before = page.data("theme")
    page.press("d")
    page.wait("the other theme", lambda p: p.data("theme") != before)


def is_fit(*selectors):
    """On a screen and in a classroom, in both themes and both languages."""
    for check in (checks.contrast, checks.no_overlap, checks.names, checks.live_regions, checks.calm, checks.sizes, checks.tab_order):
        check(page)
    checks.widths(page, page.wait_shown, (320, 390, 640, 1024, 1920))
    page.resize(390, 844)
    page.wait_shown()
    for selector in selectors:
        page.js("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        box = page.js("(({left, right, width}) => [left, right, width])(document.querySelector(arguments[0]).getBoundingClientRect())", selector)
        assert box[0] >= 0 and box[1] <= 391 and box[2] > 0, (selector, box)
    page.js("window.scrollTo(0, 0)")
    page.resize(1280, 720)
    page.wait_shown()
    press_theme()
    page.wait_shown()
    checks.contrast(page)
    page.press("p")
    page.wait_shown()
    for _ in range(2):
        checks.fits_one_screen(page, selectors)
        checks.sizes(page, 24)
        checks.contrast(page)
        checks.no_overlap(page)
        switch_language()
    page.press("p")
    page.wait_shown()


def switch_language():
    before = page.js("document.documentElement.lang")
    page.press("l")
    page.wait("html[lang]", lambda p: p.js("document.documentElement.lang") != before)
    page.wait_shown()


def the_question_is_readable():
    is_fit("#lessonQuestion", "#lessonAnswers")


def keys_go_forwards_and_backwards():
    def press(key, number):
        page.press(key)
        page.wait(f"lesson {number}", lambda p: p.data("lesson") == str(number))
        wait_stage("asked", "predicted")
    press(PAGE_UP, chosen[0] - 1 or 1)
    press(NEXT, chosen[0] if chosen[0] > 1 else 2)
    press(PAGE_DOWN, chosen[0] + 1 if chosen[0] > 1 else 3)
    press(BACK, chosen[0] if chosen[0] > 1 else 2)


def go_to(number):
    while page.data("lesson") != str(number):
        before = page.data("lesson")
        page.press(NEXT if int(before) < number else BACK)
        page.wait("another lesson", lambda p, b=before: p.data("lesson") != b)
        page.wait("its processes", lambda p: p.data("phase") != "starting")


def predict():
    """Make the prediction, which is then locked."""
    if stage() != "asked":
        return
    page.press("1")
    wait_stage("predicted")
    said = lesson()["predicted"]
    page.press("2")
    page.wait_shown()
    status, answer = show.ask("/api/lesson/predict", {"answer": "oversold"})
    assert status == 409 and answer["code"] == "lesson-locked" and " " in answer["error"], (status, answer)
    page.wait_shown()
    assert lesson()["predicted"] == said and stage() == "predicted", lesson()


def play_once():
    """Returns true if the result is that of the lesson, on the page and in the database."""
    runs = lesson()["runs"]
    page.press(" ")
    # A lesson that was played before is done already: the page may show that for a while.
    ended = page.wait("the run begins and ends", lambda p: state_if(lambda s: s["lesson"]["runs"] > runs and s["lesson"]["stage"] == "done"))
    page.wait("the page shows its end", lambda p: int(p.data("seq")) >= ended["seq"] and stage() == "done" and p.data("cameAbout") in ("true", "false"))
    result = lesson()["results"][-1]
    sold = show.orders()
    assert result["sold"] == sold, (result, sold)
    came = page.data("cameAbout") == "true"
    if came:
        assert page.js("!document.getElementById('lessonMoral').hidden") and page.text("#lessonSays") and page.text("#lessonRead")
        leads_to = page.js("new URL(document.getElementById('lessonDocument').href).pathname")
        assert leads_to == "/" + page.text("#lessonPath") and os.path.exists(ROOT + leads_to), leads_to
        assert {"oversold": sold > 100, "next": sold > 100, "sound": sold == 100, "database": sold == 100,
                "nobody": sold == 0}[result["outcome"]], result
        assert (page.text("#lessonMark")[0] == "✓") == (lesson()["predicted"] == result["outcome"]), page.text("#lessonMark")
    else:
        assert page.js("document.getElementById('lessonMoral').hidden") and "Space" in page.text("#lessonMark"), page.text("#lessonMark")
    return came, f"{result['lock']}: {result['outcome']}{' (' + result['why'] + ')' if result['why'] else ''}, {sold} sold"


def play(number):
    go_to(number)
    predict()
    for _ in range(1 if strict else REPEATS):
        came, text = play_once()
        if came:
            break
        print(f"# lesson {number} did not come about: {text}; {show.state()['events'][-12:]}", flush=True)
    table[number].append(("as the lesson says" if came else "NOT as the lesson says") + f" ({text})")
    assert came, text


def the_end_is_readable():
    is_fit("#lessonSaid", "#lessonCame", "#lessonSays", "#bar")


def languages_change():
    checks.languages(page, switch_language, same=("seckill show", "Redis", "lock:"))


def a_run_that_is_stopped_says_so():
    for _ in range(REPEATS):
        runs = lesson()["runs"]
        page.press(" ")
        page.wait("the run has begun", lambda p: state_if(lambda s: s["lesson"]["runs"] > runs and (p.data("phase") == "running" or s["lesson"]["stage"] == "done")))
        # A run may be over before a busy machine has shown it: then Space would begin another one.
        if page.data("phase") == "running":
            page.press(" ")
            wait_stage("done")
            break
    assert page.data("cameAbout") == "false", "the lesson came about although it was stopped"
    assert "did not come about" in page.text("#lessonCame") and "repeats" in page.text("#lessonMark"), page.text("#lessonCame")
    assert page.js("document.getElementById('lessonMoral').hidden")


def leaving_leaves():
    page.press("t")
    page.wait("no lesson", lambda p: p.data("lesson") == "" and p.js("document.getElementById('lesson').hidden"))
    assert show.state()["lesson"] is None


try:
    tap.check("--lesson=N begins with that lesson, and asks", open_page)
    tap.check("every lesson leads to a document that is there", documents_are_there)
    tap.check("nothing runs before somebody has predicted", no_run_without_a_prediction)
    tap.check("the question: contrast, sizes, names, focus, widths, one screen in presenter mode", the_question_is_readable)
    tap.check("arrows and a clicker's keys go forwards and backwards", keys_go_forwards_and_backwards)
    for _ in range(times):
        for n in chosen:
            tap.check(f"lesson {n} comes out as it says", lambda n=n: play(n))
    tap.check("the end: contrast, sizes, names, focus, widths, one screen in presenter mode", the_end_is_readable)
    tap.check("L changes every text of the lesson", languages_change)
    tap.check("a lesson that is stopped says that it did not come about, and offers to repeat", a_run_that_is_stopped_says_so)
    tap.check("T leaves the lessons", leaving_leaves)
    tap.check("no console error, no violation, no request leaves the origin", lambda: checks.is_quiet(page, show.base))
finally:
    if page:
        page.close()
    show.close()
for n in chosen:
    for result in table[n]:
        print(f"# {n:2} {titles.get(n, ''):24} {result}")
tap.end()
