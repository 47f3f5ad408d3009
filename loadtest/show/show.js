/* SPDX-License-Identifier: MIT */
/* show.js -- draws what GET /api/state says, and sends what is pressed.  docs/reference/show.md has the fields. */
"use strict";
const root = document.documentElement, GONE_MS = 2000, STILL_MS = 3000;
/* Faults that have a key; GET /api/catalog names all, and the others are in a list.  The first six are presented. */
const FAULTS = [["F", "freeze"], ["W", "slow"], ["G", "check-gap"], ["K", "kill"], ["C", "cut"], ["R", "server-stop"], ["X", "server-kill"],
  ["O", "redis-failover"], ["E", "redis-restart-empty"], ["J", "clock"]];
const NUMBERS = ["lease_ms", "processes", "connections", "rate", "stock"];
/* Settings whose names are other words of the page, too. */
const SETTING_WORDS = {processes: "processCount", users: "userChoice", rate: "rateWanted"};
let language = "en", state = null, catalog = null, chosen = 0, wish = null, refused = null, lastAnswer = performance.now(), lastLook = lastAnswer;
let access = "unknown", keysOn = true, timer = null;

const $ = (id) => document.getElementById(id);
const word = (key, ...parts) => (WORDS[language][key] || key).replace(/\{(\d)\}/g, (all, i) => parts[i] === undefined ? "" : parts[i]);
const number = (n) => Math.round(n).toLocaleString("en"), rem = () => parseFloat(getComputedStyle(root).fontSize);
/* The last choice, as the other pages of the laboratory remember it too. */
function recall(name) { try { return localStorage.getItem("seckill." + name); } catch (error) { return null; } }
function remember(name, value) { try { localStorage.setItem("seckill." + name, value); } catch (error) { /* the page goes on */ } }
/* A text that stays the same is not written again: a live region would be read again. */
function say(node, text) { if (node.textContent !== text) { node.textContent = text; } }
function element(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const key in attributes) { node.setAttribute(key, attributes[key]); }
  node.append(...children);
  return node;
}
function draw(box, width, height, label, parts) {
  const ns = "http://www.w3.org/2000/svg", svg = document.createElementNS(ns, "svg");
  const set = (node, attributes) => { for (const key in attributes) { node.setAttribute(key, attributes[key]); } };
  set(svg, {role: "img", "aria-label": label, viewBox: `0 0 ${width} ${height}`, height: height});
  for (const [name, attributes, text] of parts) {
    const node = document.createElementNS(ns, name);
    set(node, attributes);
    if (text !== undefined) { node.textContent = text; }
    svg.append(node);
  }
  box.replaceChildren(svg);
}

/* ---- the laboratory ---- */
function token() { return sessionStorage.getItem("token"); }
async function ask(path, body) {
  const answer = await fetch("/api/" + path, {
    method: body === undefined ? "GET" : "POST", body: body === undefined ? undefined : JSON.stringify(body),
    headers: token() ? {Authorization: "Bearer " + token()} : {}, cache: "no-store", credentials: "omit",
    signal: AbortSignal.timeout(5000)
  });
  lastAnswer = performance.now();
  access = answer.status === 401 ? "none" : answer.status === 403 ? "wrong" : "good";
  return {ok: answer.ok, status: answer.status, body: await answer.json()};
}
/* The status of the answer; 0: there was none. */
async function send(path, body) {
  let status = 0;
  refused = null;
  try {
    const answer = await ask(path, body || {});
    status = answer.status;
    refused = answer.ok ? null : answer.body.code ? [answer.body.code] : ["refused", answer.body.error];
  } catch (error) { refused = ["unanswered"]; }
  poll();
  return status;
}
async function poll() {
  let next = state ? 500 : 250;
  clearTimeout(timer);
  try {
    if (!catalog) {
      const answer = await ask("catalog");
      if (answer.ok) { catalog = answer.body; buildSettings(); buildMore(); }
    }
    const answer = await ask("state");
    if (answer.ok) {
      if (state && state.boot_id !== answer.body.boot_id) { location.reload(); return; }
      if (!state || state.seq !== answer.body.seq) { lastLook = performance.now(); }
      state = answer.body; next = state.next_ms;
      if (wish && state.phase !== "starting") { const settings = wish; wish = null; send("offer", settings).then((status) => { if ([0, 409].includes(status) && !wish) { wish = settings; refused = null; } }); }
    }
  } catch (error) { /* the banner says so, and the next poll tries again */ }
  show();
  clearTimeout(timer);
  timer = setTimeout(poll, document.hidden ? 5000 : next);
}

