/* SPDX-License-Identifier: MIT */
/* story_draw.js -- the lanes of a story at one position.  A stretch of time is as wide as the logarithm of its length, and steps
   that have no room to both sides of the position are not drawn, so that a story of 10,000 steps costs as little as one of ten. */
"use strict";
const SVG = "http://www.w3.org/2000/svg", BREAK_MS = 200;
const {word, say, element, $} = head;
function clockOf(ms) { return ms >= 100 ? Math.round(ms).toLocaleString("en") : ms.toFixed(1); }
function stepWidth(story, i) { return 1 + Math.log10(1 + Math.max(0, story.steps[i].at - story.steps[i - 1].at) / 20); }
/* An estimate of the width of a text, since asking the browser for every text is slow. */
function widthOf(text, em, mono) { let n = 0; for (const c of text) { n += c > "\u2e7f" ? 1 : mono ? .58 : .56; } return n * em; }

/* The steps that fit around the current one, each with its place from 0 to 1. */
function windowOf(story, step, room) {
  const last = story.steps.length - 1;
  let from = step, to = step, used = 0;
  for (let grew = true; grew;) {
    grew = false;
    for (let i = 0; i < 2 && from > 0; i++) { const w = stepWidth(story, from); if (used + w <= room) { used += w; from--; grew = true; } }
    if (to < last) { const w = stepWidth(story, to + 1); if (used + w <= room) { used += w; to++; grew = true; } }
  }
  const places = [0];
  for (let i = from + 1; i <= to; i++) { places.push(places[i - 1 - from] + stepWidth(story, i)); }
  return {from, to, places, span: Math.max(room * .75, places[places.length - 1], .001)};
}
/* The place of a time within the window; times outside of it are at its ends. */
function placeOf(story, view, at) {
  const steps = story.steps;
  if (at <= steps[view.from].at) { return at < steps[view.from].at && view.from > 0 ? -.5 : 0; }
  for (let i = view.from; i < view.to; i++) {
    const a = steps[i].at, b = steps[i + 1].at, p = view.places[i - view.from], q = view.places[i + 1 - view.from];
    if (at < b) { return p + (q - p) * (at - a) / (b - a); }
  }
  return view.places[view.places.length - 1];
}
function latest(list, at) { let found = list[0][1]; for (const [t, value] of list) { if (t <= at + .001) { found = value; } } return found; }
function timeAt(story, position) {
  const i = Math.min(story.steps.length - 1, Math.floor(position + 1e-6)), next = story.steps[Math.min(i + 1, story.steps.length - 1)];
  return story.steps[i].at + (next.at - story.steps[i].at) * Math.max(0, position - i);
}

class Drawing {
  constructor(box, story) { this.box = box; this.story = story; }
  add(name, attributes, text) {
    const node = document.createElementNS(SVG, name);
    for (const key in attributes) { node.setAttribute(key, attributes[key]); }
    if (text !== undefined) { node.textContent = text; }
    this.svg.append(node);
    return node;
  }
  rect(kind, x1, x2, middle, high) { if (x2 > x1) { this.add("rect", {class: kind, x: x1.toFixed(1), y: (middle - high / 2).toFixed(1), width: (x2 - x1).toFixed(1), height: high.toFixed(1), rx: 3}); } }
  x(at) { return Math.max(this.left, this.left + placeOf(this.story, this.view, at) * this.unit + .35 * this.rem); }
  /* A bar that has not ended yet reaches to the line of the current instant. */
  upTo(at) { return at > this.at ? this.nowX : Math.min(this.x(at), this.nowX); }
  past(at) { return at <= this.at + .001; }

