# SPDX-License-Identifier: MIT
"""checks.py -- checks for every page of the laboratory: contrast, sizes, names, the keyboard, widths, motion,
languages, and names that must stay text.

Each function takes a Page, checks its visible elements with text, or its visible controls, and raises AssertionError
with the elements that fail.  No function has a list of elements.
"""
import json

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

# A name that a person can choose, and that must be shown as text.
HOSTILE = """<img src=x onerror="window.isHacked=1"><script>window.isHacked=1</script>'"&amp;"""

# Functions of the scripts below.  seen(): the text nodes that can be seen, with their element and
# their boxes.
COMMON = """
const visible = (e) => { if (!e.checkVisibility()) { return false; } for (let n = e; n instanceof Element; n = n.parentElement) {
    const s = getComputedStyle(n); if (s.display === 'none' || s.visibility !== 'visible' || Number(s.opacity) === 0) { return false; }
    const o = n.closest('dialog'); if (o && !o.open) { return false; } } return true; };
const seen = () => { const list = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const text = node.textContent.trim(), e = node.parentElement;
    if (!text || ['SCRIPT', 'STYLE', 'TITLE', 'DESC', 'NOSCRIPT', 'TEMPLATE'].includes(e.tagName.toUpperCase()) || e.closest('defs') || !visible(e)) { continue; }
    const range = document.createRange(); range.selectNodeContents(node);
    const boxes = [...range.getClientRects()].filter((b) => b.width > 1 && b.height > 1);
    if (e.tagName === 'OPTION' || e.tagName === 'OPTGROUP') { continue; }
    if (boxes.length) { list.push({text, e, boxes}); } }
  for (const e of document.querySelectorAll('select, input:not([type=checkbox]):not([type=radio]):not([type=range]), textarea')) {
    if (visible(e) && e.getClientRects().length) { list.push({text: String(e.value), e, boxes: [e.getBoundingClientRect()]}); } }
  return list; };
const named = (e) => e.tagName.toLowerCase() + (e.id ? '#' + e.id : '') + (e.getAttribute('class') ? '.' + e.getAttribute('class').trim().replace(/\\s+/g, '.') : '');
"""

CONTRAST = COMMON + """
const least = arguments[0], canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
canvas.canvas.width = canvas.canvas.height = 1;
const read = (color) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = '#000'; canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
  const d = canvas.getImageData(0, 0, 1, 1).data; return [d[0], d[1], d[2], d[3] / 255]; };
const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat([1]);
const light = (c) => { const [r, g, b] = c.map((v) => { v /= 255; return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; }); return .2126 * r + .7152 * g + .0722 * b; };
const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + .05) / (y + .05); };
const behind = (e) => { const layers = []; for (let n = e; n; n = n.parentElement) { const c = read(getComputedStyle(n).backgroundColor);
    if (c[3] > 0) { layers.push(c); } if (c[3] >= .999) { break; } }
  return layers.reverse().reduce((base, layer) => over(layer, base), [255, 255, 255, 1]); };
return seen().map(({text, e}) => { const s = getComputedStyle(e), ground = behind(e), ink = over(read(e instanceof SVGElement ? s.fill : s.color), ground);
  return {what: named(e), text: text.slice(0, 40), ratio: Math.round(ratio(ink, ground) * 100) / 100}; }).filter((f) => f.ratio < least);
"""

SIZES = COMMON + """
const least = arguments[0];
return seen().map(({text, e}) => ({what: named(e), text: text.slice(0, 40), px: parseFloat(getComputedStyle(e).fontSize) *
  (e instanceof SVGElement && e.getScreenCTM() ? e.getScreenCTM().a : 1)})).filter((f) => f.px < least - .05);
"""

# Two texts overlap if more than a third of the lower box is under the other one: line boxes of
# neighbours touch.  A text that scrolls inside of an element is cut off by it.
OVERLAPS = COMMON + """
const clipped = (e, b) => { let [l, t, r, m] = [b.left, b.top, b.right, b.bottom];
  for (let n = e; n && n !== document.documentElement; n = n.parentElement) { const s = getComputedStyle(n);
    if (s.overflowX !== 'visible' && !(n instanceof SVGElement) && n !== document.body) { const c = n.getBoundingClientRect();
      l = Math.max(l, c.left); t = Math.max(t, c.top); r = Math.min(r, c.right); m = Math.min(m, c.bottom); } }
  return {left: l, top: t, right: r, bottom: m}; };
const all = seen().flatMap(({text, e, boxes}) => boxes.map((b) => ({text, e, b: clipped(e, b)}))).filter((o) => o.b.right - o.b.left > 2 && o.b.bottom - o.b.top > 2);
const top = document.querySelector('dialog[open]'), list = top ? all.filter((o) => top.contains(o.e)) : all, bad = [];
for (let i = 0; i < list.length; i++) { for (let k = i + 1; k < list.length; k++) {
  const p = list[i], q = list[k]; if (p.e === q.e) { continue; }
  const w = Math.min(p.b.right, q.b.right) - Math.max(p.b.left, q.b.left), h = Math.min(p.b.bottom, q.b.bottom) - Math.max(p.b.top, q.b.top);
  if (w > 2 && h > Math.min(p.b.bottom - p.b.top, q.b.bottom - q.b.top) / 3) { bad.push([named(p.e) + ': ' + p.text.slice(0, 30), named(q.e) + ': ' + q.text.slice(0, 30)]); } } }
return bad;
"""