/* ---- the verdict and the stock ---- */
/* Which faults met a holder, and which nobody: a lock that was not tried is not sound by merit. */
function whatFaultsMet() {
  const groups = {d_metNobody: [], d_met: [], d_metUnknown: []};
  for (const f of state.faults) {
    const key = f.met === 0 ? "d_metNobody" : f.met === "unknown" ? "d_metUnknown" : "d_met";
    if (f.met !== null) { groups[key].push(faultName(f.name)); }
  }
  return Object.keys(groups).filter((key) => groups[key].length)
    .map((key) => (language === "zh" ? "" : " ") + word(key, groups[key].join(", "))).join("");
}
function verdict() {
  const v = state.verdict, s = state.stock, set = state.run.settings, done = state.phase === "ended";
  if (state.phase === "starting") { return ["", word("v_starting"), word("d_starting")]; }
  if (state.phase === "failed") { return ["bad", word("v_failed"), state.run.why || ""]; }
  if (state.phase === "ready" || !v || !s) { return ["", word("v_ready"), set.rate ? word("d_rated", number(set.rate), number(set.stock)) : word("d_ready", set.connections, number(set.stock))]; }
  const late = v.refused ? (language === "zh" ? "" : " ") + word("lateRefused", number(v.refused)) : "";
  if (v.oversold > 0) { return ["bad", word("v_over", number(v.oversold)), word("d_over", number(Math.max(0, v.lost_updates)))]; }
  if (v.lost_updates > 0) { return ["bad", word(v.lost_updates === 1 ? "v_lost1" : "v_lost", number(v.lost_updates)), word("d_lost")]; }
  if (v.duplicates > 0) { return ["bad", word(v.duplicates === 1 ? "v_double1" : "v_double", number(v.duplicates)), word("d_double")]; }
  if (v.valid === false) { return ["bad", word(v.lost_updates === -1 ? "v_gone1" : "v_gone", number(-v.lost_updates)), word("d_gone")]; }
  if (s.sold === 0) { return ["", word(done ? "v_noneEnd" : "v_none"), done ? word("d_noneEnd") : word("d_none", v.in_flight)]; }
  if (v.final) { return ["good", word("v_sound"), word("d_sound", number(s.sold), number(s.issued)) + late + whatFaultsMet()]; }
  return ["doubt", word("v_sofar"), done ? word("d_settling") : word("d_sofar", v.in_flight, (v.age_ms / 1000).toFixed(1)) + late];
}
function drawBar() {
  const box = $("bar"), s = state.stock || {issued: state.run.settings.stock, sold: 0, left: state.run.settings.stock}, em = rem();
  const width = box.clientWidth, scale = s.issued * [1.25, 2, 5, 10, 100].find((k) => s.sold <= s.issued * k * .97 || k === 100);
  const x = (n) => Math.max(0, Math.min(width, width * n / scale)), h = 1.7 * em, y = .1 * em, wall = x(s.issued);
  const known = Math.max(0, s.issued - s.left), within = Math.min(s.sold, s.issued), parts = [
    ["rect", {class: "bed", x: 0, y: y, width: width, height: h, rx: 4}],
    ["rect", {class: "sold", x: 0, y: y, width: x(within), height: h, rx: 4}]];
  if (s.sold + s.left > s.issued && known < within) { parts.push(["rect", {class: "lost", x: x(known), y: y, width: x(within) - x(known), height: h}]); }
  if (s.sold > s.issued) { parts.push(["rect", {class: "over", x: wall, y: y, width: x(s.sold) - wall, height: h}]); }
  if (!state.stock) { draw(box, width, y + h + 1.4 * em, word(state.phase), parts); return; }
  parts.push(["line", {class: "wall", x1: wall, x2: wall, y1: 0, y2: y + h + .35 * em}],
    /* Where the marker says "0 left" itself, or stands close to the wall, its triangle needs the room. */
    ["text", {class: "s", x: Math.min(wall + (Math.abs(x(known) - wall) < em ? 1 : .4) * em, width), y: y + h + 1.15 * em, "text-anchor": wall + 4 * em > width ? "end" : "start"}, s.left === 0 ? "" : word("zeroLeft")]);
  const at = x(known), label = word("row", number(s.left)), wide = label.length * (language === "zh" ? .95 : .56) * em, flip = at + wide + 1.4 * em > wall,
    /* There is no room beside the marker: the label has a line of its own. */
    stacked = width < 24 * em || (flip && at < wide + em);
  parts.push(["path", {class: "marker", d: `M${at} ${y + h + .1 * em}l${.5 * em} ${.8 * em}h${-em}z`}],
    ["text", {x: stacked ? Math.max(0, Math.min(at - .5 * em, width - wide)) : at + (flip ? -.8 : .8) * em, y: y + h + (stacked ? 2.5 : 1.15) * em, "text-anchor": flip && !stacked ? "end" : "start"}, label]);
  draw(box, width, y + h + (stacked ? 2.8 : 1.4) * em, word("stockLabel", number(s.sold), number(s.issued), number(s.left)), parts);
}

