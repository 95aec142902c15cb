// Load: bring files, look at them, see every fault, then take them over.
import { counted, number } from "/workbench/web/shared.js";

const KINDS = {
  corpus: { title: "Documents", about: "CSV, TSV, JSONL (also .gz), Parquet or Excel, one row a document." },
  taxonomy: { title: "Taxonomy", about: "One path a line, an outline, SKOS, CSV, Excel, YAML, JSON …" },
  seeds: { title: "Seeds", about: "Rows of id, topic (or text, topic): documents that show what a topic is about. You can also choose them here, in step 3." },
  gold: { title: "Expert labels", about: "Rows of id, topic to score fits against. Never shown to a fit." },
};

export default {
  props: { view: Object },
  emits: ["act"],
  data: () => ({ KINDS, over: "", sending: {}, faults: {} }),
  template: `
    <h1>Bring your documents and your topics</h1>
    <p class="lead">Everything stays on this computer: the project is one file, and no account or network is needed.</p>
    <div v-if="!view.documents && !view.busy && !view.preview" class="offer">
      <div><h2>Just looking?</h2><p>Open a sample: the documentation of Python’s own library, with its chapters as taxonomy.</p></div>
      <button class="main" @click="$emit('act', { do: 'sample' })">Open the sample project</button>
    </div>
    <section v-if="view.preview" class="preview" aria-label="Preview">
      <h2>{{ view.file }}</h2>
      <div v-if="view.preview.faults.length" class="faults"><ul><li v-for="fault in view.preview.faults">{{ fault }}</li></ul></div>
      <template v-else>
        <div class="row">
          <label>Text is in <select :value="view.preview.text" @change="check(view.preview.id, $event.target.value)">
            <option v-for="column in view.preview.columns">{{ column }}</option></select></label>
          <label>Ids are in <select :value="view.preview.id" @change="check($event.target.value, view.preview.text)">
            <option :value="view.row_number">number the rows</option>
            <option v-for="column in view.preview.columns">{{ column }}</option></select></label>
        </div>
        <div class="scroll" tabindex="0" role="region" aria-label="First rows"><table>
          <thead><tr><th v-for="column in view.preview.columns" :class="{ chosen: column === view.preview.text || column === view.preview.id }">{{ column }}</th></tr></thead>
          <tbody><tr v-for="row in view.preview.rows"><td v-for="(cell, i) in row" :class="{ chosen: view.preview.columns[i] === view.preview.text || view.preview.columns[i] === view.preview.id }">{{ cell }}</td></tr></tbody>
        </table></div>
        <div v-if="view.checked">
          <p v-for="fact in view.checked.facts" class="state">{{ fact }}</p>
          <div v-if="view.checked.faults.length" class="faults">
            <h3>Rows that can’t be used will be left out</h3>
            <ul><li v-for="fault in view.checked.faults">{{ fault }}</li></ul>
          </div>
        </div>
        <div class="row">
          <button class="main" :disabled="view.busy || !view.checked || !view.checked.facts.length" @click="$emit('act', { do: 'load' })">Load these documents</button>
          <button @click="$emit('act', { do: 'forget' })">Leave it</button>
        </div>
      </template>
    </section>
    <div class="tiles">
      <section v-for="(kind, name) in KINDS" :key="name" :class="['tile', { over: over === name, done: state(name) }]"
        :aria-label="kind.title" @dragover.prevent="over = name" @dragleave="over = ''" @drop.prevent="drop(name, $event)">
        <h2>{{ kind.title }}</h2>
        <p class="state" v-if="state(name)">{{ state(name) }}</p>
        <p class="soft">{{ kind.about }}</p>
        <progress v-if="name in sending" :value="sending[name]" max="1" :aria-label="'Sending ' + kind.title"></progress>
        <label class="choose">Choose a file, or drop it here
          <input type="file" :aria-label="'File with ' + kind.title" @change="choose(name, $event)"></label>
        <div v-if="faults[name]" class="faults"><p>{{ faults[name] }}</p></div>
        <div v-if="view.told[name]" class="told">
          <p v-for="fact in view.told[name].facts"><b>{{ view.told[name].file }}</b>: {{ fact }}</p>
          <div v-if="view.told[name].faults.length" class="faults">
            <h3>To look at</h3>
            <ul><li v-for="fault in view.told[name].faults">{{ fault }}</li></ul>
          </div>
        </div>
      </section>
    </div>`,
  methods: {
    counted,
    state(name) {
      const { documents, topics, levels, seeds, gold } = this.view;
      if (name === "corpus") return documents ? counted(documents, "document") : "";
      if (name === "taxonomy") return topics ? counted(topics, "topic") + " on " + counted(levels, "level") : "";
      if (name === "seeds") return seeds ? counted(seeds, "seed") : "";
      return gold ? counted(gold, "label") : "";
    },
    check(id, text) {
      this.$emit("act", { do: "check", id, text });
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
      request.open("POST", "/workbench/upload?name=" + encodeURIComponent(file.name));
      request.upload.onprogress = (event) => (this.sending[kind] = event.loaded / Math.max(1, event.total));
      request.onloadend = () => {
        delete this.sending[kind];
        let answer = {};
        try {
          answer = JSON.parse(request.responseText);
        } catch {
          answer = { fault: request.responseText || "The file did not arrive. Try it again." };
        }
        if (request.status === 200) this.$emit("act", { do: "uploaded", kind, token: answer.token, name: file.name });
        else this.faults[kind] = answer.fault;
      };
      request.send(file);
    },
  },
};
