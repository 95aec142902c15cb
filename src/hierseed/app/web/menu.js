// The menu of a topic: opened by a right click, the menu key or Shift F10.
const ENTRIES = { open: "Show its documents", rename: "Rename (F2)", add: "New subtopic", move: "Move …", merge: "Merge into …", delete: "Delete" };

export default {
  props: { line: Object, x: Number, y: Number },
  emits: ["does", "left"],
  data: () => ({ ENTRIES, at: 0 }),
  template: `
    <div class="menu" role="menu" ref="menu" :aria-label="'What to do with ' + line.name" :style="{ left: place.x + 'px', top: place.y + 'px' }" @keydown.stop="key" @focusout="lost">
      <button v-for="(title, what) in ENTRIES" :key="what" role="menuitem" tabindex="-1" :class="{ danger: what === 'delete' }" @click="$emit('does', what)">{{ title }}</button>
    </div>`,
  computed: {
    place() {
      return { x: Math.min(this.x, innerWidth - 220), y: Math.min(this.y, innerHeight - 250) };
    },
  },
  mounted() {
    this.focus(0);
  },
  methods: {
    focus(at) {
      const entries = this.$refs.menu.children;
      this.at = (at + entries.length) % entries.length;
      entries[this.at].focus();
    },
    lost(event) {
      if (!this.$refs.menu?.contains(event.relatedTarget)) this.$emit("left");
    },
    key(event) {
      if (event.key === "ArrowDown") this.focus(this.at + 1);
      else if (event.key === "ArrowUp") this.focus(this.at - 1);
      else if (event.key === "Escape" || event.key === "Tab") {
        this.$emit("left");
        document.getElementById("t-" + this.line.key)?.focus();
      } else return;
      event.preventDefault();
    },
  },
};
