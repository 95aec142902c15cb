// Proposed topics: the words of a group, its first documents, and a name to accept.
import { helpers } from "/workbench/web/shared.js";

export default {
  mixins: [helpers],
  props: { groups: Array },
  emits: ["take"],
  data: () => ({ names: {} }),
  template: `
    <p v-if="groups && !groups.length" class="soft">No group stands out.</p>
    <div v-if="groups && groups.length" class="parts">
      <section v-for="(group, i) in groups" :key="group.name" class="part" :aria-label="'Proposed topic ' + group.name">
        <p class="words"><span v-for="word in group.words">{{ word }}</span></p>
        <p class="soft">about {{ number(group.size) }} documents</p>
        <ul><li v-for="doc in group.documents.slice(0, 3)">{{ doc.text.slice(0, 140) }}</li></ul>
        <div class="row"><label class="grow">Name <input :value="names[group.name] ?? group.name" @input="names[group.name] = $event.target.value"></label>
          <button type="button" @click="$emit('take', { number: i, name: names[group.name] ?? group.name })">Make it a topic</button></div>
      </section>
    </div>`,
};
