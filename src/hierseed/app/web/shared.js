// What several screens share: the lines of the tree, the connection, numbers and dates.
import * as Vue from "vue";

export const shared = Vue.reactive({
  lines: [],
  numbers: {}, // for each line: documents (null before a fit), own seeds, all seeds
  expected: {}, // for each topic of the fit: the share of its documents to expect right, low, high
  total: 0, // documents of the fit
  key: "",
  treeOpen: false,
  online: true,
  refused: 0, // clicks while there was no connection
  focusFrom: null, // where the focus was when the cards were asked to take it
  wantFocus: 0, // counts up when the cards should take the focus
  keys: localStorage.getItem("hierseed-keys") !== "off",
  coder: "",
  answered: 0, // counts up with each answer of the server
  project: "", // its name, where the server has several
});

// An address of the server, with the project where it has several.
export function inProject(address) {
  if (!shared.project) return address;
  return address + (address.includes("?") ? "&" : "?") + "project=" + encodeURIComponent(shared.project);
}

// Hand a click on to the server; without a connection it is refused, visibly.
export function pass(part, what) {
  if (shared.online) part.$emit("act", what);
  else shared.refused++;
}

// Ask the cards to take the focus, now or as soon as they appear.
export function askFocus() {
  shared.focusFrom = Vue.markRaw(document.activeElement);
  shared.wantFocus++;
}

// True once after `askFocus`, unless the person has moved the focus since.
export function focusAsked() {
  const from = shared.focusFrom;
  shared.focusFrom = null;
  return !!from && (document.activeElement === from || document.activeElement === document.body);
}

// All single-key shortcuts: they act where a card has the focus.
export const KEYS = [
  ["↑ ↓ or J K", "move between documents, and on to the next page"],
  ["A", "accept: the document becomes a seed of the topic that the button names"],
  ["R", "reject: it does not belong to the selected topic; the next fit keeps it out"],
  ["M", "it belongs to another topic, and to no other"],
  ["T", "it belongs to another topic too"],
  ["N", "it belongs to none of these topics"],
  ["E", "unsure: leave it for later"],
  ["X", "withdraw what was decided about this topic"],
  ["S", "similar documents"],
  ["W", "why is it here?"],
  ["O", "more or less of the text"],
  ["C", "write a memo"],
  ["U", "undo your last step (also Ctrl Z; redo: Ctrl Y)"],
  ["/", "search"],
  ["?", "this list"],
];

// Topics by key, with the full path of each.
export const topics = Vue.computed(() => {
  const byKey = new Map();
  for (const line of shared.lines) {
    const above = line.parent ? byKey.get(line.parent) : null;
    byKey.set(line.key, { ...line, path: above ? above.path + " › " + line.name : line.name });
  }
  return byKey;
});

const GROUPED = new Intl.NumberFormat("en-US"); // made once, as that takes long
export const number = (value) => GROUPED.format(value ?? 0);
export const percent = (value, digits = 0) => (value == null ? "–" : (100 * value).toFixed(digits) + "%");
// A share with its interval, as the command line and the report write it.
export const withInterval = ([value, low, high]) => percent(value) + " (" + percent(low) + " to " + percent(high) + ")";
// A name without its parent's in front: "Insurance" for "Health: Insurance" below "Health".
export function shortName(name, above) {
  if (!above || !name.startsWith(above)) return name;
  const rest = name.slice(above.length).match(/^\s*[:–-]\s*(.+)$/);
  return rest ? rest[1] : name;
}
// A long word such as comp.sys.mac.hardware may break after its marks, not in the middle of a part.
export const breakable = (name) => name.replace(/\S{17,}/g, (word) => word.replace(/([._/@-])(?=\w)/g, "$1\u200b"));
// The names of a path, from the top.
export const crumbs = (path) => (path || "").split(" > ").map((name, i, all) => shortName(name, all[i - 1]));
// A path, or a text with paths in it, as people read it.
export const shown = (text) => (text || "").replaceAll(" > ", " › ");
// A path alone.
export const shownPath = (path) => crumbs(path).join(" › ");

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

// Copy a text; over plain http beyond this computer browsers offer only the old way.
export async function copyText(text) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const field = document.createElement("textarea");
  field.value = text;
  field.style.position = "fixed";
  field.style.opacity = "0";
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

// What the templates of all parts call, and the way to act.
export const helpers = {
  emits: ["act"],
  methods: {
    breakable, bytes, counted, crumbs, duration, inProject, number, percent, shown, shownPath, when, withInterval,
    last: (path) => crumbs(path).at(-1),
    act(what, more = {}) {
      this.$emit("act", { do: what, ...more });
    },
  },
};
