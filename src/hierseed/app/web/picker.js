// Choose a topic by typing a few letters of its path; never a flat list of all of them.
import { topics } from "/workbench/web/shared.js";

export default {
  props: { title: String, top: Boolean, but: { type: Array, default: () => [] } },
  emits: ["picked", "left"],
  data: () => ({ text: "", at: 0 }),
  template: `
    <dialog ref="dialog" class="picker" :aria-label="title" @close="$emit('left')" @click.self="$refs.dialog.close()">
      <label>{{ title }}
        <input v-model="text" ref="field" role="combobox" aria-expanded="true" aria-controls="picker-list" aria-autocomplete="list"
          :aria-activedescendant="found.length ? 'pick-' + at : null" placeholder="Type a few letters of it"
          @input="at = 0" @keydown.down.prevent="at = Math.min(at + 1, found.length - 1)" @keydown.up.prevent="at = Math.max(at - 1, 0)"
          @keydown.enter.prevent="pick(found[at])" @keydown.stop></label>
      <ul id="picker-list" role="listbox" :aria-label="title">
        <li v-for="(topic, i) in found" :key="topic.key" :id="'pick-' + i" role="option" :aria-selected="i === at ? 'true' : 'false'" @click="pick(topic)" @mousemove="at = i">
          <span class="path"><span v-for="name in topic.path.split(' › ')">{{ name }}</span></span>
        </li>
      </ul>
      <p v-if="!found.length" class="soft">No topic has this name.</p>
      <p class="soft keys"><kbd>↑</kbd><kbd>↓</kbd> choose <kbd>Enter</kbd> take it <kbd>Esc</kbd> leave</p>
    </dialog>`,
  computed: {
    found() {
      const words = this.text.toLowerCase().split(/\s+/).filter(Boolean);
      const hits = [];
      if (this.top && !words.length) hits.push({ key: "", path: "At the top" });
      for (const topic of topics.value.values()) {
        if (topic.apart || this.but.includes(topic.key)) continue;
        const path = topic.path.toLowerCase();
        if (!words.every((word) => path.includes(word) || topic.code === word)) continue;
        const inName = words.length && words.every((word) => topic.name.toLowerCase().includes(word));
        hits.push({ ...topic, order: inName ? 0 : 1 });
      }
      return hits.sort((a, b) => (a.order ?? -1) - (b.order ?? -1)).slice(0, 9);
    },
  },
  mounted() {
    this.$refs.dialog.showModal();
    this.$refs.field.focus();
  },
  methods: {
    pick(topic) {
      if (topic) this.$emit("picked", topic.key);
    },
  },
};
