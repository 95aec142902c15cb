// Taxonomy: change the topic that is selected in the tree, and its entry in the codebook.
// What is typed stays, whatever others do meanwhile.
import groups from "/workbench/web/dense_groups.js";
import picker from "/workbench/web/picker.js";
import { helpers, shared, shown } from "/workbench/web/shared.js";

const FIELDS = {
  description: ["Definition", "A sentence or two. It can stand in for seeds."],
  include: ["Include", "What belongs here, with borderline cases"],
  exclude: ["Exclude", "What belongs elsewhere, and where"],
  notes: ["Notes", "Anything else that coders should know"],
  code: ["Code", "Such as 107"],
};

export default {
  mixins: [helpers],
  components: { groups, picker },
  props: { view: Object },
  data: () => ({ FIELDS, drafts: {}, seen: {}, fresh: "", below: "", splitting: false, names: "", picking: "", memo: "", shared }),
  template: `
    <h1>Shape your taxonomy</h1>
    <p class="lead">Rename, move, merge or split topics at any time. Decisions about documents are kept.</p>
    <div class="two">
      <div>
        <section v-if="view.topic" class="panel" aria-label="Selected topic">
          <p class="path big"><span v-for="part in crumbs(view.topic.path)">{{ part }}</span></p>
          <p class="soft">{{ counted(view.topic.seeds, "seed") }} of its own · {{ counted(view.topic.children, "topic") }} below<template v-if="view.topic.code"> · code {{ view.topic.code }}</template></p>
          <p v-if="view.topic.words.length" class="words"><span v-for="word in view.topic.words">{{ word }}</span></p>
          <form class="row" @submit.prevent="rename">
            <label class="grow">Name <input v-model="drafts.name"></label>
            <button :disabled="!drafts.name || !drafts.name.trim() || !changed('name')">Rename</button>
          </form>
          <p v-if="clash('name')" class="hint bad">Someone else has renamed it “{{ view.topic.name }}”. <button class="bare" @click="takeTheirs('name')">Use theirs</button>, or rename it again.</p>
          <details class="codebook" :open="true"><summary>Codebook</summary>
            <form @submit.prevent="save">
              <template v-for="([title, hint], field) in FIELDS" :key="field">
                <label>{{ title }} <input v-if="field === 'code'" v-model="drafts[field]" :placeholder="hint"><textarea v-else v-model="drafts[field]" :rows="field === 'description' ? 3 : 2" :placeholder="hint"></textarea></label>
                <p v-if="clash(field)" class="hint bad">Someone else has written: “{{ view.topic[field] }}”. <button type="button" class="bare" @click="takeTheirs(field)">Use theirs</button>, or save yours.</p>
              </template>
              <button :disabled="!Object.keys(FIELDS).some(changed)">Save the codebook entry</button>
            </form>
          </details>
          <form class="row" @submit.prevent="add(true)">
            <label class="grow">New subtopic <input v-model="below"></label>
            <button :disabled="!below.trim()">Add</button>
          </form>
          <div class="row">
            <button @click="picking = 'move'">Move …</button>
            <button @click="picking = 'merge'">Merge into …</button>
            <button @click="splitting = !splitting" :aria-expanded="splitting ? 'true' : 'false'">Split …</button>
            <button class="danger" @click="act('delete')">Delete</button>
          </div>
          <form v-if="splitting" class="split" @submit.prevent="split">
            <label>Names of the new subtopics, one per line <textarea v-model="names" rows="3"></textarea></label>
            <div class="row"><button :disabled="!names.trim()">Split</button>
              <button v-if="view.can_split" type="button" @click="act('groups')">Suggest subtopics from its documents</button></div>
            <groups :groups="view.groups" @take="(what) => act('take_group', what)"></groups>
          </form>
          <h2>Memos</h2>
          <p v-for="note in view.topic.memos" :key="note.id" class="memo"><span>{{ note.text }}</span> <small class="soft">{{ note.coder || "memo" }}, {{ when(note.at) }}</small>
            <button class="bare" aria-label="Remove this memo" @click="act('forget_memo', { memo: note.id })">×</button></p>
          <form class="row" @submit.prevent="write"><label class="grow">New memo on this topic <input v-model="memo"></label><button :disabled="!memo.trim()">Save</button></form>
        </section>
        <section v-else class="panel empty"><p>Select a topic in the tree to change it, or add a top-level topic.</p></section>
        <form class="panel row" @submit.prevent="add(false)">
          <label class="grow">New top-level topic <input v-model="fresh"></label>
          <button :disabled="!fresh.trim()">Add</button>
        </form>
      </div>
      <section class="panel" aria-label="Changes">
        <h2>Latest changes</h2>
        <ol class="log"><li v-for="change in view.changes" :key="change.id"><span>{{ shown(change.what) }}</span><small>{{ change.coder ? change.coder + ", " : "" }}{{ when(change.at) }}</small></li></ol>
        <p v-if="!view.changes.length" class="soft">No changes yet.</p>
        <p v-else class="soft">↶ in the header undoes your own last step.</p>
      </section>
    </div>
    <picker v-if="picking" :title="picking === 'move' ? 'Move it below which topic?' : 'Merge it into which topic?'" :top="picking === 'move'"
      :but="[String(view.topic.id)]" @picked="picked" @left="picking = ''"></picker>`,
  watch: {
    "view.topic": {
      immediate: true,
      handler(topic, before) {
        if (!topic) return;
        const other = !before || before.id !== topic.id;
        if (other) this.splitting = false;
        for (const field of ["name", ...Object.keys(FIELDS)]) {
          // A draft is kept; where nothing was typed the new text is shown.
          if (other || this.drafts[field] === this.seen[field] || this.drafts[field] === topic[field]) {
            this.drafts[field] = this.seen[field] = topic[field];
          }
        }
      },
    },
  },
  methods: {
    changed(field) {
      return this.drafts[field] !== this.seen[field] || this.clash(field);
    },
    // Somebody else has changed what is being typed here.
    clash(field) {
      return this.view.topic[field] !== this.seen[field];
    },
    takeTheirs(field) {
      this.drafts[field] = this.seen[field] = this.view.topic[field];
    },
    rename() {
      this.act("rename", { name: this.drafts.name, seen: this.view.topic.name });
    },
    save() {
      for (const field of Object.keys(FIELDS))
        if (this.changed(field)) this.act("describe", { description: this.drafts[field], field, seen: this.view.topic[field] });
    },
    write() {
      this.act("memo", { text: this.memo });
      this.memo = "";
    },
    add(below) {
      this.act("add", { name: below ? this.below : this.fresh, below });
      this.below = this.fresh = "";
    },
    split() {
      this.act("split", { names: this.names.split("\n") });
      this.names = "";
      this.splitting = false;
    },
    picked(key) {
      this.act(this.picking, { to: key });
      this.picking = "";
    },
  },
};
