/* SPDX-License-Identifier: MIT */
/* story_model.js -- a recording becomes steps, beliefs, the holder as the store has it, stock and orders.  Times are milliseconds.
   A belief begins with the answer to the acquire and ends with the answer to the release, or when the owner hears of the loss.  The
   store has a holder from the grant until the release, the end of the lease, the release of somebody else, or the next grant. */
"use strict";
const LONG_WAIT_MS = 60, PILL_CHARS = 44;
const personName = (story, actor, language) => {
  const name = story.rec.people[actor] || "?";
  return language === "zh" && Object.hasOwn(PEOPLE_ZH, name) ? PEOPLE_ZH[name] : name;
};
/* The line of an act as a sentence, in both languages. */
function sentenceOf(english, chinese) {
  for (const [pattern, en, zh] of SENTENCES) {
    const found = pattern.exec(english);
    if (found) {
      const fill = (text, name) => text.replace(/\$(\d)/g, (all, i) => i === "1" ? name : found[i]);
      return {en: fill(en, found[1]), zh: fill(zh, PEOPLE_ZH[found[1]] || found[1])};
    }
  }
  const end = (text, stop) => /[.!?。！？]$/.test(text) ? text : text + stop;
  return {en: end(english, "."), zh: end(chinese || english, "。")};
}
function shorten(text) {
  const plain = text.replace(/scenario:[\w:.{}-]+/g, "lock").replace(/[0-9a-f]{32,}/g, "…");
  return plain.length > PILL_CHARS ? plain.slice(0, PILL_CHARS - 1) + "…" : plain;
}
/* The lines of wires, a request together with its reply. */
function messagesOf(lines) {
  const messages = [], open = {};
  for (const line of lines) {
    const found = /^(->|<-|--) ([\w-]+): (.*)$/s.exec(line.en);
    if (!found) { continue; }
    const [, arrow, server, text] = found, key = line.actor + server, isSale = server.startsWith("postgres") || server === "counter";
    if (arrow === "->") {
      open[key] = {at: line.at, actor: line.actor, server, text, reply: "", isDatabase: isSale};
      messages.push(open[key]);
    } else if (arrow === "<-" && open[key] && !open[key].reply) { open[key].reply = text; }
  }
  return messages;
}
/* The messages of a step that go to one lane, in the few words that stand beside the arrow. */
function wordsOf(all) {
  const telling = all.filter((m) => !/^(UN)?SUBSCRIBE|^PUBLISH|^EVAL -- \w+_inspect/.test(m.text)), messages = telling.length ? telling : all;
  const last = messages[messages.length - 1];
  if (!last.isDatabase) { return shorten(last.text) + (last.reply ? " → " + shorten(last.reply).replace("(integer) ", "") : ""); }
  const words = [];
  for (const m of messages) {
    const verb = /^(SELECT|UPDATE|INSERT|DELETE|COMMIT|ROLLBACK)\b/.exec(m.text), write = /^bind \w+_write \(\d+, (-?\d+)/.exec(m.text);
    if (write && words.includes("UPDATE")) { words[words.lastIndexOf("UPDATE")] = "UPDATE stock = " + write[1]; }
    else if (verb && !words.includes(verb[1])) { words.push(verb[1]); }
  }
  return words.join(", ") || shorten(last.text);
}

function stepsOf(story, lines) {
  const steps = [];
  let told = null;
  for (const line of lines) {
    if (line.kind === "wire") { continue; }
    if (line.kind === "told") { told = {at: line.at, text: sentenceOf(line.en, line.zh)}; story.chapters.push(told); continue; }
    const isWait = line.kind === "act" && line.at - line.from > LONG_WAIT_MS && / asks for the lock: /.test(line.en);
    if (isWait) {
      steps.push({at: line.from, from: line.from, actor: line.actor, kind: "act", chapter: told,
        text: sentenceOf(line.en.replace(/ asks for the lock: .*/, " asks for the lock ..."), null)});
    }
    steps.push({at: line.at, from: isWait ? line.at : line.from, waited: isWait ? line.from : null, actor: line.actor, kind: line.kind, chapter: told,
      text: sentenceOf(line.en, line.zh), line: line.en});
  }
  for (const b of story.beliefs) {
    if (b.expired !== null && b.expired < b.to) {
      steps.push({at: b.expired, from: b.expired, actor: b.actor, kind: "over", chapter: null, expired: true});
    }
  }
  steps.sort((a, b) => a.at - b.at);
  steps.forEach((step, i) => { if (step.kind === "over" && i > 0) { step.chapter = steps[i - 1].chapter; } });
  if (steps.length === 0) { story.chapters.forEach((c) => steps.push({at: c.at, from: c.at, actor: -1, kind: "told", chapter: null, text: c.text})); }
  return steps;
}
/* Each message belongs to the step that its person was in, else to the next one. */
function spread(all, messages) {
  const steps = all.filter((step) => step.kind !== "over");
  let next = 0;
  all.forEach((step) => { step.messages = []; });
  for (const message of messages) {
    while (next < steps.length && steps[next].at < message.at) { next++; }
    let to = Math.min(next, steps.length - 1);
    if (steps[to] && steps[to].actor !== message.actor) {
      for (let i = to; i < Math.min(steps.length, to + 12); i++) { if (steps[i].actor === message.actor && (steps[i].waited ?? steps[i].from) <= message.at) { to = i; break; } }
    }
    if (steps[to] && steps[to].actor !== message.actor && to > 0 && steps[to - 1].actor === message.actor) { to--; }
    if (steps[to]) { steps[to].messages.push(message); }
  }
}

function beliefsOf(rec, end) {
  return rec.holds.map((h) => {
    const release = rec.calls.find((c) => c.actor === h.actor && /release|abandon/.test(c.what) && c.from >= h.granted);
    const given = release ? (release.to ?? (/abandon/.test(release.what) ? release.from : null)) : null, next = rec.holds.find((o) => o.actor === h.actor && o.granted > h.granted);
    let to = Math.min(given ?? end * 1000, h.lost ?? Infinity, next ? next.granted : Infinity);
    const promised = rec.expires && h.promised !== null ? h.promised : Infinity;
    return {actor: h.actor, from: h.granted / 1000, to: Math.max(to, h.granted) / 1000, expired: promised < to ? promised / 1000 : null, promised: promised / 1000,
      worked: h.worked === null ? end : h.worked / 1000, shared: h.shared, fence: h.fence, asked: release ? release.from / 1000 : null, known: given !== null};
  }).sort((a, b) => a.from - b.from);
}
/* The holder of the lock as the store has it, and the end of its lease. */
function keysOf(rec, beliefs, messages) {
  const keys = beliefs.map((b, i) => ({actor: b.actor, from: b.from, to: Math.min(b.known ? b.to : Infinity, b.promised), shared: b.shared, belief: i}));
  const freed = rec.calls.filter((c) => c.what === "release" && c.status === "ok" && c.to !== null);
  keys.forEach((key, i) => {
    for (const c of freed) { if (c.actor !== key.actor && c.to / 1000 > key.from && c.to / 1000 < key.to && beliefs.some((b) => b.actor === c.actor && b.from < c.from / 1000 && Math.min(b.promised, Infinity) < c.to / 1000)) { key.to = c.to / 1000; key.freedBy = c.actor; } }
    for (const other of keys.slice(i + 1)) { if (!(key.shared && other.shared) && other.actor !== key.actor && other.from < key.to) { key.to = other.from; } }
  });
  /* Taken, and the taker died before it had its answer: the wire has the store's. */
  for (const c of rec.calls) {
    if (c.what !== "acquire" || c.to !== null) { continue; }
    const m = messages.find((one) => one.actor === c.actor && !one.isDatabase && one.at * 1000 >= c.from && /^(\(integer\) 1|OK)$/.test(one.reply));
    if (m) { keys.push({actor: c.actor, from: m.at, to: Infinity, shared: false, belief: -1}); }
  }
  return keys;
}
/* The deadline of the holder at that time; Infinity: none. */
function deadlineAt(story, key, at) {
  let until = Infinity;
  for (const c of story.rec.calls) { if (c.actor === key.actor && c.to !== null && c.to / 1000 <= at + .001 && c.to / 1000 >= key.from - .001 && /acquire|renew/.test(c.what) && c.status === "ok" && c.until !== null && c.until > 0) { until = c.until / 1000; } }
  return story.rec.expires ? until : Infinity;
}
function countsOf(story) {
  const rec = story.rec;
  let stock = rec.stock.issued, orders = 0;
  story.stock = [[0, stock]]; story.orders = [[0, 0]];
  for (const step of story.steps) {
    const write = step.messages.map((m) => /^bind \w+_write \(\d+, (-?\d+)/.exec(m.text)).filter(Boolean).pop();
    if (/: sold$/.test(step.line || "") && !/ sold out$/.test(step.line)) {
      stock = write ? Number(write[1]) : stock - 1; orders++;
      story.stock.push([step.at, stock]); story.orders.push([step.at, orders]);
    }
  }
  /* The rows at the end are the truth. */
  if (stock !== rec.stock.left) { story.stock.push([story.end, rec.stock.left]); }
  if (orders !== rec.stock.sold) { story.orders.push([story.end, rec.stock.sold]); }
}
function breachOf(story) {
  const v = story.rec.violation;
  if (!v) { return null; }
  const mine = v.holders.map((actor) => story.beliefs.filter((b) => b.actor === actor && b.from * 1000 <= v.to && b.to * 1000 >= v.from).pop()).filter(Boolean);
  let from = v.from / 1000, to = v.to / 1000;
  if (mine.length > 1) {
    from = Math.max(...mine.map((b) => b.from)); to = Math.min(...mine.map((b) => b.to));
    if (to <= from) { from = v.from / 1000; to = v.to / 1000; }
  }
  return {from, to, rule: v.rule, holders: v.holders, two: mine.length > 1 && new Set(v.holders).size > 1};
}

function makeStory(rec) {
  const story = {rec, chapters: [], steps: [], readable: rec.format === 1};
  const lines = (rec.lines || []).map(([kind, from, at, actor, en, zh]) => ({kind, from: from / 1000, at: at / 1000, actor, en, zh: zh || en}));
  if (!story.readable) { return story; }
  story.end = lines.reduce((most, line) => Math.max(most, line.at), 0);
  story.beliefs = beliefsOf(rec, story.end);
  story.messages = messagesOf(lines.filter((line) => line.kind === "wire").sort((a, b) => a.at - b.at));
  story.keys = keysOf(rec, story.beliefs, story.messages);
  story.steps = stepsOf(story, lines);
  if (story.steps.length === 0) { story.steps.push({at: 0, from: 0, actor: -1, kind: "told", text: rec.title}); }
  spread(story.steps, story.messages);
  for (const key of story.keys) {
    const step = key.freedBy === undefined ? null : story.steps.find((one) => one.actor === key.freedBy && one.at >= key.to - .001);
    if (step) { step.robs = key.actor; }
  }
  story.breach = breachOf(story);
  countsOf(story);
  story.frozen = rec.faults.filter((f) => f[0] === "begun" && /process-stop/.test(f[2]) && f[3] >= 0).map((f) => {
    const ended = rec.faults.find((g) => g[0] === "ended" && g[2] === f[2] && g[3] === f[3] && g[1] >= f[1]);
    return {actor: f[3], from: f[1] / 1000, to: ended ? ended[1] / 1000 : story.end};
  });
  story.dead = rec.faults.filter((f) => f[3] >= 0 && (/process-kill/.test(f[2]) || (/between-|die/.test(f[2]) && (rec.lines || []).some((l) => l[3] === f[3] && / dies /.test(l[4])))))
    .map((f) => ({actor: f[3], from: f[1] / 1000, to: story.end}));
  if (story.breach) {
    const first = story.steps.findIndex((s) => s.at >= story.breach.from - .001);
    story.breaks = first < 0 ? story.steps.length - 1 : first;
    story.steps.forEach((s, i) => { s.bad = i >= story.breaks && s.at <= story.breach.to + .001; });
  }
  const last = story.chapters[story.chapters.length - 1], before = story.steps[story.steps.length - 1];
  story.steps.push({at: story.end, from: story.end, actor: -1, kind: "verdict", chapter: last && last !== before.chapter ? last : null, messages: [], verdict: true});
  story.verdictBad = /breaks|dead/.test(rec.code);
  return story;
}
/* The same steps of two stories stand in one row: the longest common sequence; a step without a partner has a row alone. */
function rowsOf(stories) {
  if (stories.length === 1) { return stories[0].steps.map((s, i) => [i]); }
  const [a, b] = stories.map((s) => s.steps.map((x) => x.kind + x.actor + (x.line || "").replace(/: [^:]*$/, "")));
  const rows = [];
  if (a.length * b.length > 250000) { for (let i = 0; i < Math.max(a.length, b.length); i++) { rows.push([Math.min(i, a.length - 1), Math.min(i, b.length - 1)]); } return rows; }
  const best = Array.from({length: a.length + 1}, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) { for (let j = b.length - 1; j >= 0; j--) { best[i][j] = a[i] === b[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]); } }
  let i = 0, j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { rows.push([i++, j++]); }
    else if (j >= b.length || (i < a.length && best[i + 1][j] >= best[i][j + 1])) { rows.push([i++, Math.max(0, j - 1)]); rows[rows.length - 1].idle = 1; }
    else { rows.push([Math.max(0, i - 1), j++]); rows[rows.length - 1].idle = 0; }
  }
  return rows;
}
