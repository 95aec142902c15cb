// Load: bring files, look at them, see every fault and every change, then take them over.
import { counted, helpers, inProject, shown } from "/workbench/web/shared.js";

const KINDS = {
  corpus: { title: "Documents", about: "CSV, TSV, JSONL (also .gz), Parquet or Excel, one row per document." },
  taxonomy: { title: "Taxonomy", about: "One path per line, an outline, SKOS, CSV, Excel, YAML, JSON …" },
  seeds: { title: "Seeds", about: "Rows of id, topic (or text, topic): documents that show what a topic is about. You can also choose them here, in step 3." },
  gold: { title: "Expert labels", about: "Rows of id, topic to score fits against. Never shown to a fit." },
};
const THINGS = { taxonomy: "topic", seeds: "seed", gold: "label" };

export default {
  mixins: [helpers],
  props: { view: Object },
  data: () => ({ KINDS, over: "", sending: {}, faults: {}, removing: "" }),
  template: `
    <h1>Load your documents and topics</h1>
    <p class="lead">Everything stays on this computer: the project is one file, and no account or network is needed.</p>
    <div v-if="!view.documents && !view.busy && !view.preview" class="offer">
      <div><h2>Just looking?</h2><p>Open a sample: the documentation of Python’s own library, with its chapters as taxonomy.</p></div>
      <button class="main" @click="act('sample')">Open the sample project</button>
    </div>
    <section v-if="view.preview" class="preview" aria-label="Preview">
      <h2>{{ view.file }}</h2>
      <div v-if="view.preview.faults.length" class="faults"><ul><li v-for="fault in view.preview.faults">{{ fault }}</li></ul></div>
      <template v-else>
        <p v-for="fact in view.preview.facts" class="hint">{{ fact }}.</p>
        <div class="row">
          <label>Text is in <select :value="view.preview.text" @change="check(view.preview.id, $event.target.value)">
            <option v-for="column in view.preview.columns">{{ column }}</option></select></label>
          <label>Ids are in <select :value="view.preview.id" @change="check($event.target.value, view.preview.text)">
            <option :value="view.row_number">number the rows</option>
            <option v-for="column in view.preview.columns">{{ column }}</option></select></label>
        </div>
        <div class="scroll" tabindex="0" role="region" aria-label="First rows"><table>
          <thead><tr><th v-for="column in view.preview.columns" :class="{ chosen: chosen(column) }">{{ column }}</th></tr></thead>
          <tbody><tr v-for="row in view.preview.rows"><td v-for="(cell, i) in row" :class="{ chosen: chosen(view.preview.columns[i]) }"><div class="cell">{{ cell }}</div></td></tr></tbody>
        </table></div>
        <div v-if="view.checked">
          <p v-for="fact in view.checked.facts" class="state">{{ fact }}</p>
          <div v-if="view.checked.faults.length" class="faults">
            <h3>Rows that can’t be used will be left out</h3>
            <ul><li v-for="fault in view.checked.faults">{{ fault }}</li></ul>
          </div>
        </div>
        <div class="row">
          <button class="main" :disabled="view.busy || !view.checked || !view.checked.facts.length" @click="act('load')">Load these documents</button>
          <button @click="act('forget')">Cancel</button>
        </div>
      </template>
    </section>
    <div class="tiles">
      <section v-for="(kind, name) in KINDS" :key="name" :class="['tile', { over: over === name, done: state(name) }]"
        :aria-label="kind.title" @dragover.prevent="over = name" @dragleave="over = ''" @drop.prevent="drop(name, $event)">
        <h2>{{ kind.title }}</h2>
        <p class="state" v-if="state(name)">{{ state(name) }}</p>
        <p class="soft">{{ kind.about }}</p>
        <template v-if="name === 'corpus'"><div v-for="load in view.loads" :key="load.at" class="report">
          <div v-if="load.unfinished" class="faults"><h3>Loading {{ load.name }} was interrupted</h3>
            <p>{{ number(load.done) }} of {{ load.total ? number(load.total) : "its" }} documents are loaded.</p>
            <div class="row"><button class="main" :disabled="view.busy" @click="act('resume')">Resume</button><button :disabled="view.busy" @click="act('discard')">Discard them</button></div></div>
          <p v-else><b>{{ load.name }}</b>, {{ when(load.at) }}</p>
          <details v-if="load.message" class="faults"><summary>{{ load.message.split(":")[0] }}</summary><p>{{ load.message }}</p></details></div></template>
        <progress v-if="name in sending" :value="sending[name]" max="1" :aria-label="'Sending ' + kind.title"></progress>
        <div v-if="view.plans[name]" class="plan" role="group" :aria-label="'What ' + view.plans[name].file + ' changes'">
          <h3>{{ view.plans[name].file }}</h3>
          <p v-for="fact in view.plans[name].facts">{{ fact }}.</p>
          <p><b>{{ number(view.plans[name].added) }}</b> new, <b>{{ number(view.plans[name].kept) }}</b> unchanged, <b class="bad">{{ number(view.plans[name].removed) }}</b> not in this file.</p>
          <ul v-if="view.plans[name].removes.length"><li v-for="one in view.plans[name].removes">{{ shown(one) }}</li><li v-if="view.plans[name].removed > view.plans[name].removes.length">and {{ number(view.plans[name].removed - view.plans[name].removes.length) }} more</li></ul>
          <div class="row"><button class="main" @click="act('take', { kind: name, replace: true })">Replace: remove {{ counted(view.plans[name].removed, thing(name)) }}</button>
            <button @click="act('take', { kind: name, replace: false })">Add without removing</button><button @click="act('leave', { kind: name })">Cancel</button></div>
          <ul v-if="view.plans[name].faults.length" class="faults"><li v-for="fault in view.plans[name].faults">{{ fault }}</li></ul>
        </div>
        <p v-if="view.waiting[name]" class="hint">{{ view.waiting[name] }} waits until the documents are loaded.</p>
        <label class="choose">{{ state(name) ? "Choose another file" : "Choose a file" }}, or drop it here
          <input type="file" :aria-label="'File with ' + kind.title" @change="choose(name, $event)"></label>
        <div v-if="faults[name]" class="faults"><p>{{ faults[name] }}</p></div>
        <div v-if="view.reports[name]" class="report">
          <p v-for="fact in view.reports[name].facts"><b>{{ view.reports[name].file }}</b>: {{ fact }}</p>
          <div v-if="view.reports[name].faults.length" class="faults">
            <h3>Please check</h3>
            <ul><li v-for="fault in view.reports[name].faults">{{ fault }}</li></ul>
          </div>
        </div>
        <p v-if="state(name) && name !== 'taxonomy'" class="remove"><button v-if="removing !== name" class="bare" @click="removing = name">Remove {{ name === 'corpus' ? 'all documents' : 'all' }} …</button>
          <template v-else>{{ warning(name) }} <button class="small danger" :disabled="view.busy" @click="remove(name)">Remove</button> <button class="small" @click="removing = ''">Keep</button></template></p>
      </section>
    </div>
    <p v-if="next" class="next"><button class="main" @click="act('go', { screen: next.screen })">{{ next.title }}</button></p>`,
  computed: {
    next() {
      if (this.view.busy || this.view.preview || !this.view.documents || !this.view.topics) return null;
      if (!this.view.seeds) return { screen: "seeds", title: "Next: choose seeds →" };
      return { screen: "fit", title: "Next: fit →" };
    },
  },
  methods: {
    thing: (name) => THINGS[name],
    chosen(column) {
      return column === this.view.preview.text || column === this.view.preview.id;
    },
    warning(name) {
      if (name === "corpus") return "All documents and all decisions about them will be removed. A copy of the project is made first.";
      return "Undo restores them.";
    },
    remove(kind) {
      this.removing = "";
      this.act("remove", { kind });
    },
    state(name) {
      const { documents, topics, levels, seeds, gold } = this.view;
      if (name === "corpus") return documents ? counted(documents, "document") : "";
      if (name === "taxonomy") return topics ? counted(topics, "topic") + " on " + counted(levels, "level") : "";
      if (name === "seeds") return seeds ? counted(seeds, "seed") : "";
      return gold ? counted(gold, "label") : "";
    },
    check(id, text) {
      this.act("check", { id, text });
    },
    drop(kind, event) {
      this.over = "";
      const file = event.dataTransfer.files[0];
      if (file) this.send(kind, file);
    },
    choose(kind, event) {
      const file = event.target.files[0];
      if (file) this.send(kind, file);
      event.target.value = "";
    },
    send(kind, file) {
      delete this.faults[kind];
      this.sending[kind] = 0;
      const request = new XMLHttpRequest();
      request.open("POST", inProject("/workbench/upload?name=" + encodeURIComponent(file.name)));
      request.upload.onprogress = (event) => (this.sending[kind] = event.loaded / Math.max(1, event.total));
      request.onloadend = () => {
        delete this.sending[kind];
        let answer = {};
        try {
          answer = JSON.parse(request.responseText);
        } catch {
          answer = { fault: request.responseText || "The upload failed. Try again." };
        }
        if (request.status === 200) this.act("uploaded", { kind, token: answer.token, name: file.name });
        else this.faults[kind] = answer.fault;
      };
      request.send(file);
    },
  },
};