WIDE = COMMON + """
const limit = document.documentElement.clientWidth;
return [...document.body.querySelectorAll('*')].filter((e) => visible(e) && !(e instanceof SVGElement && e.tagName !== 'svg') && e.getBoundingClientRect().right > limit + 1)
  .map(named).slice(0, 10);
"""

CONTROLS = "button, a[href], input, select, textarea, summary, [tabindex], [role=button], [role=slider]"

MOVES = COMMON + """
const seconds = (text) => Math.max(...text.split(',').map((t) => parseFloat(t) * (t.trim().endsWith('ms') ? .001 : 1)));
return [...document.querySelectorAll('*')].filter((e) => { const s = getComputedStyle(e);
  return seconds(s.transitionDuration) > .01 || (s.animationName !== 'none' && seconds(s.animationDuration) > .01 && s.animationIterationCount !== '1') || s.scrollBehavior === 'smooth'; }).map(named).slice(0, 10);
"""


def contrast(page, least=4.5):
    """The contrast of every text with its background."""
    bad = page.driver.execute_script(CONTRAST, least)
    assert not bad, f"contrast below {least}: {bad[:8]}"


def sizes(page, least=16.7):
    """The height of every text, in pixels: 16.7 before a screen, 24 before a class."""
    bad = page.driver.execute_script(SIZES, least)
    assert not bad, f"text below {least} px: {bad[:8]}"


def no_overlap(page):
    bad = page.driver.execute_script(OVERLAPS)
    assert not bad, f"texts over one another: {bad[:6]}"


