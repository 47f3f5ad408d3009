/* SPDX-License-Identifier: MIT */
/* head.js -- language, theme, presenter mode and keys of every page.  README.md says how a page uses it. */
"use strict";
const head = (() => {
  const root = document.documentElement, given = new URLSearchParams(location.hash.slice(1));
  const WORDS = {
    en: {other: "中文", dark: "Dark", presenter: "Presenter", keys: "Keys", close: "Close", keysOn: "keys do what this list says",
      keyLanguage: "language", keyDark: "dark or light", keyPresenter: "presenter mode, large", keyHelp: "this list"},
    zh: {other: "English", dark: "深色", presenter: "投影", keys: "快捷键", close: "关闭", keysOn: "启用快捷键",
      keyLanguage: "语言", keyDark: "深色或浅色", keyPresenter: "投影模式，大字", keyHelp: "本列表"}
  };
  let page = {}, keysOn = true, started = false, dialog = null;

  /* A browser may forbid storage, above all for a page from a file. */
  function recall(name) { try { return localStorage.getItem("seckill." + name); } catch (error) { return null; } }
  function remember(name, value) { try { localStorage.setItem("seckill." + name, value); } catch (error) { /* the page goes on */ } }

  let language = given.get("lang") || recall("language") || (navigator.languages || [navigator.language || "en"])[0];
  language = /^zh/i.test(language) ? "zh" : "en";

  const $ = (id) => document.getElementById(id);
  function word(key, ...parts) {
    const text = (page.words && page.words[language][key]) ?? WORDS[language][key] ?? key;
    return typeof text === "string" ? text.replace(/\{(\d)\}/g, (all, i) => parts[i] === undefined ? "" : parts[i]) : text;
  }
  /* A text that stays the same is not written again: a live region would be read again. */
  function say(node, text) { if (node.textContent !== text) { node.textContent = text; } }
  function element(name, attributes, ...children) {
    const node = document.createElement(name);
    for (const key in attributes) { node.setAttribute(key, attributes[key]); }
    node.append(...children);
    return node;
  }
  function isDark() { return root.dataset.theme === "dark"; }
  function isPresenter() { return root.classList.contains("presenter"); }
  function tool(name) { return document.querySelector(`.tools [data-tool="${name}"]`); }

  function showTools() {
    if (!tool("language")) { return; }
    say(tool("language"), word("other")); tool("language").lang = language === "zh" ? "en" : "zh-CN";
    say(tool("theme"), word("dark")); tool("theme").setAttribute("aria-pressed", isDark());
    say(tool("presenter"), word("presenter")); tool("presenter").setAttribute("aria-pressed", isPresenter());
    tool("help").setAttribute("aria-label", word("keys"));
    say(dialog.querySelector("h2"), word("keys")); say(dialog.querySelector("form button"), word("close"));
    say(dialog.querySelector("label span"), word("keysOn"));
    const list = [...(page.keys || []).map(([key, name]) => [word(key), word(name)]), ["L", word("keyLanguage")], ["D", word("keyDark")],
      ["P", word("keyPresenter")], ["?", word("keyHelp")], ["Esc", word("close")]];
    dialog.querySelector("dl").replaceChildren(...list.flatMap(([key, text]) => [element("dt", {}, element("kbd", {}, key)), element("dd", {}, text)]));
  }
  /* After every change of language, theme or presenter mode. */
  function change() {
    root.lang = language === "zh" ? "zh-CN" : "en";
    if (!started) { return; }
    for (const node of document.querySelectorAll("[data-t]")) { say(node, word(node.dataset.t)); }
    for (const node of document.querySelectorAll("[data-a]")) { node.setAttribute("aria-label", word(node.dataset.a)); }
    for (const node of document.querySelectorAll("[data-zh]")) { say(node, node.dataset[language]); }
    for (const node of document.querySelectorAll("[data-zh-name]")) { node.setAttribute("aria-label", node.dataset[language + "Name"]); }
    showTools();
    if (page.changed) { page.changed(); }
  }
  function speak(wanted) { language = wanted === "zh" ? "zh" : "en"; remember("language", language); change(); }
  function theme(dark) { root.dataset.theme = dark ? "dark" : "light"; remember("theme", root.dataset.theme); change(); }
  function presenter(on) { root.classList.toggle("presenter", on); change(); }

  const acts = {l: () => speak(language === "en" ? "zh" : "en"), d: () => theme(!isDark()), p: () => presenter(!isPresenter()), "?": () => { if (dialog) { dialog.showModal(); } }};
  function isTyped(target) { return /^(SELECT|TEXTAREA)$/.test(target.tagName) || (target.tagName === "INPUT" && !/^(checkbox|radio|range)$/.test(target.type)) || target.isContentEditable; }
  function onKey(event) {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key, target = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyped(target) || document.querySelector("dialog[open]")) { return; }
    if (!keysOn && key !== "?") { return; }
    if (/^( |Enter)$/.test(key) && (/^(BUTTON|A|SUMMARY)$/.test(target.tagName) || target.type === "checkbox")) { return; }
    const act = (page.acts && page.acts[key]) || (key in acts ? acts[key] : null);
    if (act && act(event) !== false) { event.preventDefault(); }
  }
  function build() {
    const box = document.querySelector(".tools");
    if (!box) { return; }
    const add = (name, key, act, text) => {
      const button = element("button", {type: "button", "data-tool": name, "aria-keyshortcuts": key}, text || "");
      button.onclick = act;
      box.append(button);
    };
    add("language", "L", acts.l); add("theme", "D", acts.d); add("presenter", "P", acts.p); add("help", "?", acts["?"], "?");
    const check = element("input", {type: "checkbox"});
    check.checked = true;
    check.onchange = () => { keysOn = check.checked; };
    const form = element("form", {method: "dialog"}, element("button", {}));
    dialog = element("dialog", {class: "help", "aria-labelledby": "help-title"}, element("h2", {id: "help-title"}), element("dl", {}),
      element("p", {}, element("label", {}, check, " ", element("span", {}))), form);
    document.body.append(dialog);
  }
  function start(options) {
    page = options || {};
    started = true;
    build();
    document.addEventListener("keydown", onKey);
    change();
  }

  root.dataset.theme = given.get("theme") || recall("theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  root.classList.toggle("presenter", given.has("presenter"));
  change();
  document.addEventListener("DOMContentLoaded", () => { if (!started) { start(); } });
  return {start, word, say, element, $, speak, theme, presenter, isPresenter, isDark, given,
    get language() { return language; }, rem: () => parseFloat(getComputedStyle(root).fontSize),
    still: matchMedia("(prefers-reduced-motion: reduce)")};
})();
