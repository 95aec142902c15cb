// Fit: what turns texts into vectors, a method, three plain dials, and the fits so far.
import { helpers, percent } from "/workbench/web/shared.js";

export default {
  mixins: [helpers],
  props: { view: Object },
  template: `
    <div class="row between"><h1>Place every document</h1>
      <button class="main" :disabled="!view.ready || view.running" @click="$emit('act', { do: 'fit' })">{{ view.running ? "Running …" : "Fit now" }}</button></div>
    <p class="lead">{{ counted(view.documents, "document") }}, {{ counted(view.topics, "topic") }}, {{ counted(view.seeds, "seed") }}. You can keep working while it runs. The last fit stays until the new one is complete.</p>
    <p v-if="!view.ready" class="hint">Load documents and a taxonomy first.</p>
    <p v-if="view.unfinished" class="hint bad">Loading {{ view.unfinished }} was interrupted, so this fit would miss documents. Resume or discard it in step 1.</p>
    <p v-if="view.failed" class="faults">{{ view.failed }}</p>
    <div class="two">
      <section class="panel" aria-label="How to fit">
        <fieldset class="methods"><legend>Method</legend>
          <label v-for="method in view.methods" :key="method.name" :class="{ on: method.name === view.method }">
            <input type="radio" name="method" :value="method.name" :checked="method.name === view.method" @change="dial({ method: method.name })">
            <span><b>{{ method.title }}</b><small>{{ method.about }}</small></span></label>
        </fieldset>
        <label>Embedder (turns texts into vectors) <select :value="view.embedder" @change="$emit('act', { do: 'embedder', name: $event.target.value })">
          <option v-for="one in view.embedders" :value="one.name" :disabled="!!one.lacking">{{ one.title }}{{ one.lacking ? " (not installed: " + one.lacking + ")" : "" }}</option></select></label>
        <p class="soft">{{ view.embedder_about }}</p>
        <div class="dial"><label for="fine">How fine</label><output>{{ view.fine ? "down to level " + view.fine : "as deep as the taxonomy goes" }}</output>
          <input id="fine" type="range" min="1" :max="Math.max(1, view.levels)" step="1" :value="view.fine || view.levels" :disabled="view.levels < 2"
            @change="dial({ fine: +$event.target.value >= view.levels ? 0 : +$event.target.value })"></div>
        <div class="dial"><label for="sure">How sure</label><output>{{ sure }}</output>
          <input id="sure" type="range" min="0" max="0.9" step="0.05" :value="view.sure" @change="dial({ sure: +$event.target.value })"></div>
        <div class="dial"><label for="overlap">How much overlap</label><output>{{ overlap }}</output>
          <input id="overlap" type="range" min="0" max="0.8" step="0.2" :value="view.overlap" @change="dial({ overlap: +$event.target.value })"></div>
        <label class="check"><input type="checkbox" :checked="view.names" @change="dial({ names: $event.target.checked })"> Use the name and description of topics that have no seeds</label>
        <details v-if="view.bare.length" :class="['hint', { bad: !view.names }]" :open="!view.names">
          <summary>{{ counted(view.bare.length + view.bare_more, "topic") }} without a seed{{ view.names ? ": their names are used." : ": give each at least one." }}</summary>
          <ul tabindex="0" aria-label="Topics without a seed"><li v-for="path in view.bare">{{ shown(path) }}</li><li v-if="view.bare_more">and {{ view.bare_more }} more</li></ul>
        </details>
      </section>
      <section aria-label="Fits so far">
        <h2>Fits so far</h2>
        <p v-if="!view.fits.length" class="panel empty">None yet.</p>
        <ol class="fits">
          <li v-for="fit in view.fits" :key="fit.id" :class="{ on: fit.id === view.shown }">
            <button class="line" :aria-pressed="fit.id === view.shown ? 'true' : 'false'" @click="$emit('act', { do: 'show', fit: fit.id })">
              <b>Fit {{ fit.id }}</b><span class="soft">{{ when(fit.at) }}</span>
              <span v-if="fit.expected" class="facts"><b>Expected accuracy: {{ fit.expected.map((value, i) => percent(value) + " at level " + (i + 1)).join(", ") }}</b></span>
              <span class="facts">{{ percent(fit.coverage, 1) }} in a topic · {{ counted(fit.seeds, "seed") }}<template v-if="fit.names"> and {{ counted(fit.names, "name") }}</template> · {{ counted(fit.rounds, "round") }} in {{ duration(fit.seconds) }} · {{ fit.method }}, {{ fit.embedder }}</span>
              <span v-if="fit.score !== null" class="facts">against expert labels: B-cubed F1 {{ fit.score.toFixed(3) }}, accuracy {{ fit.accuracy.toFixed(3) }} (mean over levels, every document, seeds left out)</span>
            </button>
          </li>
        </ol>
      </section>
    </div>`,
  computed: {
    anchored() {
      return this.view.method === "anchored";
    },
    sure() {
      if (!this.view.sure) return "places every document as deep as it can";
      const share = percent(this.view.sure);
      return this.anchored ? "aims at " + share + " right, and stops higher up in doubt (often up to ten points fewer are right)" : "stops higher up where the score is below " + share;
    },
    overlap() {
      const value = this.view.overlap;
      if (!value) return "one topic per document";
      return value < 0.5 ? "a few documents in several topics" : "many documents in several topics";
    },
  },
  methods: {
    dial(values) {
      this.$emit("act", { do: "dial", ...values });
    },
  },
};
