"use strict";
// What all parts share: the data, the chosen topic, small makers of elements, colours.
const DATA = JSON.parse(document.getElementById("data").textContent);
const T = DATA.topics, D = DATA.docs;
const ALL = -1, NONE = -2; // beside the ids of topics: the whole corpus, and no topic
const children = T.name.map(() => []), tops = [];
T.parent.forEach((p, t) => (p < 0 ? tops : children[p]).push(t));
const levelOne = T.name.map((_, t) => t), depth = T.name.map(() => 1);
T.parent.forEach((p, t) => { if (p >= 0) { levelOne[t] = levelOne[p]; depth[t] = depth[p] + 1; } });
const rank = T.name.map(() => 0); // place among the siblings
[tops, ...children].forEach(group => group.forEach((t, i) => { rank[t] = i; }));

const parts = []; // each: a function called with the chosen topic
let chosen = ALL;

function choose(topic, scroll) {
  chosen = topic;
  for (const part of parts) part(topic);
  const name = topic >= 0 ? "#topic-" + topic : topic === NONE ? "#none" : " ";
  try { window.history.replaceState(null, "", name); } catch (error) { /* a sandboxed frame */ }
  if (scroll && matchMedia("(max-width: 60rem)").matches) byId("detail").scrollIntoView();
}

const byId = id => document.getElementById(id);
const whole = n => Math.round(n).toLocaleString("en");
const many = (n, word) => whole(n) + " " + word + (n === 1 ? "" : "s");
const share = (part, all) => {
  if (!all || !part) return "0%";
  const percent = 100 * part / all;
  if (percent < 0.1) return "< 0.1%";
  if (percent > 99.9 && part < all) return "> 99.9%"; // 100 % means all
  return percent.toFixed(percent < 10 || percent > 99 && part < all ? 1 : 0) + "%";
};

// Text goes in as text nodes only: nothing in a corpus can become markup.
function make(tag, attributes, ...inside) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "onclick") element.addEventListener("click", value);
    else if (key === "class") element.className = value;
    else element.setAttribute(key, value);
  }
  element.append(...inside.filter(x => x !== null && x !== undefined && x !== ""));
  return element;
}
function draw(tag, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// Cut a text so that it fits: fonts differ from machine to machine, so it is measured.
const ruler = document.createElement("canvas").getContext("2d");
function fit(text, font, room) {
  ruler.font = font;
  if (ruler.measureText(text).width <= room) return text;
  let n = Math.min(text.length, Math.floor(room / 3));
  while (n > 0 && ruler.measureText(text.slice(0, n).trimEnd() + "…").width > room) n--;
  return n > 0 ? text.slice(0, n).trimEnd() + "…" : "";
}

const pathOf = t => { const path = []; for (; t >= 0; t = T.parent[t]) path.unshift(t); return path; };
const nameOf = t => t === ALL ? "Whole corpus" : t === NONE ? "None" : T.name[t];
const fullName = t => t < 0 ? nameOf(t) : pathOf(t).map(i => T.name[i]).join(" › ");
const countOf = t => t === ALL ? DATA.n : t === NONE ? DATA.none : T.count[t];

// The share of a topic's documents to expect right, and its interval; null where it is unknown.
const expectedOf = t => (t >= 0 && T.expected && T.expected[t]) || null;
const percentOf = value => Math.round(100 * value) + "%";
const withInterval = ([value, low, high]) => percentOf(value) + " (" + percentOf(low) + " to " + percentOf(high) + ")";

// Hues by the golden angle, so that neighbours in the tree differ; deeper is lighter.
function colour(t, alpha) {
  const end = alpha === undefined ? ")" : " / " + alpha + ")";
  if (t < 0) return alpha === undefined ? "var(--none)" : (isDark() ? "oklch(0.45 0 0" : "oklch(0.76 0 0") + end;
  const hue = (235 + rank[levelOne[t]] * 137.508) % 360;
  const lift = Math.min(depth[t] - 1, 4) * 0.055 + (depth[t] > 1 ? (rank[t] % 3) * 0.018 : 0);
  const light = (isDark() ? 0.64 : 0.68) + lift;
  const vivid = (T.other[t] ? 0.03 : 0.105) - Math.min(depth[t] - 1, 3) * 0.012;
  return "oklch(" + light.toFixed(3) + " " + Math.max(vivid, 0.02).toFixed(3) + " " + hue.toFixed(1) + end;
}
const isDark = () => document.documentElement.dataset.theme === "dark";
function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  for (const part of parts) part(chosen);
}