def no_sideways(page):
    size = page.js("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert size[0] <= size[1], f"{size[0]} px in a width of {size[1]}: {page.driver.execute_script(WIDE)}"


def widths(page, settle=None, sizes_px=(320, 640, 1024, 1920), height=720):
    """No sideways scroll and no texts over one another at each width; 640 is 1280 at 200 %.
    `settle` waits until the page has drawn itself anew."""
    try:
        for width in sizes_px:
            page.resize(width, height, 2 if width == 640 else 1)
            if settle:
                settle()
            no_sideways(page)
            no_overlap(page)
    finally:
        page.resize(1280, 720)
        if settle:
            settle()


def fits_one_screen(page, selectors):
    """No scroll at all, and every selected element is whole inside of the window."""
    size = page.js("[document.documentElement.scrollHeight, innerHeight, document.documentElement.scrollWidth, innerWidth]")
    assert size[0] <= size[1] and size[2] <= size[3], f"scroll height, height, scroll width, width: {size}"
    for selector in selectors:
        box = page.js("(({left, top, right, bottom}) => [left, top, right, bottom])(document.querySelector(arguments[0]).getBoundingClientRect())", selector)
        assert box[0] >= 0 and box[1] >= 0 and box[2] <= size[3] + 1 and box[3] <= size[1] + 1 and box[3] > box[1], (selector, box)


def controls(page):
    """The visible controls that can be used."""
    script = COMMON + "return [...document.querySelectorAll(arguments[0])].filter((e) => visible(e) && e.getClientRects().length && (!document.querySelector('dialog[open]') || e.closest('dialog')));"
    return page.driver.execute_script(script, CONTROLS)


def names(page):
    """Every control has a role and a name, no key is part of a name, every picture has a name."""
    for control in controls(page):
        what = control.get_attribute("outerHTML")[:120]
        assert control.accessible_name.strip(), f"no name: {what}"
        assert control.aria_role not in ("", "generic", "none"), f"no role: {what}"
    bad = page.driver.execute_script(COMMON + """return [...document.querySelectorAll('button kbd, a kbd, label kbd')]
        .filter((e) => visible(e) && e.getAttribute('aria-hidden') !== 'true').map((e) => named(e.parentElement))
        .concat([...document.querySelectorAll('svg:not([aria-hidden=true]):not([role=presentation])')].filter((e) => visible(e) && e.getClientRects().length
        && !e.closest('[aria-hidden=true], [role=img]:not(svg), button') && !e.getAttribute('aria-label') && !e.getAttribute('aria-labelledby') && !e.querySelector(':scope > title')).map(named))
        .concat([...document.querySelectorAll('img:not([alt])')].map(named));""")
    assert not bad, f"a key in a name, or a picture without one: {bad[:8]}"
    assert page.js("document.title.trim().length > 0 && document.documentElement.lang.length > 1")


def tab_order(page):
    """Tab reaches every control once, in the order of the document, shows where it is, and
    leaves again."""
    page.js("document.activeElement && document.activeElement.blur()")
    page.js("window.getSelection().removeAllRanges()")
    page.driver.execute_script("window.reached = []; window.wanted = arguments[0].filter((e) => !e.disabled && e.tabIndex >= 0 && !e.closest('[inert]')"
                               " && !(e.type === 'radio' && !e.checked))", controls(page))
    count = page.js("window.wanted.length")
    first = page.driver.find_element(By.TAG_NAME, "body")
    page.js("document.body.tabIndex = -1, document.body.focus(), document.body.removeAttribute('tabindex')")
    ends = 0
    for _ in range(count + 4):
        (first if first else page.driver.switch_to.active_element).send_keys(Keys.TAB)
        first = None
        state = page.driver.execute_script("""const e = document.activeElement, s = getComputedStyle(e), at = window.wanted.indexOf(e);
            const around = [s, getComputedStyle(e.parentElement || e)];
            const ring = around.some((t) => (t.outlineStyle !== 'none' && parseFloat(t.outlineWidth) >= 2)) || s.boxShadow !== 'none';
            const again = window.reached.includes(at); if (at >= 0 && !again) { window.reached.push(at); }
            return [at, e.tagName + '#' + e.id, ring, again];""")
        # A dialog does not let the focus begin before its first control: Tab goes round once.
        ends += state[0] < 0
        if state[3] or ends > 1:
            break
        assert state[0] < 0 or state[2], f"no visible focus on {state[1]}"
    order = page.js("window.reached")
    page.js("document.activeElement.blur()")  # the next key is for the page
    missing = page.driver.execute_script("return window.wanted.filter((e, i) => !arguments[0].includes(i)).map((e) => e.outerHTML.slice(0, 80))", order)
    assert not missing, f"Tab does not reach {missing[:6]}"
    begin = order.index(min(order)) if order else 0
    assert order[begin:] + order[:begin] == sorted(order), f"Tab goes {order}"


def calm(page):
    """With reduced motion nothing moves by itself."""
    page.prefer(prefers_reduced_motion="reduce")
    try:
        page.wait("reduced motion", lambda p: p.js("matchMedia('(prefers-reduced-motion: reduce)').matches"))
        bad = page.driver.execute_script(MOVES)
        assert not bad, f"these move: {bad}"
    finally:
        page.prefer()


def live_regions(page):
    """One polite live region, so that what changes is said once."""
    count = page.js("document.querySelectorAll('[aria-live=polite], [role=status]').length")
    assert count == 1, f"{count} polite live regions"


def texts(page):
    """Every text that can be seen and is not in a language on purpose."""
    return page.driver.execute_script(COMMON + "return seen().filter(({e, text}) => e.closest('[lang]') === document.documentElement && !e.closest('kbd, code, input, select, textarea') && !/^[\\d.,]+ (s|ms)$/.test(text)).map((s) => s.text);")


def languages(page, switch, same=()):
    """`switch` changes every text and html[lang]; texts in `same`, and those without a letter,
    may stay.  `switch` is called twice, and waits until the page has changed."""
    def words(list_):
        return {t for t in list_ if any(c.isalpha() for c in t)}
    was, before = page.js("document.documentElement.lang"), words(texts(page))
    switch()
    other, after = page.js("document.documentElement.lang"), words(texts(page))
    switch()
    assert {was[:2], other[:2]} == {"en", "zh"}, (was, other)
    stay = {t for t in before & after if not any(t.startswith(s) for s in same)}
    assert not stay, f"in both languages: {stay}"
    chinese = after if other.startswith("zh") else before
    assert any("\u4e00" <= c <= "\u9fff" for t in chinese for c in t), "no Chinese text"


def is_unharmed(page):
    """Names that are hostile were shown as text: they added no element, and ran nothing."""
    assert page.js("window.isHacked === undefined"), "a name was run"
    bad = page.js("[...document.querySelectorAll('img[onerror], [onerror], [onload], [onclick]')].map((e) => e.outerHTML)")
    assert not bad, bad


def is_quiet(page, base=None):
    """No console error, no violation of the policy; no request leaves `base`.  A file (without
    `base`) makes none at all, but for itself."""
    for entry in page.driver.get_log("performance"):
        event = json.loads(entry["message"])["message"]
        if event["method"] == "Network.requestWillBeSent":
            url = event["params"]["request"]["url"]
            is_itself = event["params"].get("type") == "Document" and url.startswith("file:")
            if url.startswith("chrome"):  # the browser's own page, before ours
                continue
            assert url.startswith("data:") or (base and url.startswith(base)) or (not base and is_itself), url
    # Another program has added or removed an interface of the machine, which ends all requests of a browser.
    messages = [e for e in page.driver.get_log("browser")
                if e["level"] in ("SEVERE", "WARNING") and "net::ERR_NETWORK_CHANGED" not in e["message"]]
    assert not messages, messages


def everything(page, redraw=None, least_px=16.7):
    """The checks for a page in any state, in its present theme."""
    for check in (contrast, no_overlap, names, live_regions, calm):
        check(page)
    sizes(page, least_px)
    tab_order(page)
    widths(page, redraw)
