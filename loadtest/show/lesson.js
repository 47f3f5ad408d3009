/* SPDX-License-Identifier: MIT */
/* lesson.js -- the lessons on the page: the question, the prediction, what came out beside it.
 * GET /api/lesson has their texts, `lesson` of GET /api/state what is going on. */
"use strict";
Object.assign(WORDS.en, {
  lessons: "Lessons", lessonOf: "{0} / {1}", previous: "previous lesson", following: "next lesson", leave: "Leave",
  answerFirst: "Give a prediction first: press {0}.", locked: "The prediction is locked. Space runs it.", runsNow: "{0}", repeats: "Again: {0}",
  youSaid: "You said", cameOut: "It came out", asSaid: "✓ as predicted", notAsSaid: "✗ not as predicted", round: "Round {0} of {1}: {2}",
  came_sound: "Sound: {0} orders.", came_oversold: "Oversold by {2}: {0} orders.",
  came_nobody: "Nobody, for {3} s: the lock has no time to live. {4} left in stock.", came_next: "The next holder's lock: a third holder got in. {0} orders.",
  came_database: "The database: it had seen fence {6}, and refused {5}. {0} orders.",
  came_unclear: "It did not come about: {0}.", otherwise: "This is not what the lesson says.", repeat: "Space repeats the lesson.",
  "nobody-caught": "no holder came to the place of the fault", "nobody-sold": "the other processes neither sold nor were certainly kept out", "somebody-got-in": "another process got the lock all the same",
  "too-late": "the second holder's lease was over before a third holder sold", stopped: "the run ended too early", "no-harm": "the fault did no harm this time",
  theLesson: "The lesson", readOn: "Read on", section: "“{0}”", foretold: "of the five articles, {0}", slowly: "Slowly, in a terminal:", processesAre: "{0} processes", processIs: "one process", leaseIs: "lease {0} s",
  "in-a-lesson": "The lesson gives its fault itself.", e_deleted: "Process {p} deleted the lock of process {n}.",
  "lesson-none": "No lesson is shown.", "lesson-locked": "The prediction is locked.", "lesson-no-answer": "The lesson has no such answer.", "lesson-unpredicted": "Give a prediction first.", "lesson-runs": "The lesson runs already."
});
Object.assign(WORDS.zh, {
  lessons: "课程", lessonOf: "{0} / {1}", previous: "上一课", following: "下一课", leave: "离开",
  answerFirst: "先预测：按 {0}。", locked: "预测已锁定。按空格键运行。", runsNow: "{0}", repeats: "再来一次：{0}",
  youSaid: "你们的预测", cameOut: "实际结果", asSaid: "✓ 与预测相同", notAsSaid: "✗ 与预测不同", round: "第 {0} 轮，共 {1} 轮：{2}",
  came_sound: "通过：{0} 个订单。", came_oversold: "超卖 {2} 份：{0} 个订单。",
  came_nobody: "{3} 秒内谁也没拿到：锁没有过期时间。库存还有 {4}。", came_next: "下一个持有者的锁：第三个持有者也拿到了锁。{0} 个订单。",
  came_database: "数据库：它见过令牌 {6}，拒绝了 {5}。{0} 个订单。",
  came_unclear: "这次没有发生：{0}。", otherwise: "这与本课所说的不同。", repeat: "按空格键再来一次。",
  "nobody-caught": "没有持有者走到故障的位置", "nobody-sold": "其他进程既没有卖出，也不能确定被挡在外面", "somebody-got-in": "另一个进程还是拿到了锁",
  "too-late": "第三个持有者卖出之前，第二个持有者的租约就到期了", stopped: "运行结束得太早", "no-harm": "这次故障没有造成损害",
  theLesson: "本课要点", readOn: "延伸阅读", section: "“{0}”", foretold: "五篇文章中 {0}", slowly: "在终端里慢慢看：", processesAre: "{0} 个进程", processIs: "一个进程", leaseIs: "租约 {0} 秒",
  "in-a-lesson": "故障由课程自己注入。", e_deleted: "进程 {p} 删掉了进程 {n} 的锁。",
  "lesson-none": "没有打开课程。", "lesson-locked": "预测已锁定。", "lesson-no-answer": "本课没有这个选项。", "lesson-unpredicted": "先作出预测。", "lesson-runs": "本课正在运行。"
});
for (const [lang, texts] of [["en", ["lessons; leave them", "previous, next lesson", "give that prediction"]], ["zh", ["课程；离开课程", "上一课、下一课", "作出预测"]]]) {
  WORDS[lang].keylist.splice(1, 0, ["T", texts[0]], ["← → PgUp PgDn", texts[1]], ["1 – 3", texts[2]]);
}

let lessonTexts = null, lessonAsked = false, lessonTarget = null, lessonHint = false;
const lesson = () => state && lessonTexts ? state.lesson : null;
const inLanguage = (text) => text[language];
const lessonAnswer = (l, name) => lessonTexts[l.number - 1].answers.find((a) => a.name === name);