/* ---- the lanes and the store ---- */
const LANE = {h: "holding", w: "waiting", u: "working", s: "slow", l: "late", f: "frozen",
  z: "frozen", x: "stale", d: "dead"};
function buildLanes(count) {
  const box = $("lanes");
  if (box.querySelectorAll("button").length === count) { return; }
  box.replaceChildren();
  for (let i = 1; i <= count; i++) {
    const button = element("button", {type: "button", "data-process": i, "aria-keyshortcuts": i}, element("b"), element("span"));
    button.onclick = () => { chosen = chosen === i ? 0 : i; show(); };
    box.append(button, element("div", {class: "track"}), element("span", {class: "n"}));
  }
}
function drawLanes() {
  const em = rem(), box = $("lanes"), isMany = state.processes.length > 4, h = (isMany ? 1.2 : 2.2) * em;
  root.classList.toggle("many", isMany);
  buildLanes(state.processes.length);
  state.processes.forEach((p, i) => {
    const button = box.querySelectorAll("button")[i], track = box.querySelectorAll(".track")[i], width = track.clientWidth, step = width / p.lane.length;
    const parts = [["rect", {class: "bed", x: 0, y: 0, width: width, height: h, rx: 4}]];
    for (let from = 0, to; from < p.lane.length; from = to) {
      for (to = from + 1; to < p.lane.length && p.lane[to] === p.lane[from]; to++) { /* the whole piece */ }
      const kind = LANE[p.lane[from]], thin = kind === "waiting" || kind === "working";
      if (!kind) { continue; }
      parts.push(["rect", {class: kind, x: from * step, y: thin ? h * .25 : 2, width: (to - from) * step, height: thin ? h * .5 : h - 4}]);
      if (kind === "dead") { parts.push(["path", {class: "dead", d: `M${from * step} 2L${to * step} ${h - 2}M${from * step} ${h - 2}L${to * step} 2`}]); }
    }
    draw(track, width, h, word("process", p.n) + ": " + word(p.state), parts);
    button.dataset.state = p.state;
    say(button.firstChild, word("process", p.n)); say(button.lastChild, word(p.state));
    button.setAttribute("aria-pressed", chosen === p.n);
    say(box.querySelectorAll(".n")[i], number(p.orders));
  });
}
function belief() {
  if (state.phase === "failed") { return [false, " "]; }
  const ended = state.faults.find((f) => f.ended);
  if (!state.store.answers && ended) { return [true, endedAgo(ended)]; }
  if (!state.store.answers && state.store.locks.length) { return [true, word("lastWords", word("store_" + state.store.kind))]; }
  const late = state.processes.filter((p) => p.lease && !p.lease.by_right);
  const frozen = state.processes.filter((p) => p.state === "frozen"), slow = state.processes.filter((p) => p.state === "slow");
  const dead = state.processes.filter((p) => p.state === "dead"), lock = state.store.locks[0];
  /* Who has a lock without a name is not known, but that nobody gets it is. */
  if (dead.length && lock && lock.locked && lock.ttl_ms === null && state.store.kind === "redis" && !state.rates.accepted.slice(-8).some(Boolean)) { return [true, word("deadHolds", dead[0].n)]; }
  if (late.length) { return [true, word("believesToo", late.map((p) => p.n).join(", "))]; }
  const ever = lock && lock.ttl_ms === null;
  if (frozen.length) { return [false, word(ever ? "frozenEver" : "frozenHolds", frozen[0].n)]; }
  if (slow.length) { return [false, word(ever ? "slowEver" : "slowHolds", slow[0].n, lock ? lock.renewals : 0)]; }
  return [false, state.store.kind === "process" && state.processes.length > 1 ? word("ownLocks") : state.store.kind === "-" ? word("noneAsks") : !lock ? "" : word(state.store.answers && lock.locked && !lock.process ? "namesNone" : "unaware")];
}
function nodes(letters) {
  const drawn = letters.replace(/h/g, "■").replace(/[.]/g, "□");
  return drawn.includes("?") ? word("silent", drawn) : drawn;
}
function drawStore() {
  const store = state.store, lock = store.locks[0], em = rem(), width = $("ttl").clientWidth, lease = state.run.settings.lease_ms;
  const left = lock && lock.locked && lock.ttl_ms !== null ? lock.ttl_ms : null, rows = [];
  const name = word("store_" + store.kind);
  say($("storeTitle"), store.kind === "-" ? word("noStore") : word("believes", /[a-z]$/i.test(name) && language === "zh" ? name + " " : name));
  draw($("ttl"), width, 2.2 * em, "TTL", [
    ["rect", {class: "bed", x: 0, y: 0, width: width, height: .9 * em, rx: 4}],
    ["rect", {class: store.answers ? "holding" : "unanswered", x: 0, y: 0, width: left === null ? (lock && lock.locked && store.kind !== "-" ? width : 0) : width * Math.min(1, left / lease), height: .9 * em, rx: 4}],
    ["text", {class: "s", x: 0, y: 2 * em}, !store.answers && lock ? word("noAnswer", (store.age_ms / 1000).toFixed(1)) : !lock || !lock.locked ? (store.kind === "-" || state.phase === "failed" ? "" : word("free")) : left === null ? word("noTtl") : word("ttl", (left / 1000).toFixed(1), (lease / 1000).toFixed(1))]]);
  $("ttl").dataset.ms = left === null ? "" : left;
  if (lock && store.kind !== "-") {
    const thread = (lock.owner || "").split(":")[1];
    rows.push(["key", lock.name], ["owner", !lock.locked ? word("nobody") : lock.process ? word("thread", lock.process, thread) : lock.owner ? word("nameless", lock.owner) : word("unknown")],
      ["count", lock.count === null || !lock.locked ? "–" : lock.count], store.nodes ? ["nodes", nodes(store.nodes)] : ["fence", lock.fence === null ? word("none") : lock.fence],
      ["waiters", lock.waiters === null ? word("unknown") : lock.waiters]);
    if (root.classList.contains("presenter")) { rows.splice(2, 1); }
  }
  /* Each process has a lock of its own, and the one that was asked is one of them. */
  if (lock && store.kind === "process" && state.processes.length > 1) {
    const holders = state.processes.filter((p) => p.state === "holding").length;
    rows.splice(1, rows.length, ["owner", !holders ? word("nobody") : holders === 1 ? word("processIs") : word("processesAre", holders)]);
  }
  const facts = $("facts");
  while (facts.children.length > 2 * rows.length) { facts.lastChild.remove(); }
  rows.forEach(([key, value], i) => {
    if (!facts.children[2 * i]) { facts.append(element("dt", {}), element("dd", {})); }
    say(facts.children[2 * i], word(key)); say(facts.children[2 * i + 1], String(value));
  });
  const [hot, text] = belief();
  $("also").classList.toggle("hot", hot);
  say($("also"), text || (state.run.settings.scope === "user" ? word("perUser") : word("noLock")));
}