  /* Sizes, in pixels, and the middle of each lane. */
  measure(position) {
    const story = this.story, rem = head.rem(), big = head.isPresenter(), width = this.box.clientWidth, people = story.rec.people.length;
    this.rem = rem; this.width = width; this.slim = width < 44 * rem;
    this.left = this.slim ? 0 : 9.6 * rem; this.right = .8 * rem;
    this.step = Math.min(story.steps.length - 1, Math.floor(position + 1e-6));
    this.at = timeAt(story, position);
    const wide = width - this.left - this.right - 1.5 * rem;
    this.view = windowOf(story, this.step, Math.max(3, wide / (2.1 * rem)));
    this.unit = wide / this.view.span;
    const part = Math.max(0, Math.min(position, story.steps.length - 1) - this.step);
    const here = this.stopX(this.step), next = this.step < this.view.to ? this.stopX(this.step + 1) : here;
    this.nowX = Math.min(here + (next - here) * part + 1.1 * rem, width - .2 * rem);
    this.bar = (this.slim && big ? 1 : 1.3) * rem;
    /* Names stand before their lanes, or above them where there is little room; then words of messages stand above the names. */
    const lane = (this.slim ? big ? 2.1 : 3.1 : big ? 2.15 : 2.7) * rem, gap = (this.slim ? big ? 1.3 : 1.9 : big ? 1.5 : 1.75) * rem;
    this.y = [];
    for (let i = 0; i < people; i++) { this.y.push(2.4 * rem + lane * (i + .5) + (this.slim ? .6 * rem : 0)); }
    const low = people ? this.y[people - 1] : 2 * rem;
    this.yStore = low + lane + gap + (this.slim ? .3 : -.3) * rem;
    this.yBase = this.yStore + lane + gap - (this.slim ? .1 : .5) * rem;
    this.height = this.yBase + (this.slim ? this.bar / 2 + .4 * rem : lane / 2 + .1 * rem);
  }
  label(...all) { this.labels.push(all); }
  /* Above arrows and bars, so that nothing crosses a word. */
  drawLabels() { for (const one of this.labels) { if (one[0] !== this.hidden) { this.drawLabel(...one); } } }
  tight() { return this.slim && head.isPresenter(); }
  nameOf(isDatabase) {
    const names = {redis: "Redis", "redis x5": "Redis × 5", postgresql: "PostgreSQL", zookeeper: "ZooKeeper"}, store = names[this.story.rec.store] || this.story.rec.store;
    return !isDatabase ? store : store === "PostgreSQL" ? "tb_voucher" : word("database");
  }
  drawLabel(middle, name, state, hot) {
    const up = middle - (this.slim ? this.bar / 2 + (this.tight() ? .25 : .4) * this.rem : .1 * this.rem);
    /* Bold Latin letters are wider than those that are counted; Chinese ones are not. */
    const after = widthOf(name, 1.1 * this.rem) * (/[\u2e80-\uffff]/.test(name) ? 1 : 1.28) + (this.slim ? .6 : .4) * this.rem;
    const beside = this.slim || (head.isPresenter() && after + widthOf(state, .93 * this.rem) * (hot ? 1.1 : 1) < this.left - .2 * this.rem), first = beside && !this.slim ? middle + .35 * this.rem : up;
    this.add("text", {class: "lane-name over-bed", x: 0, y: first}, name);
    this.add("text", {class: (hot ? "hot state" : "small-text") + " over-bed", x: beside ? after : 0, y: beside ? first : up + 1.1 * this.rem}, state);
  }
  moodOf(actor) {
    const story = this.story, at = this.at, is = (list) => list.find((f) => f.actor === actor && f.from <= at + .001 && at < f.to);
    if (story.dead.some((f) => f.actor === actor && f.from <= at)) { return "dead"; }
    if (is(story.frozen)) { return "frozen"; }
    const belief = story.beliefs.filter((b) => b.actor === actor && b.from <= at + .001 && at < b.to).pop();
    if (belief) { return story.keys.some((k) => k.actor === actor && k.from <= at + .001 && at + .001 < k.to) ? "holds" : "late"; }
    return story.rec.calls.some((c) => c.actor === actor && c.what === "acquire" && c.from / 1000 <= at && (c.to ?? Infinity) / 1000 > at + .001) ? "waits" : "out";
  }
  drawPeople() {
    const story = this.story, end = Infinity;
    story.rec.people.forEach((name, i) => {
      const mood = this.moodOf(i);
      this.rect("bed", this.left, this.width, this.y[i], this.bar + .3 * this.rem);
      this.label(this.y[i], personName(story, i, head.language), word(mood), mood === "late");
      this.svg.dataset["mood" + i] = mood;
    });
    for (const c of story.rec.calls) {
      if (c.what === "acquire" && this.past(c.from / 1000)) { this.rect("waiting", this.x(c.from / 1000), this.upTo((c.to ?? end) / 1000), this.y[c.actor], this.bar * .6); }
    }
    for (const b of story.beliefs) {
      if (!this.past(b.from)) { continue; }
      const key = story.keys.find((k) => k.belief === story.beliefs.indexOf(b)), agreed = Math.min(b.to, key ? key.to : b.to), y = this.y[b.actor];
      this.rect("right", this.x(b.from), this.upTo(agreed), y, this.bar);
      if (this.at > agreed) { this.rect("wrong", this.x(agreed), this.upTo(b.to), y, this.bar); }
      this.rect("belief", this.x(b.from), this.upTo(b.to), y, this.bar);
    }
    for (const f of story.frozen) { if (this.past(f.from)) { this.rect("ice", this.x(f.from), this.upTo(f.to), this.y[f.actor] + .1 * this.bar, this.bar * .55); } }
    for (const f of story.dead) {
      if (!this.past(f.from)) { continue; }
      const x1 = this.x(f.from), x2 = this.nowX, y = this.y[f.actor], h = this.bar / 2;
      this.add("path", {class: "gone", d: `M${x1} ${y - h}H${x2}V${y + h}H${x1}ZM${x1} ${y - h}L${x2} ${y + h}M${x1} ${y + h}L${x2} ${y - h}`});
    }
  }
  drawStores() {
    const story = this.story, rem = this.rem, at = this.at, key = story.keys.filter((k) => k.from <= at + .001 && at + .001 < k.to).pop(), until = key ? deadlineAt(story, key, at) : 0;
    for (const y of [this.yStore, this.yBase]) { this.rect("bed", this.left, this.width, y, this.bar + (this.slim ? .3 : .5) * rem); }
    this.label(this.yStore, this.nameOf(false), key ? until === Infinity ? word("noTtl") : word("ttl", Math.max(0, Math.round(until - at)).toLocaleString("en")) : word("noKey"), key && until === Infinity && story.rec.expires);
    for (const k of story.keys) {
      if (!this.past(k.from)) { continue; }
      const x1 = this.x(k.from), x2 = this.upTo(k.to), name = personName(story, k.actor, head.language);
      this.rect("right", x1, x2, this.yStore, this.bar);
      if (x2 - x1 > widthOf(name, rem) + .6 * rem) { this.add("text", {class: "in", x: x1 + .4 * rem, y: this.yStore + .35 * rem}, name); }
    }
    const orders = latest(story.orders, at), over = orders > story.rec.stock.issued;
    this.label(this.yBase, this.nameOf(true), word("orders", orders, story.rec.stock.issued) + (over ? " ✗" : ""), over);
    this.svg.dataset.orders = orders; this.svg.dataset.stock = latest(story.stock, at); this.svg.dataset.holder = key ? key.actor : "";
    let lastEnd = -1;
    story.stock.forEach(([from, value], i) => {
      if (!this.past(from)) { return; }
      const x1 = Math.max(this.left, this.x(from)), next = story.stock[i + 1], end = next ? this.upTo(next[0]) : this.nowX, text = (end - x1 > widthOf(word("stock"), rem) + 2 * rem ? word("stock") + " " : "") + value;
      if (i > 0) { this.add("line", {class: "change", x1: x1, x2: x1, y1: this.yBase - this.bar / 2, y2: this.yBase + this.bar / 2}); }
      if (x1 + .4 * rem > lastEnd) { this.add("text", {x: x1 + .4 * rem, y: this.yBase + .36 * rem, "font-weight": 700}, text); lastEnd = x1 + .5 * rem + widthOf(text, rem); }
    });
  }
  /* Past ones thin; those of the step of now with their words and time, which stand in the gap above their target. */
  drawMessages() {
    const story = this.story, rem = this.rem, drawn = [];
    for (let i = this.view.from; i <= this.step; i++) {
      const step = story.steps[i], mine = i === this.step;
      for (const isDatabase of [false, true]) {
        const all = step.messages.filter((m) => m.isDatabase === isDatabase && m.actor >= 0 && this.past(m.at));
        if (all.length === 0) { continue; }
        const evil = step.robs !== undefined && !isDatabase, kind = mine ? evil ? " evil" : "" : " old";
        const target = (isDatabase ? this.yBase : this.yStore) - this.bar / 2 - .25 * rem, h = .42 * rem;
        for (const m of mine ? all.slice(-3) : all.slice(-1)) {
          const x = Math.max(this.left, this.x(m.at)) + (isDatabase ? .5 * rem : 0), y1 = this.y[m.actor] + this.bar / 2;
          this.add("line", {class: "arrow" + kind, x1: x, x2: x, y1, y2: target - h});
          this.add("path", {class: "tip" + kind, d: `M${x - h * .7} ${target - h * 1.4}h${h * 1.4}l${-h * .7} ${h * 1.4}z`});
        }
        if (mine) { drawn.push([all, target, kind]); this.hidden = this.tight() ? isDatabase ? this.yBase : this.yStore : this.hidden; }
      }
    }
    return () => drawn.forEach(([all, target, kind]) => this.drawWords(all, target, kind));
  }
  drawWords(all, target, kind) {
    const rem = this.rem, last = all[all.length - 1], room = this.width - this.left - .4 * rem, tight = this.tight();
    /* Where there is no room above the name, the words stand in its place. */
    let text = (tight ? this.nameOf(last.isDatabase) : word("ms", clockOf(last.at))) + "  " + wordsOf(all);
    while (widthOf(text, .93 * rem, true) + 1.2 * rem > room && text.length > 8) { text = text.slice(0, -2) + "…"; }
    const long = widthOf(text, .93 * rem, true) + 1.2 * rem, x = Math.max(this.x(last.at) + .9 * rem, this.left);
    const at = x + long < this.width ? x : Math.max(this.left, Math.min(this.x(last.at) - .5 * rem - long, this.width - long)), y = target - (this.slim && !tight ? 2.7 : 1.62) * rem;
    this.add("rect", {class: "pill" + kind, x: at, y, width: long, height: 1.42 * rem, rx: 4});
    this.add("text", {class: "said", x: at + .6 * rem, y: y + 1.03 * rem}, text);
  }
  drawBreach() {
    const b = this.story.breach, rem = this.rem;
    if (!b || !this.past(b.from)) { return null; }
    const lanes = b.holders.map((i) => this.y[i]).filter((y) => y !== undefined), top = Math.min(...lanes) - this.bar / 2 - .3 * rem, low = Math.max(...lanes) + this.bar / 2 + .3 * rem;
    const x1 = Math.max(this.left, this.x(b.from)), x2 = Math.max(x1 + .6 * rem, this.upTo(b.to)), text = word(b.two ? "two" : "broken");
    this.add("rect", {class: "breach", x: x1, y: top, width: x2 - x1, height: low - top, rx: 4});
    /* Beside it, where the future is empty; else before it. */
    const long = widthOf(text, rem) * 1.15 + .5 * rem, right = x2 + long < this.width;
    return () => this.add("text", {class: "hot over-bed breach-word", x: right ? x2 + .4 * rem : Math.max(this.left + .2 * rem, this.slim ? x2 - long : x1 - long), y: Math.min(...lanes) + .35 * rem}, text);
  }
  /* A numbered stop for each step that is in view, and a mark where a long wait is cut short. */
  drawAxis() {
    const story = this.story, rem = this.rem, y = .95 * rem, steps = story.steps;
    this.add("line", {class: "rail", x1: this.left, x2: this.width, y1: y, y2: y});
    for (let i = this.view.from; i <= this.view.to; i++) {
      const x = this.stopX(i), past = i <= this.step;
      const hit = past && (i === story.breaks || (steps[i].verdict && story.verdictBad));
      this.add("circle", {class: "dot" + (past ? hit ? " hit" : "" : " todo") + (i === this.step ? " here" : ""), cx: x, cy: y, r: .74 * rem});
      this.add("text", {class: "dot-word" + (past ? hit ? " hit" : "" : " todo"), x, y: y + .33 * rem}, hit && i === story.breaks ? "✗" : this.numberOf(i));
      const wait = i > this.view.from ? steps[i].at - steps[i - 1].at : 0, cx = i > this.view.from ? (x + this.stopX(i - 1)) / 2 : 0;
      if (wait > BREAK_MS) {
        this.add("path", {class: "cut", d: `M${cx - .35 * rem} ${y + .45 * rem}l${.35 * rem} ${-.9 * rem}m${.25 * rem} 0l${-.35 * rem} ${.9 * rem}`});
        if (!this.tight() || cx > 14 * rem) { this.add("text", {class: "small-text middle", x: cx, y: 2.3 * rem}, word("ms", clockOf(wait))); }
      }
    }
  }
  stopX(i) { return this.left + this.view.places[i - this.view.from] * this.unit + .35 * this.rem; }
  numberOf(i) { return String(this.number ? this.number(i) : i + 1); }

  draw(position) {
    this.measure(position);
    this.svg = document.createElementNS(SVG, "svg");
    for (const [key, value] of Object.entries({role: "img", viewBox: `0 0 ${this.width} ${this.height}`, height: this.height, "aria-label": word("drawing", this.numberOf(this.step))})) { this.svg.setAttribute(key, value); }
    this.labels = []; this.hidden = undefined;
    this.drawPeople();
    const words = this.drawMessages();
    this.drawStores();
    const breach = this.drawBreach();
    this.add("line", {class: "now", x1: this.nowX, x2: this.nowX, y1: 1.9 * this.rem, y2: this.height});
    this.drawLabels();
    words();
    if (breach) { breach(); }
    this.drawAxis();
    this.box.replaceChildren(this.svg);
  }
}
