/* SPDX-License-Identifier: MIT */
/* lines.js -- orders a second and latency as lines, with bands where a fault was. */
"use strict";
function bands() {
  const start = state.events.filter((e) => e.kind.startsWith("started")).pop(), list = [], open = {};
  const begins = {frozen: "continued", slow: "slow-over", killed: "restarted", "in-gap": "gap-over", cut: "mended", "server-fault": "server-well", "server-ended": "server-started"};
  if (!start) { return list; }
  for (const event of state.events.filter((e) => e.seq > start.seq)) {
    if (event.fault && !catalog.faults.find((f) => f.name === event.fault).lasts) { list.push([event.at_ms - start.at_ms, event.at_ms - start.at_ms + 50]); continue; }
    if (begins[event.kind]) { open[begins[event.kind]] = event.at_ms - start.at_ms; }
    if (open[event.kind] !== undefined) { list.push([open[event.kind], event.at_ms - start.at_ms]); delete open[event.kind]; }
  }
  for (const kind in open) { list.push([open[kind], Infinity]); }
  return list;
}
function drawLines(id, lines, label) {
  const box = $(id), em = rem(), width = box.clientWidth, pad = 3.4 * em, low = 1.3 * em,
    /* On one screen, what the panel has left. */
    room = getComputedStyle($("charts")).overflow === "hidden" ? $("charts").getBoundingClientRect().bottom - box.getBoundingClientRect().top - .7 * em : 5 * em, h = Math.max(3 * em, Math.min(14 * em, room)), r = state.rates, n = Math.max(40, lines[0].length);
  const known = lines.flat().filter((v) => v !== null), top = Math.max(10, ...known) * 1.15, parts = [];
  const left = (number(top).length * .6 + .4) * em, x = (i) => left + (width - pad - left) * i / n, y = (v) => .4 * em + (h - low - .4 * em) * (1 - v / top);
  for (const [from, to] of bands()) {
    const x1 = Math.max(left, x((from - r.from_ms) / r.step_ms)), x2 = Math.min(width - pad, x(Math.min(lines[0].length, (to - r.from_ms) / r.step_ms)));
    if (x2 > left) { parts.push(["rect", {class: "band", x: x1, y: 0, width: Math.max(2, x2 - x1), height: h - low}]); }
  }
  for (const v of [0, top]) { parts.push(["line", {class: "grid", x1: left, x2: width - pad, y1: y(v), y2: y(v)}]); }
  parts.push(["text", {class: "s", x: 0, y: y(top) + .5 * em}, number(top)], ["text", {class: "s", x: left, y: h - .1 * em}, word("seconds", (r.from_ms / 1000).toFixed(0))]);
  lines.forEach((line, which) => {
    let d = "", pen = false, last = null;
    line.forEach((v, i) => { if (v === null) { pen = false; return; } d += `${pen ? "L" : "M"}${x(i + 1).toFixed(1)} ${y(v).toFixed(1)}`; pen = true; last = v; });
    if (d) { parts.push(["path", {class: which ? "curve second" : "curve", d: d}]); }
    if (last !== null && !which) { parts.push(["text", {class: "b", x: Math.min(x(line.length), width - pad) + .4 * em, y: Math.max(em, y(last) + .35 * em)}, number(last)]); }
  });
  draw(box, width, h, label, parts);
}
/* Orders of a second: four steps together. */
function perSecond(list) { return list.map((v, i) => { const part = list.slice(Math.max(0, i - 3), i + 1); return part.reduce((a, b) => a + b, 0) * 4 / part.length; }); }