/* ---- buttons, settings, log ---- */
function buildFaults() {
  $("faults").replaceChildren(...FAULTS.concat([["U", "heal", "undo"]]).map(([key, name]) => {
    const button = element("button", {type: "button", "data-fault": name, "aria-keyshortcuts": key}, element("kbd", {"aria-hidden": "true"}, key), element("span"));
    button.onclick = () => fault(name);
    return button;
  }));
}
/* The faults without a key: one of a list, and a button that gives it or takes it back. */
function buildMore() {
  const others = catalog.faults.filter((f) => !FAULTS.some(([, name]) => name === f.name));
  $("more").replaceChildren(...others.map((f) => element("option", {value: f.name}, f.name)));
  $("more").onchange = showFaults;
  $("give").onclick = () => fault($("more").value);
}
/* The server that a fault of a server is for; where a lock is in none, a button that cannot be used names Redis. */
function serverName() {
  const kind = state.store.kind;
  return word(kind === "redis x5" ? "oneOfFive" : "store_" + (["-", "process"].includes(kind) ? "redis" : kind));
}
/* The words of a fault: most have their own, the others are called as the laboratory calls them. */
function faultName(name) { return "k_" + name in WORDS[language] ? word("k_" + name, serverName()) : name; }
function faultDoes(name) { return "f_" + name in WORDS[language] ? word("f_" + name, serverName()) : catalog.faults.find((f) => f.name === name).does; }
/* Of a server that ended without a fault: which and since when, and what starts it again. */
function endedAgo(f) { return word("serverEnded", f.server, Math.floor(f.since_ms / 1000)); }
function serverEnded(f) {
  const starts = f.refuses === "nothing-runs" ? word("saleStarts", f.server) : f.refuses ? word(f.refuses) : word("startsServer", f.server);
  return endedAgo(f) + (language === "zh" ? "" : " ") + starts;
}
function fault(name) {
  if (!state || access !== "good") { return; }
  if (name === "heal") { send("heal"); return; }
  const f = state.faults.find((one) => one.name === name);
  if (f.refuses !== null && !chosen) { refused = [f.refuses]; show(); return; }
  send("fault", chosen ? {name: name, target: chosen} : {name: name});
}
function showFaults() {
  const any = state.faults.some((f) => f.state !== "off");
  const find = (name) => state.faults.find((one) => one.name === name);
  const show = (button, f, text) => {
    button.setAttribute("aria-pressed", f.state !== "off");
    /* A button with `disabled` gets no focus, so a reader cannot learn the reason.  This button stays in the order of Tab, and has the reason. */
    button.setAttribute("aria-disabled", f.refuses !== null);
    button.title = f.ended ? serverEnded(f) : f.refuses ? word(f.refuses) : faultDoes(f.name);
    say(button.lastChild, f.state === "armed" ? word("armed", text) : f.state === "busy" ? word("busy", text) : text);
  };
  FAULTS.forEach(([, name]) => show($("faults").querySelector(`[data-fault=${name}]`), find(name), find(name).ended ? word("startServer", find(name).server) : faultName(name)));
  const more = find($("more").value);
  if (more) { show($("give"), more, word(more.state === "off" ? "give" : "takeBack")); }
  const there = state.faults.find((f) => f.state !== "off"), same = state.faults.every((f) => f.refuses === state.faults[0].refuses);
  const why = there ? there.ended ? serverEnded(there) : faultDoes(there.name) : same && state.faults[0].refuses ? word(state.faults[0].refuses) : faultDoes("freeze");
  const undo = $("faults").querySelector("[data-fault=heal]");
  say(undo.lastChild, word("undo"));
  undo.disabled = !any;
  say($("why"), refused ? word(...refused) : why);
  say($("target"), chosen ? word("onProcess", chosen) : word("onHolder"));
}
function buildSettings() {
  const box = $("switches");
  box.replaceChildren();
  const add = (name, control) => {
    control.id = "set-" + name;
    control.onchange = () => change(name, control.type === "number" ? Number(control.value) : control.value);
    box.append(element("label", {}, element("span", {"data-t": SETTING_WORDS[name] || name}), control));
  };
  for (const name in catalog.choices) {
    const select = element("select", {});
    for (const value of catalog.choices[name]) { select.append(element("option", {value: value}, value)); }
    add(name, select);
  }
  for (const name of NUMBERS) { add(name, element("input", {type: "number", min: catalog.numbers[name].least, max: catalog.numbers[name].most})); }
  speak();
}
/* A key that is pressed again within this time goes on choosing, and so does one during a start. */
const CHOOSING_MS = 300;
let changes = {}, sent = {}, sentRun = 0, choosing = null;
function change(name, value) {
  changes[name] = value;
  clearTimeout(choosing);
  choosing = setTimeout(sendChanges, CHOOSING_MS);
}
async function sendChanges() {
  if (state.phase === "starting") { choosing = setTimeout(sendChanges, CHOOSING_MS); return; }
  sent = changes; changes = {}; sentRun = state.run.id;
  const status = await send(state.phase === "running" ? "run" : "offer", sent);
  if (status !== 202) { sent = {}; show(); }
}
/* Does the control show what was chosen, and not what is?  What was refused returns to what is. */
function isChosen(name) {
  if (state.run.id !== sentRun && state.phase !== "starting") { sent = {}; }
  return name in changes || name in sent;
}
function showSettings() {
  const settings = state.run.settings, lock = catalog.locks.find((one) => one.name === settings.lock);
  for (const name in settings) {
    const control = $("set-" + name), isTyped = control && control.type === "number" && document.activeElement === control;
    if (control && !isChosen(name) && (!isTyped || refused)) { control.value = settings[name]; }
  }
  for (const option of $("set-lock").options) {
    const one = catalog.locks.find((l) => l.name === option.value);
    option.disabled = !one.available;
    say(option, one.available ? one.name : word("unavailable", one.name));
  }
  say($("promise"), word("promises", lock.promises, lock.breaks));
  say($("command"), state.run.command);
  /* A lesson has settings of its own. */
  $("link").href = location.pathname + "#" + new URLSearchParams({token: token() || "", lang: language, ...(state.lesson ? {lesson: state.lesson.number} : settings)});
}
/* An event as a sentence. */
function sentence(e) {
  const own = "e_" + e.kind + "-" + e.fault;
  const key = own in WORDS[language] ? own : "e_" + (e.kind === "failed" && e.fault ? "fault-failed" : e.kind), one = e.number === 1 && WORDS[language][key + "1"];
  const text = (one || WORDS[language][key]).replace("{n}", number(e.number)).replace("{p}", e.process);
  return e.fault ? text.replace("{f}", faultName(e.fault)) : text;
}
function showLog() {
  const list = $("log"), key = language + (state.events.length ? state.events[state.events.length - 1].seq : 0);
  if (list.dataset.key === key) { return; }
  list.dataset.key = key;
  list.replaceChildren(...state.events.slice().reverse().map((e) => element("li", {},
    element("time", {}, (e.at_ms / 1000).toFixed(2) + " s"), " " + sentence(e), ...(e.said ? [" ", element("span", {lang: "en", class: "soft"}, e.said)] : []))));
}

