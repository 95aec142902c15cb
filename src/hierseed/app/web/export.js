// Export: files, and the command lines that repeat the fit.
import { copyText, helpers } from "/workbench/web/shared.js";

const TITLES = { csv: "CSV", xlsx: "Excel", parquet: "Parquet", jsonl: "JSONL" };

export default {
  mixins: [helpers],
  props: { view: Object },
  data: () => ({ TITLES, text: true, format: "", copied: false }),
  template: `
    <h1>Export</h1>
    <p class="lead">Files are written on this computer; nothing is sent anywhere.</p>
    <p v-if="!view.fit" class="panel empty">There is no fit yet. Taxonomy, seeds and decisions can be exported already.</p>
    <div class="two">
      <div>
        <section class="panel" aria-label="Documents">
          <h2>All documents in one table</h2>
          <p class="soft">{{ counted(view.documents, "document") }} of fit {{ view.fit || "–" }}: topic, every level, score, runner-up, what people decided, and the other columns of your file; topics as they are named now.</p>
          <label class="check"><input type="checkbox" v-model="text"> With the texts</label>
          <div class="row"><button v-for="ending in view.tables" :key="ending" :disabled="!view.fit || view.busy" @click="act('documents', { ending, text })">{{ TITLES[ending] }}</button></div>
        </section>
        <section class="panel" aria-label="Taxonomy">
          <h2>Taxonomy</h2><p class="soft">{{ counted(view.topics, "topic") }}, as it is now.</p>
          <div class="row"><label class="grow">Format <select v-model="format"><option value="" disabled>Choose</option><option v-for="f in view.formats" :value="f.name">{{ f.title }}</option></select></label>
            <button :disabled="!format || !view.topics" @click="act('taxonomy', { format })">Write</button></div>
        </section>
        <section class="panel" aria-label="Codebook">
          <h2>Codebook</h2><p class="soft">Definition, what to include and exclude, notes, and seeds as examples for each topic.</p>
          <div class="row"><button v-for="(title, ending) in { docx: 'Word', html: 'HTML', md: 'Markdown' }" :key="ending" :disabled="!view.topics" @click="act('codebook', { ending })">{{ title }}</button></div>
        </section>
        <section class="panel" aria-label="Other tools">
          <h2>For other tools</h2><p class="soft">Documents with their topics as Label Studio and doccano import them. Their exports, and tables of MAXQDA, NVivo and Argilla, can be loaded as seeds or expert labels in step 1.</p>
          <div class="row"><button :disabled="!view.fit" @click="act('tasks', { tool: 'label-studio' })">Label Studio</button><button :disabled="!view.fit" @click="act('tasks', { tool: 'doccano' })">doccano</button></div>
        </section>
        <section class="panel" aria-label="Seeds and report">
          <h2>Seeds, decisions and report</h2>
          <p class="soft">Decisions lists each one with coder and time, also rejections and those withdrawn since.</p>
          <div class="row"><button :disabled="!view.seeds" @click="act('seeds')">Seeds ({{ view.seeds }})</button><button :disabled="!view.decisions" @click="act('decisions')">Decisions</button><button :disabled="!view.fit" @click="act('report')">Report page</button></div>
        </section>
      </div>
      <div>
        <section class="panel" aria-label="Files">
          <h2>Files</h2>
          <p v-if="!view.files.length" class="soft">No files yet.</p>
          <ul class="files"><li v-for="file in view.files" :key="file.name">
            <a :href="inProject('/workbench/download/' + encodeURIComponent(file.name))" :download="file.name">{{ file.name }}</a>
            <span class="soft">{{ bytes(file.bytes) }}, {{ when(file.at) }}</span>
            <a v-if="file.name.endsWith('.html')" :href="inProject('/workbench/download/' + encodeURIComponent(file.name) + '?view=1')" target="_blank" rel="noopener">open</a>
            <button class="bare" :aria-label="'Delete ' + file.name" @click="act('remove', { name: file.name })">delete</button></li></ul>
        </section>
        <section v-if="view.fit" class="panel" aria-label="Repeat it">
          <h2>Repeat it anywhere</h2>
          <p class="soft">The bundle holds corpus, taxonomy, seeds and model of fit {{ view.fit }}, every decision, the codebook, and the codes, agreement and accuracy of all samples; these commands in its folder give the same result.</p>
          <pre tabindex="0" aria-label="Command lines">{{ view.commands.join("\\n\\n") }}</pre>
          <div class="row"><button :disabled="view.busy" @click="act('bundle')">Write the bundle</button><button @click="copy">{{ copied ? "Copied" : "Copy the commands" }}</button></div>
        </section>
      </div>
    </div>`,
  methods: {
    async copy() {
      await copyText(this.view.commands.join("\n"));
      this.copied = true;
      setTimeout(() => (this.copied = false), 2000);
    },
  },
};