/* Built once; what each part says is written by showLesson(). */
function buildLesson() {
  const button = (id, text, act, more) => { const b = element("button", {type: "button", id: id, ...more}, text); b.onclick = act; return b; };
  const entry = button("lessons", "", () => lessonLeaveOrEnter(), {"data-t": "lessons", "aria-keyshortcuts": "T"});
  $("language").before(entry);
  document.querySelector("main").prepend(element("section", {class: "panel lesson", id: "lesson", hidden: ""},
    element("div", {class: "row"}, element("h2", {id: "lessonTitle"}), element("span", {class: "soft", id: "lessonSettings"}),
      element("span", {class: "push row"}, button("lessonBack", "◀", () => lessonStep(-1), {"data-a": "previous", "aria-keyshortcuts": "ArrowLeft PageUp"}),
        button("lessonNext", "▶", () => lessonStep(1), {"data-a": "following", "aria-keyshortcuts": "ArrowRight PageDown"}),
        button("lessonLeave", "", () => lessonTo(0), {"data-t": "leave", "aria-keyshortcuts": "T"}))),
    element("p", {class: "question", id: "lessonQuestion"}), element("div", {class: "answers", id: "lessonAnswers"}), element("p", {class: "hint", id: "lessonHint"}),
    element("div", {class: "outcome", id: "lessonOutcome"}, element("div", {}, element("h3", {"data-t": "youSaid"}), element("p", {id: "lessonSaid"}), element("p", {class: "mark", id: "lessonMark"})),
      element("div", {}, element("h3", {"data-t": "cameOut"}), element("p", {id: "lessonCame"}))),
    element("div", {class: "moral", id: "lessonMoral"}, element("h3", {"data-t": "theLesson"}), element("p", {class: "says", id: "lessonSays"}),
      element("p", {class: "small read", id: "lessonRead"}, element("span", {id: "lessonReadOn"}), element("a", {id: "lessonDocument", target: "_blank", rel: "noopener"}), element("code", {id: "lessonPath", lang: "en"}), element("span", {id: "lessonArticle"})), element("p", {class: "small soft slowly"}, element("span", {"data-t": "slowly"}), " ", element("code", {id: "lessonCommand", lang: "en"})))));
  speak();
}
async function learnLessons() {
  if (lessonAsked || access !== "good") { return; }
  lessonAsked = true;
  try {
    const answer = await ask("lesson");
    if (answer.ok) { lessonTexts = answer.body.lessons; buildLesson(); }
  } catch (error) { /* the next poll tries again */ }
  lessonAsked = lessonTexts !== null;
}

/* ---- what is pressed ---- */
function lessonTo(number) { lessonTarget = number; lessonGoOn(); }
/* Processes are started after each step.  The last wish of the user counts, also a wish from before the
 * page knew of the start. */
async function lessonGoOn() {
  if (lessonTarget === null || !state || state.phase === "starting") { return; }
  const number = lessonTarget;
  lessonTarget = null; lessonHint = false; chosen = 0;
  if (await send("lesson", {number: number}) === 409 && lessonTarget === null) { lessonTarget = number; refused = null; }
}
function lessonStep(by) {
  const l = lesson(), from = lessonTarget !== null ? lessonTarget : l ? l.number : 0, to = from + by;
  if (to >= 1 && to <= lessonTexts.length) { lessonTo(to); }
}
function lessonLeaveOrEnter() { if (lessonTexts) { lessonTo(lesson() ? 0 : 1); } }
function lessonPredict(i) {
  const l = lesson(), answer = lessonTexts[l.number - 1].answers[i];
  if (answer && l.stage === "asked") { lessonHint = false; send("lesson/predict", {answer: answer.name}); }
}
/* Space.  True: a lesson is shown, and Space was for it. */
function lessonGo() {
  const l = lesson();
  if (!l) { return false; }
  if (l.stage === "asked") { lessonHint = true; show(); }
  else if (l.stage === "running") { if (state.phase === "running") { send("run/stop"); } }
  else { send("lesson/run"); }
  return true;
}
/* True: the key was for the lesson. */
function lessonKey(key) {
  const l = lesson();
  if (key === "t") { lessonLeaveOrEnter(); return true; }
  if (!l) { return false; }
  if (key === "ArrowRight" || key === "PageDown") { lessonStep(1); return true; }
  if (key === "ArrowLeft" || key === "PageUp") { lessonStep(-1); return true; }
  if (l.stage === "asked" && /^[1-3]$/.test(key)) { lessonPredict(Number(key) - 1); return true; }
  return false;
}