/* ---- all of it ---- */
function showBanner() {
  const silent = performance.now() - lastAnswer, still = performance.now() - lastLook, banner = $("banner");
  const gone = silent > GONE_MS || access === "none" || access === "wrong";
  /* It answers with what it saw last, since a server keeps it waiting.  Processes may take longer to start. */
  const stuck = !gone && state !== null && state.phase !== "starting" && still > STILL_MS;
  banner.hidden = !gone && !stuck;
  root.dataset.gone = gone; root.dataset.stuck = stuck;
  $("page").classList.toggle("gone", gone || stuck);
  if (stuck) { say(banner, word("stuck", Math.floor(still / 1000))); } else if (gone) { say(banner, access === "none" ? word("noToken") : access === "wrong" ? word("badToken") : word("banner", Math.floor(silent / 1000))); }
}
function show() {
  showBanner();
  if (!state || !catalog) { return; }
  const [kind, head, detail] = verdict(), running = state.phase === "running", set = state.run.settings;
  $("verdict").className = "panel verdict " + kind;
  say($("head"), head); say($("detail"), detail);
  $("detail").dataset.refused = state.verdict ? state.verdict.refused : 0;
  $("detail").lang = state.phase === "failed" ? "en" : "";
  const sold = state.stock ? number(state.stock.sold) : "–";
  say($("sold"), sold); $("sold").style.setProperty("--fit", Math.min(1, 5 / sold.length)); say($("issued"), word("of", number(set.stock)));
  say($("phase"), word(state.phase) + (state.run.elapsed_ms ? " " + word("seconds", (state.run.elapsed_ms / 1000).toFixed(1)) : ""));
  say($("summary"), [set.lock, set.stock_guard, set.scope].join(" · "));
  /* The elements in a button stay: a press on one that is replaced before the release is no click. */
  say($("go").firstChild, word(running ? "stop" : state.phase === "ended" ? "again" : "start"));
  $("go").disabled = state.phase === "starting";
  /* Presenter mode leaves out the line that has the reason of a refusal elsewhere. */
  say($("latest"), refused && root.classList.contains("presenter") ? word(...refused) : state.events.length ? sentence(state.events[state.events.length - 1]) : "");
  drawBar(); drawLanes(); drawStore(); showFaults();
  if (!root.classList.contains("presenter")) {
    const ms = (list) => list.map((v) => v === null ? null : v / 1000);
    drawLines("rate", [perSecond(state.rates.accepted)], word("rate"));
    drawLines("latency", [ms(state.rates.p99_us), ms(state.rates.p50_us)], word("latency"));
    showSettings(); showLog();
  }
  showLesson();
  /* Set last, so that a program that waits for these values sees all changes above. */
  root.dataset.phase = state.phase; root.dataset.run = state.run.id; root.dataset.verdict = state.verdict ? String(state.verdict.valid) + (state.verdict.final ? " final" : "") : "";
  root.dataset.seq = state.seq;
}
function speak() {
  root.lang = language === "zh" ? "zh-CN" : "en";
  for (const node of document.querySelectorAll("[data-t]")) { say(node, word(node.dataset.t)); }
  for (const node of document.querySelectorAll("[data-a]")) { node.setAttribute("aria-label", word(node.dataset.a)); }
  say($("legend"), word("legend")); say($("link"), word("link")); say($("language"), word("other"));
  say($("go").lastChild, WORDS[language].keylist[0][0]);
  $("language").lang = language === "zh" ? "en" : "zh-CN";
  $("promise").lang = $("command").lang = $("summary").lang = "en";
  $("keylist").replaceChildren(...WORDS[language].keylist.flatMap(([key, text]) => [element("dt", {}, element("kbd", {}, key)), element("dd", {}, text)]));
  show();
}
function theme(dark) { root.dataset.theme = dark ? "dark" : "light"; $("dark").setAttribute("aria-pressed", dark); }
function presenter(on) { root.classList.toggle("presenter", on); $("presenter").setAttribute("aria-pressed", on); show(); }
function go() {
  if (!state || access !== "good" || state.phase === "starting" || lessonGo()) { return; }
  send(state.phase === "running" ? "run/stop" : "run");
}
function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1)), settings = {};
  if (given.get("token")) { sessionStorage.setItem("token", given.get("token")); }
  language = /^zh/i.test(given.get("lang") || recall("language") || navigator.language) ? "zh" : "en";
  if (given.has("presenter")) { root.classList.add("presenter"); }
  if (given.get("lesson")) { lessonTo(Number(given.get("lesson"))); }
  for (const [name, value] of given) {
    if (!["token", "lang", "presenter", "lesson"].includes(name)) { settings[name] = NUMBERS.includes(name) ? Number(value) : value; }
  }
  if (Object.keys(settings).length) { wish = settings; }
  history.replaceState(null, "", location.pathname);
}
const ACTS = {" ": go, u: () => fault("heal"), l: () => { language = language === "en" ? "zh" : "en"; remember("language", language); speak(); },
  d: () => { theme(root.dataset.theme !== "dark"); remember("theme", root.dataset.theme); }, p: () => presenter(!root.classList.contains("presenter")), "?": () => $("dialog").showModal()};
