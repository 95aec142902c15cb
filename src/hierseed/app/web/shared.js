// What several screens use: the lines of the tree, numbers and dates as people write them.
import * as Vue from "vue";

export const shared = Vue.reactive({ lines: [], key: "", treeOpen: false });

// Topics by key, with the full path of each.
export const topics = Vue.computed(() => {
  const byKey = new Map();
  for (const line of shared.lines) {
    const above = line.parent ? byKey.get(line.parent) : null;
    byKey.set(line.key, { ...line, path: above ? above.path + " › " + line.name : line.name });
  }
  return byKey;
});

export const number = (value) => (value ?? 0).toLocaleString("en-US");
export const percent = (value, digits = 0) => (value == null ? "–" : (100 * value).toFixed(digits) + " %");
export const crumbs = (path) => (path || "").split(" > ");

export function counted(value, one, many) {
  return number(value) + " " + (value === 1 ? one : many || one + "s");
}

export function duration(seconds) {
  if (seconds == null) return "";
  if (seconds < 100) return Math.max(1, Math.round(seconds)) + " s";
  if (seconds < 6000) return Math.round(seconds / 60) + " min";
  return (seconds / 3600).toFixed(1) + " h";
}

export function when(text) {
  const then = new Date(text);
  const today = new Date();
  const time = then.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  if (then.toDateString() === today.toDateString()) return "today, " + time;
  return then.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" }) + ", " + time;
}

export function bytes(value) {
  if (value < 1000) return value + " B";
  if (value < 1e6) return (value / 1e3).toFixed(0) + " kB";
  if (value < 1e9) return (value / 1e6).toFixed(1) + " MB";
  return (value / 1e9).toFixed(2) + " GB";
}

// Keys are for the page, not for a field that someone types in.
export function typing(event) {
  const tag = event.target.tagName;
  return tag === "INPUT" || tag === "TEXTAREA" || tag === "SELECT" || event.target.isContentEditable;
}