/* ---- what is shown ---- */
function lessonSettings(set) {
  return [set.lock, set.processes === 1 ? word("processIs") : word("processesAre", set.processes), set.stock_guard,
    ["none", "local"].includes(set.lock) ? "" : word("leaseIs", set.lease_ms / 1000)].filter((part) => part).join(" · ");
}
/* The ends of two numbers that begin with the same digits. */
function lessonEnds(a, b) {
  const texts = [String(a), String(b)];
  let same = 0;
  while (texts[0].length === texts[1].length && same < texts[0].length - 3 && texts[0][same] === texts[1][same]) { same++; }
  return texts.map((text) => same > 1 ? "…" + text.slice(same) : text);
}
function lessonCame(l, r) {
  if (r.outcome === "unclear") { return word("came_unclear", word(r.why)); }
  const text = word("came_" + r.outcome, number(r.sold), number(r.issued), number(Math.max(0, r.sold - r.issued)), (r.held_ms / 1000).toFixed(1), number(r.left), ...lessonEnds(r.fence, r.row_fence));
  return l.rounds > 1 ? r.lock + ": " + text : text;
}
function showAnswers(l, texts) {
  const box = $("lessonAnswers");
  if (box.children.length !== texts.answers.length || box.dataset.number !== String(l.number)) {
    box.dataset.number = l.number;
    box.replaceChildren(...texts.answers.map((answer, i) => {
      const button = element("button", {type: "button", "data-answer": answer.name, "aria-keyshortcuts": i + 1}, element("kbd", {"aria-hidden": "true"}, i + 1), element("span"));
      button.onclick = () => lessonPredict(i);
      return button;
    }));
  }
  texts.answers.forEach((answer, i) => {
    const button = box.children[i];
    say(button.lastChild, inLanguage(answer.text));
    button.disabled = l.stage !== "asked";
    button.setAttribute("aria-pressed", l.predicted === answer.name);
  });
}
function showOutcome(l, texts) {
  const last = l.results[l.results.length - 1], answer = lessonAnswer(l, l.predicted);
  say($("lessonSaid"), answer ? inLanguage(answer.text) : "");
  if (!last) { return; }
  say($("lessonCame"), l.results.map((r) => lessonCame(l, r)).join(" "));
  $("lessonOutcome").dataset.end = l.came_about === false ? "unclear" : last.outcome === l.predicted ? "right" : "wrong";
  say($("lessonMark"), l.came_about === false ? (last.outcome === "unclear" ? "" : word("otherwise") + " ") + word("repeat") : last.outcome === l.predicted ? word("asSaid") : word("notAsSaid"));
  say($("lessonSays"), inLanguage(texts.says));
  say($("lessonReadOn"), word("readOn") + (language === "zh" ? "：" : ": "));
  say($("lessonDocument"), word("section", inLanguage(texts.read)));
  $("lessonDocument").href = "/" + inLanguage(texts.document) + "#:~:text=" + encodeURIComponent(inLanguage(texts.read)).replace(/-/g, "%2D");
  say($("lessonPath"), inLanguage(texts.document));
  say($("lessonArticle"), (language === "zh" ? "；" : "; ") + word("foretold", inLanguage(texts.article)));
  say($("lessonCommand"), texts.command);
}
function lessonSentence(l, texts) {
  if (l.stage === "asked") { return lessonHint ? word("answerFirst", texts.answers.map((a, i) => i + 1).join(", ")) : ""; }
  if (l.stage === "predicted") { return word("locked"); }
  const text = (l.runs > 1 ? word("repeats", inLanguage(texts.happens)) : word("runsNow", inLanguage(texts.happens)));
  return l.rounds > 1 ? word("round", l.round, l.rounds, texts.settings[l.round - 1].lock) + (language === "zh" ? "。" : ". ") + text : text;
}
function showLesson() {
  learnLessons();
  lessonGoOn();
  if (!lessonTexts) { return; }
  const l = lesson(), texts = l ? lessonTexts[l.number - 1] : null;
  $("lesson").hidden = !l;
  $("lessons").setAttribute("aria-pressed", l !== null);
  root.dataset.lesson = l ? l.number : ""; root.dataset.stage = l ? l.stage : "";
  root.dataset.cameAbout = l && l.came_about !== null ? l.came_about : "";
  if (!l) { return; }
  say($("lessonTitle"), word("lessonOf", l.number, l.count) + " " + inLanguage(texts.title));
  say($("lessonSettings"), lessonSettings(texts.settings[Math.min(l.round, texts.settings.length) - 1]));
  $("lessonSettings").lang = "";
  say($("lessonQuestion"), inLanguage(texts.question));
  showAnswers(l, texts);
  say($("lessonHint"), l.stage === "done" ? "" : lessonSentence(l, texts));
  showOutcome(l, texts);
  $("lessonBack").disabled = l.number === 1; $("lessonNext").disabled = l.number === l.count;
  $("lessonOutcome").hidden = l.stage !== "done"; $("lessonMoral").hidden = l.stage !== "done" || !l.came_about;
  $("lessonAnswers").hidden = l.stage === "done"; $("lessonHint").hidden = l.stage === "done";
  if (l.stage === "asked") { $("go").disabled = true; say($("detail"), word("answerFirst", texts.answers.map((a, i) => i + 1).join(", "))); }
}