for (const [key, name] of FAULTS) { ACTS[key.toLowerCase()] = () => fault(name); }
document.addEventListener("keydown", (event) => {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key, name = event.target.tagName;
  if (!keysOn || event.ctrlKey || event.metaKey || event.altKey || $("dialog").open || name === "SELECT" || name === "INPUT") { return; }
  if (key === " " && (name === "BUTTON" || name === "A")) { return; }
  refused = null;
  if (lessonKey(key)) { event.preventDefault(); }
  else if (/^[1-8]$/.test(key) && state && Number(key) <= state.processes.length) { chosen = chosen === Number(key) ? 0 : Number(key); show(); }
  else if (ACTS[key]) { event.preventDefault(); ACTS[key](); }
});
$("go").onclick = go; $("language").onclick = ACTS.l; $("dark").onclick = ACTS.d; $("presenter").onclick = ACTS.p; $("help").onclick = ACTS["?"];
$("keysOn").onchange = () => { keysOn = $("keysOn").checked; };
window.addEventListener("resize", show); window.addEventListener("hashchange", () => { readAddress(); poll(); });
readAddress();
theme((recall("theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark");
$("presenter").setAttribute("aria-pressed", root.classList.contains("presenter"));
buildFaults(); speak(); poll();
setInterval(showBanner, 500);
/* A hidden page asks seldom.  That time does not count as silence of the server. */
document.addEventListener("visibilitychange", () => { if (!document.hidden) { lastAnswer = lastLook = performance.now(); poll(); } });
