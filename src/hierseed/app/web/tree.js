// The taxonomy, always in sight: documents, share and seeds of each topic; all keys of a tree.
import { askFocus, counted, number, pass, shared } from "/workbench/web/shared.js";

export default {
  props: { view: Object },
  emits: ["act"],
  data: () => ({ closed: {}, filter: "", focus: "", wanted: "", typed: "", shared }),
  template: `
    <div class="sidebox"><section id="side" :class="{ open: shared.treeOpen }" aria-label="Topics">
      <div class="find"><input v-model="filter" type="search" placeholder="Find a topic" aria-label="Find a topic"
        @keydown.down.prevent="enter" @keydown.enter.prevent="pickFirst" @keydown.esc="filter = ''"></div>
      <p v-if="!view.lines.length" class="empty">No topics yet. Load a taxonomy, or add topics by hand.</p>
      <p v-else-if="!shown.length" class="empty">No topic is called so.</p>
      <div v-else role="tree" aria-label="Taxonomy" @keydown="key">
        <div v-for="line in shown" :key="line.key" role="treeitem" :id="'t-' + line.key"
             :class="{ line: true, apart: line.apart, none: line.key === 'none', bare: line.below === 0, above: !hits.has(line.key) }"
             :style="{ '--depth': depth(line) - 1 }"
             :aria-level="depth(line)" :aria-selected="line.key === view.key ? 'true' : 'false'"
             :aria-expanded="line.leaf ? null : String(words.length > 0 || !closed[line.key])"
             :title="spoken(line)" :tabindex="line.key === stop ? 0 : -1"
             @click="pick(line.key)" @focus="focus = line.key">
          <span class="twist" aria-hidden="true" @click.stop="line.leaf || turn(line.key)">{{ line.leaf ? "" : closed[line.key] && !words.length ? "▸" : "▾" }}</span>
          <span class="name">{{ short(line) }}</span>
          <span v-if="line.seeds === null"></span><span v-else class="seeds" :title="counted(line.below, 'seed')" aria-hidden="true">{{ line.below || (line.leaf ? "○" : "") }}</span>
          <span class="count">{{ line.count === null ? "" : number(line.count) }}</span>
          <span v-if="line.count !== null" class="cover" aria-hidden="true"><i :style="{ width: width(line) }"></i></span>
        </div>
      </div>
    </section></div>`,
  watch: {
    view: {
      immediate: true,
      handler(now, before) {
        shared.lines = now.lines;
        shared.key = now.key;
        // A large taxonomy starts folded, also when it has just been loaded.
        const grown = now.lines.length > 120 && (!before || before.lines.length <= 120);
        if (grown) for (const line of now.lines) if (!line.leaf) this.closed[line.key] = true;
        if (now.key && (!before || before.key !== now.key)) this.reveal(now.key);
        if (this.wanted && now.key === this.wanted) {
          this.wanted = "";
          askFocus();
        }
      },
    },
  },
  computed: {
    byKey() {
      return new Map(this.view.lines.map((line) => [line.key, line]));
    },
    most() {
      return Math.max(1e-9, ...this.view.lines.map((line) => line.share));
    },
    children() {
      const children = new Map();
      for (const line of this.view.lines) {
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
      return [this.focus, this.view.key, keys[0]].find((key) => keys.includes(key));
    },
  },
  methods: {
    counted,
    number,
    depth(line) {
      return line.level;
    },
    width(line) {
      return line.share ? Math.max(1.5, (100 * line.share) / this.most) + "%" : "0";
    },
    spoken(line) {
      const count = line.count === null ? "" : ", " + counted(line.count, "document");
      return (line.code ? line.code + " " : "") + line.name + count + (line.seeds === null ? "" : ", " + counted(line.below, "seed"));
    },
    // Select a topic; the cards then take the focus, unless the person stays in the tree.
    pick(key, stay = false) {
      this.focus = key;
      shared.treeOpen = false;
      if (!stay && key === this.view.key) askFocus();
      else if (!stay) this.wanted = key;
      pass(this, { do: "select", key });
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
    // A name without its parent's name in front: "Insurance" for "Health: Insurance".
    short(line) {
      const above = this.byKey.get(line.parent)?.name;
      const rest = above && line.name.startsWith(above) ? line.name.slice(above.length).replace(/^\s*[:–-]\s*/, "") : line.name;
      return rest || line.name;
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
