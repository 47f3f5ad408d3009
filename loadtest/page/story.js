/* SPDX-License-Identifier: MIT */
/* story.js -- plays a story, or one story under two locks in two columns.  The position is a row: a step of each of the stories. */
"use strict";
(() => {
  const root = document.documentElement, REST_MS = 2600, STEP_MS = 1100, LIST_MAX = 400;
  const sections = [...document.querySelectorAll("section.figure")];
  const stories = [...document.querySelectorAll("script.recording")].map((node) => {
    try { return makeStory(JSON.parse(node.textContent)); } catch (error) { return null; }
  });
  const readable = stories.map((s, i) => i).filter((i) => stories[i] && stories[i].readable);
  let sides = [], rows = [], at = 0, playing = false, restUntil = 0, before = 0, shown = -1, chosen = [0, -1];

  const now = () => Math.max(0, Math.min(rows.length - 1, Math.floor(at + 1e-6)));
  const lastRow = () => rows.length - 1;
  /* The place in a story: its step of this row, and the part of the way to the step of the next row. */
  function positionOf(which) {
    const row = rows[now()][which], next = rows[Math.min(now() + 1, lastRow())][which], part = at - now();
    return row + (next > row ? part : 0);
  }
  const titleOf = (story) => `${story.rec.number} ${story.rec.scenario}: ${story.rec.lock}, ${story.rec.outcome[head.language]}`;

  /* ---- words ---- */
  function verdictOf(story) {
    const {issued, left, sold} = story.rec.stock;
    if (sold > issued) { return word("over", sold, issued, sold - issued); }
    if (sold + left > issued) { return word("lost", sold, issued, left); }
    return word(sold + left < issued ? "under" : "sound", sold, issued, left);
  }
  function textOf(story, i) {
    const step = story.steps[i], name = step.actor >= 0 ? personName(story, step.actor, head.language) : "";
    if (step.verdict) { return word("outcome", story.rec.lock, story.rec.outcome[head.language]) + (head.language === "zh" ? "" : " ") + verdictOf(story); }
    return step.expired ? word("lease_over", name) : step.text[head.language];
  }
  function foretold(story) {
    const p = story.rec.prediction;
    if (!p) { return word("noArticle", inLanguage(story.rec.source)); }
    return word("article", p.article) + (head.language === "zh" ? `“${p.zh}”` : ` “${p.en}”` + (head.isPresenter() ? "" : ` (${p.zh})`));
  }
  function tell(side, which) {
    const story = side.story, i = rows[now()][which], step = story.steps[i], breaks = i === story.breaks, broken = step.bad || breaks || (step.verdict && story.verdictBad);
    say(side.count, (sides.length > 1 && head.isPresenter() ? `${story.rec.lock} · ` : "") + word("of", now() + 1, rows.length));
    say(side.clock, word("ms", clockOf(timeAt(story, positionOf(which)))));
    if (side.told.dataset.key === `${head.language} ${now()}`) { return; }
    side.told.dataset.key = `${head.language} ${now()}`;
    const idle = rows[now()].idle === which;
    side.node.classList.toggle("idle", idle);
    say(side.say, idle ? word("same") : textOf(story, i));
    say(side.chapter, !idle && step.chapter ? step.chapter.text[head.language] : "");
    const rule = story.breach && word("rule_" + story.breach.rule);
    const robbed = step.robs === undefined ? "" : word("robs", personName(story, step.robs, head.language));
    say(side.why, idle ? "" : robbed ? "✗ " + robbed : step.bad || breaks ? "✗ " + rule : step.verdict ? (story.verdictBad ? "✗ " : "✓ ") + story.rec.signs.map((s) => s[head.language]).join(head.language === "zh" ? "，" : ", ") : "");
    side.why.hidden = side.why.textContent.length < 3;
    side.told.classList.toggle("broken", Boolean(broken || robbed) && !idle);
    side.told.classList.toggle("sound", Boolean(step.verdict) && !story.verdictBad);
    say(side.foretold, !idle && (breaks || (step.verdict && story.breaks === undefined && story.verdictBad)) ? foretold(story) : "");
    say(side.cure, step.verdict && !idle ? story.rec.moral[head.language] : "");
    side.cure.lang = head.language === "zh" ? "zh-CN" : "en";
    if (side.commands) {
      side.commands.replaceChildren(...step.messages.slice(0, LIST_MAX).map((m) => element("li", {}, `${word("ms", clockOf(m.at))}  ${personName(story, m.actor, head.language)} → ${m.server}: ${m.text}${m.reply ? " → " + m.reply : ""}`)));
    }
  }

  /* ---- building ---- */
  function buildSide(story, isFirst) {
    const make = (name, kind) => element(name, {class: kind});
    const side = {story, node: make("section", "side"), title: element("h2", {}), told: make("div", "told"), count: element("b", {}), clock: element("span", {}), chapter: make("p", "chapter small"), say: make("p", "say"), why: make("p", "why"), foretold: make("p", "foretold"), cure: make("p", "cure"), plot: make("div", "plot")};
    const where = make("div", "where"), words = element("div", isFirst ? {"aria-live": "polite", "aria-atomic": "true"} : {});
    where.append(side.count, side.clock);
    words.append(side.chapter, side.say, side.why, side.foretold, side.cure);
    side.told.append(where, words);
    side.node.append(side.title, side.told, side.plot);
    side.drawing = new Drawing(side.plot, story);
    return side;
  }
  function buildLists() {
    const box = $("lists");
    box.replaceChildren();
    sides.forEach((side, which) => {
      side.commands = element("ul", {class: "commands small mono"});
      box.append(element("h2", {"data-t": "commands"}), side.commands);
      if (which > 0) { return; }
      side.list = element("ol", {class: "stops small"});
      /* The list moves while the story plays, and a press that ends on another row is no click. */
      side.list.onpointerdown = stop;
      side.list.onclick = (event) => { const button = event.target.closest("button"); if (button) { stop(); go(Number(button.dataset.row)); } };
      const heading = element("h2", {"data-t": "steps"});
      box.prepend(heading, side.list);
    });
  }
  /* Only the steps around the current one have a button: a list of ten thousand buttons is of no use. */
  function fillList() {
    const side = sides[0], from = Math.max(0, Math.min(now() - LIST_MAX / 2, rows.length - LIST_MAX));
    if (!side.list) { return; }
    if (side.list.dataset.key !== `${head.language} ${from}`) {
      side.list.dataset.key = `${head.language} ${from}`;
      side.list.replaceChildren(...rows.slice(from, from + LIST_MAX).map((row, i) => element("li", {}, element("button", {type: "button", "data-row": from + i}, element("span", {class: "n"}, String(from + i + 1)), element("span", {}, (row[0] === side.story.breaks && row.idle !== 0 ? "✗ " : "") + textOf(side.story, row[0]))))));
    }
    for (const old of side.list.querySelectorAll("[aria-current]")) { old.removeAttribute("aria-current"); }
    const current = side.list.querySelector(`[data-row="${now()}"]`);
    if (current) { current.setAttribute("aria-current", "step"); side.list.scrollTop = current.offsetTop - side.list.offsetTop - side.list.clientHeight / 2; }
  }
  function choose(left, right) {
    chosen = [left, right];
    sides = (right >= 0 && right !== left ? [left, right] : [left]).map((i, which) => buildSide(stories[i], which === 0));
    rows = rowsOf(sides.map((s) => s.story));
    sides.forEach((side, which) => {
      const numbers = [];
      rows.forEach((row, i) => { if (row.idle !== which) { numbers[row[which]] = i + 1; } });
      side.drawing.number = (i) => numbers[i] === undefined ? i + 1 : numbers[i];
    });
    $("sides").replaceChildren(...sides.map((s) => s.node));
    $("sides").classList.toggle("two", sides.length === 2);
    $("scrub").max = lastRow();
    sections.forEach((section, i) => { section.hidden = stories.length === sections.length && !chosen.includes(i); });
    buildLists();
    at = Math.min(at, lastRow());
    shown = -1;
    speak();
  }
  function fillChoices() {
    const fill = (select, list, value) => { select.replaceChildren(...list.map(([v, text]) => element("option", {value: v}, text))); select.value = value; };
    const all = readable.map((i) => [i, titleOf(stories[i])]);
    fill($("left"), all, chosen[0]);
    fill($("right"), [[-1, word("alone")], ...all], chosen[1]);
    $("choose").hidden = readable.length < 2;
  }

  /* ---- showing ---- */
  function speak() {
    if (sides.length === 0) { return; }
    const rec = sides[0].story.rec, lease = rec.expires ? "facts" : "factsEndless";
    document.title = `${rec.title[head.language]} · seckill`;
    say($("title"), rec.title[head.language] + (sides.length === 1 ? ` · ${rec.lock}` : ""));
    say($("facts"), sides.map((s) => word(lease, s.story.rec.lock, s.story.rec.lease_ms, s.story.rec.guard)).join(" / ") + " · " + origin(rec) + notes(rec));
    sides.forEach((side) => { side.title.hidden = sides.length === 1; say(side.title, `${side.story.rec.lock}: ${side.story.rec.outcome[head.language]}`); side.told.dataset.key = ""; });
    for (const node of $("lists").querySelectorAll("[data-t]")) { say(node, word(node.dataset.t)); }
    fillChoices();
    if (sides[0].list) { sides[0].list.dataset.key = ""; }
    shown = -1;
    show();
  }
  /* A text in both languages, or one that is the same in both. */
  function inLanguage(text) { return text[head.language] ?? text; }
  /* From which run it is, and what it takes to perform it again. */
  function origin(rec) {
    const node = $("origin"), {commit} = node ? JSON.parse(node.textContent) : {};
    return word("run", rec.dir.split("/").slice(-3).join("/"), rec.version) + (commit ? " · " + word("commit", commit.replace(" ", "\u00a0")) : "") +
      " · " + word("seed", rec.seed);
  }
  function notes(rec) {
    return (rec.expected ? "" : " · " + word("unexpected")) + (rec.left_out > 0 ? " · " + word("left_out", rec.left_out) : "") + rec.damages.map((d) => " · " + word("damaged", inLanguage(d))).join("");
  }
  function show() {
    if (sides.length === 0) { return; }
    sides.forEach((side, which) => { side.drawing.draw(positionOf(which)); tell(side, which); });
    say($("play"), word(playing ? "pause" : at >= lastRow() ? "again" : "play"));
    $("scrub").value = at;
    if (shown === now()) { root.dataset.playing = playing; return; }
    shown = now();
    $("scrub").setAttribute("aria-valuetext", `${now() + 1} / ${rows.length}: ${textOf(sides[0].story, rows[now()][0])}`);
    fillList();
    keepAddress();
    /* Set last, so that a program that waits for these values sees all changes above. */
    root.dataset.playing = playing; root.dataset.steps = rows.length; root.dataset.step = now() + 1;
  }
  function keepAddress() {
    const parts = new URLSearchParams({step: now() + 1});
    if (readable.length > 1) { parts.set("run", chosen[0] + 1); parts.set("beside", chosen[1] + 1); }
    if (head.given.has("lang")) { parts.set("lang", head.language); }
    try { history.replaceState(null, "", "#" + parts); } catch (error) { /* too many in a short time: the next one does it */ }
  }

  /* ---- moving ---- */
  function go(to) { at = Math.max(0, Math.min(lastRow(), to)); show(); }
  function stop() { playing = false; show(); }
  function play() {
    if (at >= lastRow()) { at = 0; }
    playing = true; before = 0; restUntil = 0;
    requestAnimationFrame(tick);
    show();
  }
  function tick(time) {
    if (!playing) { return; }
    const speed = Number($("speed").value), passed = before ? time - before : 0, from = now();
    before = time;
    if (time >= restUntil) {
      at = head.still.matches ? (passed ? from + 1 : at) : Math.min(from + 1, at + Math.min(passed, STEP_MS / 4) * speed / STEP_MS);
      at = Math.min(at, lastRow());
      if (now() > from) {
        at = now();
        restUntil = time + REST_MS / speed;
        if ($("halt").checked || at >= lastRow()) { playing = false; }
      }
      show();
    }
    requestAnimationFrame(tick);
  }
  function step(by) { playing = false; go(by < 0 && at > now() + .02 ? now() : now() + by); }
  const acts = {" ": () => playing ? stop() : play(), ArrowRight: () => step(1), PageDown: () => step(1), ArrowLeft: () => step(-1), PageUp: () => step(-1),
    Home: () => { playing = false; go(0); }, End: () => { playing = false; go(lastRow()); }};
  for (let i = 0; i <= 9; i++) { acts[i] = () => { playing = false; go(Math.round(lastRow() * i / 9)); }; }

  function readAddress() {
    const wish = new URLSearchParams(location.hash.slice(1)), left = Number(wish.get("run")) - 1, right = Number(wish.get("beside")) - 1;
    const first = readable.includes(left) ? left : readable[0];
    const other = readable.length === 2 && stories[readable[0]].rec.scenario === stories[readable[1]].rec.scenario ? readable[1] : -1;
    at = Math.max(0, (Math.floor(Number(wish.get("step"))) || 1) - 1);
    if (sides.length === 0 || first !== chosen[0]) { choose(first, wish.has("beside") ? (readable.includes(right) ? right : -1) : other); } else { go(at); }
  }
  let wasPresenter = false;
  function changed() {
    if (head.isPresenter() !== wasPresenter) { wasPresenter = head.isPresenter(); $("halt").checked = wasPresenter; }
    if (!$("player").hidden) { speak(); }
  }

  root.classList.toggle("scripted", readable.length > 0);
  head.start({words: STORY_WORDS, keys: [["space", "k_play"], ["arrows", "k_step"], ["ends", "k_ends"], ["tenths", "k_tenth"]], acts, changed});
  if (readable.length === 0) {
    const old = [...document.querySelectorAll("script.recording")].map((node) => { try { return JSON.parse(node.textContent).format; } catch (error) { return "?"; } })[0];
    if (old !== undefined) { say($("facts"), word("format", old)); }
    return;
  }
  $("texts").open = false;
  for (const node of document.querySelectorAll(".figure .controls")) { node.remove(); }
  $("player").hidden = false;
  $("play").onclick = acts[" "]; $("next").onclick = acts.ArrowRight; $("back").onclick = acts.ArrowLeft; $("first").onclick = acts.Home;
  $("scrub").oninput = () => { playing = false; go(Number($("scrub").value)); };
  $("left").onchange = $("right").onchange = () => { playing = false; choose(Number($("left").value), Number($("right").value)); };
  const texts = $("texts");
  let wasOpen = false;
  window.addEventListener("beforeprint", () => { wasOpen = texts.open; texts.open = true; });
  window.addEventListener("afterprint", () => { texts.open = wasOpen; });
  window.addEventListener("resize", show);
  window.addEventListener("hashchange", readAddress);
  readAddress();
})();
