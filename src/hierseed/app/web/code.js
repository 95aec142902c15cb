// Validate: draw a sample, code it blind, compare coders, settle, and see how right the fit is.
import estimate from "/workbench/web/estimate.js";
import picker from "/workbench/web/picker.js";
import { copyText, helpers, shared, shown } from "/workbench/web/shared.js";

const TABS = { code: "Code", agreement: "Agreement", adjudicate: "Adjudicate", accuracy: "Accuracy" };

export default {
  mixins: [helpers],
  components: { estimate, picker },
  props: { view: Object },
  data: () => ({ TABS, size: 200, kind: "random", name: "", seed: 1, columns: [], chosen: [], picking: "", settling: null, copied: false, shared }),
  template: `
    <div v-if="!view.sample">
      <h1>How right is it?</h1>
      <p class="lead">Draw documents at random, let one or more people code them without seeing the fit or each other, and read off agreement and accuracy with intervals, ready for a paper.</p>
      <p v-if="!view.documents" class="panel empty">No documents yet: load some in step 1.</p>
      <form v-else class="panel" aria-label="New sample" @submit.prevent="draw">
        <h2>New sample</h2>
        <div class="row">
          <label>Documents <input type="text" inputmode="numeric" v-model="size"></label>
          <label>How <select v-model="kind"><option value="random">at random</option><option value="strata" :disabled="!view.fitted">as many from each topic of level 1</option></select></label>
          <label>Random seed <input type="text" inputmode="numeric" v-model="seed"></label>
          <label class="grow">Name <input v-model="name" placeholder="Such as: validation, spring"></label></div>
        <fieldset v-if="view.columns.length" class="show"><legend>Columns that coders see</legend>
          <label v-for="column in view.columns" :key="column" class="check"><input type="checkbox" v-model="columns" :value="column"> {{ column }}</label>
          <p class="soft">None unless you choose it. A column with labels or predictions would show coders the answer.</p></fieldset>
        <p class="soft">200 documents give intervals of about ±7 points at each level. Everybody who opens the sample codes the same documents.</p>
        <button class="main">Draw the sample</button>
      </form>
      <ul class="files panel" v-if="view.samples.length" aria-label="Samples"><li v-for="sample in view.samples" :key="sample.id">
        <button class="bare" @click="act('open', { sample: sample.id })">{{ sample.name }}</button>
        <span class="soft">{{ counted(sample.size, "document") }}, {{ when(sample.at) }}<template v-for="(n, who) in sample.coders"> · {{ who }}: {{ n }}</template></span></li></ul>
    </div>
    <template v-else>
      <div class="row between"><div class="tabs" role="group" aria-label="What to look at">
          <button v-for="(title, name) in TABS" :key="name" :aria-pressed="view.tab === name ? 'true' : 'false'" @click="act('tab', { tab: name })">{{ title }}</button></div>
        <button class="small" @click="act('open')">All samples</button></div>
      <template v-if="view.tab === 'code'">
        <h1>{{ view.sample.name }}</h1>
        <p v-if="!view.coder" class="hint bad">Enter your name first, with the button in the header. Each code carries the name of its coder.</p>
        <progress :value="view.done" :max="view.total" aria-label="Coded by you"></progress>
        <p class="soft">{{ number(view.done) }} of {{ number(view.total) }} coded by you. You do not see the codes of others or of the fit.</p>
        <p v-if="!view.document" class="panel empty">You have coded all of them. See <button class="bare" @click="act('tab', { tab: 'agreement' })">agreement</button> and <button class="bare" @click="act('tab', { tab: 'accuracy' })">accuracy</button>.</p>
        <div v-else class="two">
          <article class="card here coding" ref="card" tabindex="0" role="group" :aria-label="'Document ' + view.document.id" @keydown="key">
            <header><span class="id">{{ view.document.id }}</span><span class="soft">{{ number(view.at + 1) }} of {{ number(view.total) }}</span></header>
            <p class="text whole">{{ view.document.text }}</p>
            <p v-if="seen.length" class="columns"><span v-for="[name, value] in seen"><b>{{ name }}</b> {{ value }}</span></p>
            <p v-if="view.code" class="where">Your code: <b>{{ written(view.code) }}</b></p>
            <p v-if="chosen.length" class="where">Chosen: <b v-for="topic in chosen" :key="topic.key" class="path"><span v-for="name in crumbs(topic.path)">{{ name }}</span> <button class="bare" :aria-label="'Not ' + topic.path" @click="chosen = chosen.filter((one) => one !== topic)">×</button></b>
              <button class="small on" @click="send('topics')"><kbd>Enter</kbd>Save</button></p>
            <footer>
              <button v-if="view.book" class="small" @click="send('topics', [view.book])"><kbd>A</kbd>{{ last(view.book.path) }}</button>
              <button class="small" @click="picking = 'one'"><kbd>M</kbd>Choose a topic</button>
              <button class="small" @click="picking = 'more'"><kbd>T</kbd>Several topics</button>
              <button class="small" @click="send('none')"><kbd>N</kbd>None of these</button>
              <button class="small" @click="send('unsure')"><kbd>E</kbd>Unsure, skip</button>
              <button class="small" :disabled="view.at === 0" @click="act('at', { at: view.at - 1 })"><kbd>K</kbd>Previous</button>
              <button class="small" :disabled="view.at + 1 >= view.total" @click="act('at', { at: view.at + 1 })"><kbd>J</kbd>Next</button>
            </footer>
            <p v-if="view.recent.length" class="recent"><span class="soft">Again:</span> <button v-for="(topic, i) in view.recent" :key="topic.key" class="small" @click="send('topics', [topic])"><kbd>{{ i + 1 }}</kbd>{{ last(topic.path) }}</button></p>
          </article>
          <section class="panel" aria-label="Codebook">
            <template v-if="view.book"><h2 class="path"><span v-for="name in crumbs(view.book.path)">{{ name }}</span></h2>
              <p v-if="view.book.description">{{ view.book.description }}</p>
              <p v-if="view.book.include"><b>Include</b> {{ view.book.include }}</p>
              <p v-if="view.book.exclude"><b>Exclude</b> {{ view.book.exclude }}</p>
              <p v-if="view.book.notes" class="soft">{{ view.book.notes }}</p>
              <p v-if="!view.book.description && !view.book.include" class="soft">This topic has no codebook entry yet. Write one in step 2.</p></template>
            <p v-else class="soft">Select a topic in the tree to read its codebook entry.</p>
          </section>
        </div>
      </template>
      <template v-else-if="view.tab === 'agreement'">
        <h1>Do the coders agree?</h1>
        <p class="lead">{{ counted(view.agreement.coders.length, "coder") }}<template v-for="coder in view.agreement.coders">, {{ coder.name }}: {{ number(coder.coded) }}</template>. {{ counted(view.agreement.double, "document") }} coded at least twice; “unsure” counts as not coded.</p>
        <p v-if="view.agreement.coders.length < 2" class="panel empty">Agreement needs two coders. Let a second person open this sample under another name.</p>
        <template v-else>
          <table><thead><tr><th>Level</th><th>Krippendorff’s alpha</th><th>Pair</th><th>Cohen’s kappa</th><th>Same code</th></tr></thead>
            <tbody><template v-for="level in view.agreement.levels"><tr v-for="(pair, i) in level.pairs"><th scope="row">{{ i ? "" : level.level }}</th><td><estimate v-if="!i" :of="level.alpha" :digits="2"></estimate></td>
              <td>{{ pair.coders.join(" and ") }}</td><td>{{ pair.kappa === null ? "–" : pair.kappa.toFixed(2) }}</td><td><estimate :of="pair.same" percent></estimate></td></tr></template></tbody></table>
          <h2>By topic</h2>
          <table><thead><tr><th>Topic</th><th>Alpha (this topic or not)</th></tr></thead>
            <tbody><tr v-for="topic in view.agreement.topics"><td>{{ shownPath(topic.path) }}</td><td><estimate :of="topic.alpha" :digits="2"></estimate></td></tr></tbody></table>
        </template>
      </template>
      <template v-else-if="view.tab === 'adjudicate'">
        <h1>Settle what they disagree on</h1>
        <p class="lead">{{ counted(view.open, "document") }} without a settled code. Choose one of the codes, or another topic.</p>
        <p v-if="!view.cards.length" class="panel empty">Nothing to settle.</p>
        <article v-for="card in view.cards" :key="card.row" class="card here" :aria-label="'Document ' + card.id">
          <header><span class="id">{{ card.id }}</span></header><p class="text whole">{{ card.text }}</p>
          <footer><button v-for="code in card.codes" class="small" @click="settle(card.row, code)">{{ code.coder }}: {{ written(code) }}</button>
            <button class="small" @click="settling = card.row">Another topic</button><button class="small" @click="act('settle', { row: card.row, decision: 'none' })">None of these</button></footer>
        </article>
      </template>
      <template v-else>
        <h1>How right is the fit?</h1>
        <p v-if="!view.accuracy" class="panel empty">There is no fit yet. Start one in step 4.</p>
        <p v-else-if="!view.accuracy.coded" class="panel empty">No document of the sample has a settled code yet.</p>
        <template v-else>
          <p class="lead">Fit {{ view.fit }} against {{ counted(view.accuracy.coded, "coded document") }}, seeds left out<template v-if="view.accuracy.unsettled">; {{ counted(view.accuracy.unsettled, "document") }} still to be settled are left out too</template>.</p>
          <table><thead><tr><th>Level</th><th>Accuracy</th><th>Documents</th><th>Score above which {{ Math.round(100 * view.accuracy.wanted) }}% are right</th></tr></thead>
            <tbody><tr v-for="(level, i) in view.accuracy.levels"><th scope="row">{{ level.level }}</th><td><estimate :of="level.accuracy" percent></estimate></td><td>{{ number(level.accuracy.n) }}</td><td>{{ view.accuracy.thresholds[i] == null ? "no score is enough" : view.accuracy.thresholds[i].toFixed(2) }}</td></tr></tbody></table>
          <label class="inline">Wanted share right <select :value="view.accuracy.wanted" @change="act('wanted', { share: +$event.target.value })"><option v-for="share in [0.5, 0.6, 0.7, 0.8, 0.9, 0.95]" :value="share">{{ Math.round(100 * share) }}%</option></select></label>
          <h2>For the paper</h2>
          <blockquote class="paragraph">{{ view.paragraph }}</blockquote>
          <button @click="copy">{{ copied ? "Copied" : "Copy the paragraph" }}</button>
          <h2>By topic</h2>
          <table><thead><tr><th>Topic</th><th>Precision</th><th>n</th><th>Recall</th><th>n</th></tr></thead>
            <tbody><tr v-for="topic in view.accuracy.topics"><td>{{ shownPath(topic.path) }}</td><td><estimate :of="topic.precision" percent></estimate></td><td>{{ topic.precision.n }}</td><td><estimate :of="topic.recall" percent></estimate></td><td>{{ topic.recall.n }}</td></tr></tbody></table>
        </template>
      </template>
    </template>
    <picker v-if="picking || settling !== null" title="Which topic is it?" @picked="picked" @left="left"></picker>`,
  computed: {
    seen() {
      return Object.entries(this.view.document?.columns || {}).filter(([, value]) => value !== null && value !== "");
    },
    row() {
      return this.view.document?.row;
    },
  },
  watch: {
    row() {
      this.chosen = [];
      this.$nextTick(() => this.$refs.card?.focus());
    },
    "shared.wantFocus"() {
      this.$nextTick(() => this.$refs.card?.focus());
    },
  },
  mounted() {
    this.$refs.card?.focus();
  },
  methods: {
    draw() {
      this.act("draw", { size: +this.size || 200, kind: this.kind, name: this.name, seed: +this.seed || 0, columns: this.columns });
    },
    written(code) {
      if (code.decision === "none") return "None of these";
      if (code.decision === "unsure") return "Unsure";
      return code.topics.map((topic) => shown(topic.path)).join(" + ");
    },
    send(decision, topics = this.chosen) {
      if (!this.view.document) return;
      const keys = decision === "topics" ? topics.map((topic) => topic.key) : [];
      this.act("code", { row: this.view.document.row, decision, keys });
    },
    settle(row, code) {
      this.act("settle", { row, decision: code.decision, keys: code.topics.map((topic) => topic.key) });
    },
    picked(key) {
      const path = shared.lines.find((line) => line.key === key)?.name || key;
      if (this.settling !== null) this.act("settle", { row: this.settling, decision: "topics", keys: [key] });
      else if (this.picking === "one") this.send("topics", [{ key, path }]);
      else if (!this.chosen.some((topic) => topic.key === key)) this.chosen = [...this.chosen, { key, path }];
      this.left();
    },
    left() {
      this.picking = "";
      this.settling = null;
      this.$nextTick(() => this.$refs.card?.focus());
    },
    async copy() {
      await copyText(this.view.paragraph);
      this.copied = true;
      setTimeout(() => (this.copied = false), 2000);
    },
    key(event) {
      if (!shared.keys || event.ctrlKey || event.metaKey || event.altKey || this.picking || event.target.tagName === "BUTTON") return;
      const letter = event.key.toLowerCase();
      const again = this.view.recent[+letter - 1];
      const acts = {
        a: () => this.view.book && this.send("topics", [this.view.book]),
        m: () => (this.picking = "one"),
        t: () => (this.picking = "more"),
        n: () => this.send("none"),
        e: () => this.send("unsure"),
        k: () => this.view.at > 0 && this.act("at", { at: this.view.at - 1 }),
        j: () => this.view.at + 1 < this.view.total && this.act("at", { at: this.view.at + 1 }),
        enter: () => this.chosen.length && this.send("topics"),
      };
      if (again) this.send("topics", [again]);
      else if (acts[letter]) acts[letter]();
      else return;
      event.preventDefault();
    },
  },
};
