// Topics that the taxonomy may lack: look inside, name and add with seeds, or dismiss for good.
import { helpers } from "/workbench/web/shared.js";

export default {
  mixins: [helpers],
  props: { proposals: Array, inside: String },
  data: () => ({ names: {} }),
  template: `
    <section v-if="proposals.length" aria-label="Proposed topics">
      <h2>Topics that your taxonomy may lack</h2>
      <p class="soft">Groups of documents that fit no listed topic. Look inside before you add one.</p>
      <div class="parts">
        <section v-for="one in proposals" :key="one.id" :class="['part', { on: one.id === inside }]" :aria-label="'Proposed topic ' + title(one)">
          <p class="words"><span v-for="word in one.words.slice(0, 6)">{{ word }}</span></p>
          <p class="soft">{{ number(one.size) }} documents, {{ percent(one.sure) }} of them nearer to each other than to any topic<template v-if="one.parent"> · below {{ shown(one.parent) }}</template></p>
          <ul><li v-for="text in one.documents">{{ text }}</li></ul>
          <label>Name <input :value="names[one.id] ?? title(one)" @input="names[one.id] = $event.target.value"></label>
          <div class="row"><button @click="act('take_proposal', { id: one.id, name: names[one.id] ?? title(one) })">Add with seeds</button>
            <button :aria-expanded="one.id === inside ? 'true' : 'false'" @click="act('inside', { id: one.id === inside ? '' : one.id })">{{ one.id === inside ? "Close" : "Look inside" }}</button>
            <button class="danger" @click="act('dismiss', { id: one.id })">Dismiss</button></div>
        </section>
      </div>
    </section>`,
  methods: {
    title(one) {
      const long = one.words.filter((word) => word.length > 3);
      const name = (long.length ? long : one.words).slice(0, 3).join(", ");
      return name ? name[0].toUpperCase() + name.slice(1) : "A new topic";
    },
  },
};
