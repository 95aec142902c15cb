// What changed between two fits: the ways documents went, and the documents themselves.
import documents from "/workbench/web/documents.js";
import { helpers } from "/workbench/web/shared.js";

export default {
  mixins: [helpers],
  components: { documents },
  props: { view: Object },
  template: `
    <h1>What changed</h1>
    <p v-if="!view.changes" class="panel empty">There is only one fit. After the next one, this page shows which documents moved.</p>
    <template v-else>
      <label class="inline">Fit {{ view.fit }} against fit <select :value="view.before" @change="$emit('act', { do: 'before', fit: +$event.target.value })">
        <option v-for="id in view.fits.filter((id) => id !== view.fit)" :value="id">{{ id }}</option></select></label>
      <p class="lead">{{ counted(view.changes.moved, "document") }} moved, {{ number(view.changes.same) }} stayed<template v-if="view.changes.added > 0">, {{ number(view.changes.added) }} are new</template>.
        <template v-if="view.scores_before && view.scores_after">Against the experts: {{ mean(view.scores_before) }} → <b>{{ mean(view.scores_after) }}</b> (B-cubed F1).</template></p>
      <table v-if="view.changes.ways.length"><thead><tr><th>From</th><th>To</th><th class="n">Documents</th></tr></thead>
        <tbody><tr v-for="way in view.changes.ways" :class="{ on: view.way && view.way[0] === way.from && view.way[1] === way.to }">
          <td>{{ shownPath(way.from_path) }}</td><td>{{ shownPath(way.to_path) }}</td>
          <td class="n"><button class="bare" :aria-label="'Show ' + way.count + ' documents from ' + way.from_path + ' to ' + way.to_path" @click="$emit('act', { do: 'way', origin: way.from, target: way.to })">{{ number(way.count) }}</button></td></tr></tbody></table>
      <p v-if="view.changes.more" class="soft">and {{ counted(view.changes.more, "smaller group") }}</p>
      <documents v-if="view.way" :cards="view.cards" :page="view.page" :pages="view.pages" :total="view.total" @act="(what) => $emit('act', what)"></documents>
    </template>`,
  methods: {
    mean: (scores) => scores.all.mean.bcubed_f1.toFixed(3),
  },
};
