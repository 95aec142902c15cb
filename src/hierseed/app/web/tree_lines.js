// The lines of the tree: documents, share and seeds of each topic; all keys of a tree.
// A topic can be dragged onto another one, renamed in its place, and has a menu (right click).
import * as Vue from "vue";
import menu from "/workbench/web/menu.js";
import picker from "/workbench/web/picker.js";
import { askFocus, breakable, counted, number, percent, shared, shortName, withInterval } from "/workbench/web/shared.js";

export default {
  components: { topicMenu: menu, picker },
  props: { view: Object },
  emits: ["act"],
  data: () => ({ closed: {}, filter: "", focus: "", wanted: "", typed: "", dragged: "", over: null, renaming: "", name: "", menu: null, picking: "", shared }),
  template: `
    <div class="sidebox"><section id="side" :class="{ open: shared.treeOpen }" aria-label="Topics">
      <div class="find"><input v-model="filter" type="search" placeholder="Find a topic" aria-label="Find a topic"
        @keydown.down.prevent="enter" @keydown.enter.prevent="pickFirst" @keydown.esc="filter = ''"></div>
      <p v-if="!view.lines.length" class="empty">No topics yet. Load a taxonomy, or add topics by hand.</p>
      <p v-else-if="!shown.length" class="empty">No topic has this name.</p>
      <p v-if="rated && shown.length" class="heads" aria-hidden="true"><span>seeds</span><span>right</span><span>documents</span></p>
      <div v-if="shown.length" role="tree" aria-label="Taxonomy" :class="{ unplaced: !placed, rated }" @keydown="key">
        <div v-for="line in shown" :key="line.key" role="treeitem" :id="'t-' + line.key" v-memo="memo(line)"
             :class="{ line: true, apart: line.apart, none: line.key === 'none', bare: seeds(line) === 0, above: !hits.has(line.key), over: over === line.key }"
             :style="{ '--depth': line.level - 1 }" :draggable="!line.apart"
             :aria-level="line.level" :aria-selected="line.key === shared.key ? 'true' : 'false'"
             :aria-expanded="line.leaf ? null : String(words.length > 0 || !closed[line.key])"
             :title="spoken(line)" :tabindex="line.key === stop ? 0 : -1"
             @click="pick(line.key)" @focus="focus = line.key" @contextmenu="line.apart || open(line, $event)"
             @dragstart="drag(line, $event)" @dragend="dragged = ''; over = null" @dragover="hover(line, $event)" @dragleave="over = null" @drop.prevent="drop(line.key)">
          <span class="twist" aria-hidden="true" @click.stop="line.leaf || turn(line.key)">{{ line.leaf ? "" : closed[line.key] && !words.length ? "▸" : "▾" }}</span>
          <input v-if="renaming === line.key" class="rename" :value="name" :aria-label="'New name of ' + line.name" @input="name = $event.target.value"
            @keydown.stop @keydown.enter="rename(line)" @keydown.esc="leave(line.key)" @blur="leave(line.key, false)" @click.stop>
          <span v-else class="name">{{ breakable(short(line)) }}</span>
          <span v-if="line.apart"></span><span v-else class="seeds" :title="counted(seeds(line), 'seed')" aria-hidden="true">{{ seeds(line) || (line.leaf ? "○" : "") }}</span>
          <span v-if="rated" class="right" aria-hidden="true">{{ expected(line) ? percent(expected(line)[0]) : "" }}</span>
          <span class="count">{{ count(line) === null ? "" : number(count(line)) }}</span>
          <span v-if="count(line) !== null" class="cover" aria-hidden="true"><i :style="{ width: width(line) }"></i></span>
        </div>
        <div v-if="dragged" :class="['totop', { over: over === '' }]" @dragover.prevent="over = ''" @dragleave="over = null" @drop.prevent="drop('')">To the top level</div>
      </div>
      <topic-menu v-if="menu" :line="menu.line" :x="menu.x" :y="menu.y" @does="does" @left="menu = null"></topic-menu>
      <picker v-if="picking" :title="picking === 'move' ? 'Move it below which topic?' : 'Merge it into which topic?'" :top="picking === 'move'"
        :but="[focus]" @picked="picked" @left="picking = ''"></picker>
    </section></div>`,
  watch: {
    view: {
      immediate: true,
      handler(now, before) {
        shared.lines = this.lines;
        // A large taxonomy starts folded, also when it has just been loaded.
        const grown = this.lines.length > 120 && (!before || before.lines.length <= 120);
        if (grown) for (const line of this.lines) if (!line.leaf) this.closed[line.key] = true;
        if (shared.key) this.reveal(shared.key);
      },
    },
    "shared.key"(now) {
      if (now) this.reveal(now);
      if (!this.wanted || now !== this.wanted) return;
      this.wanted = "";
      askFocus();
    },
  },
  computed: {
    // The lines as they came, without Vue's wrapping, which would cost at every look.
    lines() {
      return Vue.markRaw(Vue.toRaw(this.view.lines));
    },
    byKey() {
      return new Map(this.lines.map((line) => [line.key, line]));
    },
    most() {
      return Math.max(1, ...this.lines.map((line) => this.count(line) || 0));
    },
    placed() {
      return this.lines.some((line) => this.count(line) !== null);
    },
    rated() {
      return Object.keys(shared.expected).length > 0;
    },
    children() {
      const children = new Map();
      for (const line of this.lines) {
        if (!children.has(line.parent)) children.set(line.parent, []);
        children.get(line.parent).push(line);
      }
      return children;
    },
    words() {
      return this.filter.toLowerCase().split(/\s+/).filter(Boolean);
    },
    // What the words are found in: a path, or a code.
    hits() {
      const hits = new Set();
      const walk = (parent, path) => {
        for (const line of this.children.get(parent) || []) {
          const full = path + " " + line.name.toLowerCase();
          const here = (word) => full.includes(word) || (line.code || "").toLowerCase() === word;
          if (this.words.every(here)) hits.add(line.key);
          walk(line.key, full);
        }
      };
      walk("", "");
      return hits;
    },
    // Without words what is not folded away; else the hits, each below the topics it belongs to.
    shown() {
      const wanted = new Set();
      if (this.words.length)
        for (const key of this.hits)
          for (let line = this.byKey.get(key); line && !wanted.has(line.key); line = this.byKey.get(line.parent))
            wanted.add(line.key);
      const found = [];
      const walk = (parent) => {
        for (const line of this.children.get(parent) || []) {
          if (this.words.length && !wanted.has(line.key)) continue;
          found.push(line);
          if (this.words.length || !this.closed[line.key]) walk(line.key);
        }
      };
      walk("");
      return found;
    },
    // The one line that Tab stops at.
    stop() {
      const keys = this.shown.map((line) => line.key);
      return [this.focus, shared.key, keys[0]].find((key) => keys.includes(key));
    },
  },
  methods: {
    counted,
    number,
    count: (line) => shared.numbers[line.key]?.[0] ?? null,
    seeds: (line) => shared.numbers[line.key]?.[2] ?? 0,
    expected: (line) => shared.expected[line.key],
    percent,
    // What a line depends on: without a change of these it is not drawn again. After an edit all
    // lines are new objects, most of them with the same content.
    memo(line) {
      const { key, name, code, level, leaf } = line;
      return [name, this.byKey.get(line.parent)?.name, code, level, leaf, String(shared.numbers[key]), this.rated, String(shared.expected[key]), this.width(line), key === shared.key, key === this.stop, this.closed[key], this.words.length > 0, this.hits.has(key), this.over === key, this.renaming === key];
    },
    width(line) {
      const count = this.count(line);
      return count ? Math.max(1.5, (100 * count) / this.most).toFixed(1) + "%" : "0";
    },
    spoken(line) {
      const count = this.count(line);
      const documents = count === null ? "" : ", " + counted(count, "document");
      const right = this.expected(line) ? ", expected right " + withInterval(this.expected(line)) : "";
      return (line.code ? line.code + " " : "") + line.name + documents + right + (line.apart ? "" : ", " + counted(this.seeds(line), "seed"));
    },
    // Select a topic; the cards then take the focus, unless the person stays in the tree.
    pick(key, stay = false) {
      this.focus = key;
      shared.treeOpen = false;
      if (!stay && key === shared.key) askFocus();
      else if (!stay) this.wanted = key;
      this.$emit("act", { do: "select", key });
    },
    edit(what, line, more = {}) {
      this.$emit("act", { do: "edit", what, topic: line.key, ...more });
    },
    open(line, event) {
      event.preventDefault();
      const box = event.currentTarget?.getBoundingClientRect?.() || document.getElementById("t-" + line.key).getBoundingClientRect();
      this.focus = line.key;
      this.menu = { line, x: event.clientX || box.left + 24, y: event.clientY || box.bottom };
    },
    does(what) {
      const { line } = this.menu;
      this.menu = null;
      const acts = {
        open: () => this.pick(line.key),
        rename: () => this.startRename(line),
        add: () => {
          this.closed[line.key] = false;
          this.edit("add", line, { name: this.free(line) });
        },
        move: () => (this.picking = "move"),
        merge: () => (this.picking = "merge"),
        delete: () => this.edit("delete", line),
      };
      acts[what]();
    },
    // A name for a new topic that none of its siblings has; it is renamed in its place.
    free(line) {
      const names = new Set((this.children.get(line.key) || []).map((one) => one.name));
      let name = "New topic";
      for (let n = 2; names.has(name); n++) name = "New topic " + n;
      return name;
    },
    picked(key) {
      const line = this.byKey.get(this.focus);
      this.edit(this.picking, line, { to: key });
      this.picking = "";
      this.moveTo(line.key);
    },
    startRename(line) {
      this.renaming = line.key;
      this.name = line.name;
      this.$nextTick(() => document.querySelector("#side input.rename")?.select());
    },
    rename(line) {
      const name = this.name.trim();
      if (name && name !== line.name) this.edit("rename", line, { name, seen: line.name });
      this.leave(line.key);
    },
    leave(key, back = true) {
      if (this.renaming !== key) return;
      this.renaming = "";
      if (back) this.moveTo(key);
    },
    drag(line, event) {
      this.dragged = line.key;
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", line.name);
    },
    // A topic can be dropped on any topic outside its own branch, except where it is already.
    hover(line, event) {
      if (!this.dragged || line.apart || this.byKey.get(this.dragged)?.parent === line.key) return;
      for (let one = line; one; one = this.byKey.get(one.parent)) if (one.key === this.dragged) return;
      event.preventDefault();
      this.over = line.key;
    },
    drop(key) {
      const line = this.byKey.get(this.dragged);
      if (line && this.over === key) this.edit("move", line, { to: key });
      this.dragged = "";
      this.over = null;
    },
    // Letters typed in the tree move to the next topic that begins with them.
    typeAhead(letter, at) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => (this.typed = ""), 700);
      this.typed += letter.toLowerCase();
      const start = this.typed.length > 1 ? at : at + 1;
      const order = [...this.shown.slice(start), ...this.shown.slice(0, start)];
      const hit = order.find((line) => this.short(line).toLowerCase().startsWith(this.typed));
      if (hit) this.moveTo(hit.key);
    },
    breakable,
    short(line) {
      return shortName(line.name, this.byKey.get(line.parent)?.name);
    },
    pickFirst() {
      const first = this.shown.find((line) => this.hits.has(line.key));
      if (first) this.pick(first.key);
    },
    enter() {
      if (this.shown.length) this.moveTo(this.shown[0].key);
    },
    turn(key) {
      this.closed[key] = !this.closed[key];
    },
    reveal(key) {
      for (let line = this.byKey.get(key); line && line.parent; line = this.byKey.get(line.parent))
        this.closed[line.parent] = false;
      this.$nextTick(() => document.getElementById("t-" + key)?.scrollIntoView({ block: "nearest" }));
    },
    moveTo(key) {
      this.focus = key;
      this.$nextTick(() => document.getElementById("t-" + key)?.focus());
    },
    key(event) {
      const at = this.shown.findIndex((line) => line.key === this.stop);
      const line = this.shown[at];
      const steps = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: this.shown.length - 1 };
      if (event.key in steps) {
        const next = this.shown[Math.min(Math.max(steps[event.key], 0), this.shown.length - 1)];
        this.moveTo(next.key);
      } else if (event.key === "ArrowRight" && !line.leaf) {
        if (this.closed[line.key]) this.turn(line.key);
        else this.moveTo((this.shown[at + 1] || line).key);
      } else if (event.key === "ArrowLeft") {
        if (!line.leaf && !this.closed[line.key]) this.turn(line.key);
        else if (line.parent) this.moveTo(line.parent);
      } else if (event.key === "F2" && !line.apart) {
        this.startRename(line);
      } else if ((event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) && !line.apart) {
        this.open(line, event);
      } else if (event.key === "Enter" || event.key === " ") {
        this.pick(line.key, event.key === " ");
      } else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey && !"/?".includes(event.key)) {
        this.typeAhead(event.key, at);
      } else return;
      event.preventDefault();
      event.stopPropagation();
    },
  },
};
