// Proposed topics: the words of a dense part, its first documents, and a name to accept.
import { number } from "/workbench/web/shared.js";

export default {
  props: { parts: Array },
  emits: ["take"],
  data: () => ({ names: {} }),
  template: `
    <div v-if="parts && parts.length" class="parts">
      <section v-for="(part, i) in parts" :key="part.name" class="part" :aria-label="'Proposed topic ' + part.name">
        <p class="words"><span v-for="word in part.words">{{ word }}</span></p>
        <p class="soft">about {{ number(part.size) }} documents</p>
        <ul><li v-for="doc in part.documents.slice(0, 3)">{{ doc.text.slice(0, 140) }}</li></ul>
        <div class="row"><label class="grow">Name <input :value="names[part.name] ?? part.name" @input="names[part.name] = $event.target.value"></label>
          <button type="button" @click="$emit('take', { number: i, name: names[part.name] ?? part.name })">Make it a topic</button></div>
      </section>
    </div>`,
  methods: { number },
};
