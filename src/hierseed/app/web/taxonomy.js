// Taxonomy: change the topic that is selected in the tree; every change can be taken back.
import parts from "/workbench/web/parts.js";
import picker from "/workbench/web/picker.js";
import { counted, crumbs, shared, topics, when } from "/workbench/web/shared.js";

export default {
  components: { parts, picker },
  props: { view: Object },
  emits: ["act"],
  data: () => ({ name: "", description: "", fresh: "", below: "", splitting: false, names: "", picking: "", shared }),
  template: `
    <h1>Shape your taxonomy</h1>
    <p class="lead">A topic keeps its id for life: rename, move or merge it, and what was labelled stays labelled.</p>
    <div class="two">
      <div>
        <section v-if="view.topic" class="panel" aria-label="Selected topic">
          <p class="path big"><span v-for="part in crumbs(view.topic.path)">{{ part }}</span></p>
          <p class="soft">{{ counted(view.topic.seeds, "seed") }} of its own · {{ counted(view.topic.children, "topic") }} below<template v-if="view.topic.code"> · code {{ view.topic.code }}</template></p>
          <p v-if="view.topic.words.length" class="words"><span v-for="word in view.topic.words">{{ word }}</span></p>
          <form class="row" @submit.prevent="act('rename', { name })">
            <label class="grow">Name <input v-model="name"></label>
            <button :disabled="!name.trim() || name === view.topic.name">Rename</button>
          </form>
          <form @submit.prevent="act('describe', { description })">
            <label>What it is about <textarea v-model="description" rows="3" placeholder="A sentence or two. It can stand in for seeds."></textarea></label>
            <button :disabled="description === view.topic.description">Save the description</button>
          </form>
          <form class="row" @submit.prevent="add(true)">
            <label class="grow">New topic below it <input v-model="below"></label>
            <button :disabled="!below.trim()">Add</button>
          </form>
          <div class="row">
            <button @click="picking = 'move'">Move …</button>
            <button @click="picking = 'merge'">Merge into …</button>
            <button @click="splitting = !splitting" :aria-expanded="splitting ? 'true' : 'false'">Split …</button>
            <button class="danger" @click="act('delete')">Delete</button>
          </div>
          <form v-if="splitting" class="split" @submit.prevent="split">
            <label>Names of the topics to make below it, one a line <textarea v-model="names" rows="3"></textarea></label>
            <div class="row"><button :disabled="!names.trim()">Split</button>
              <button v-if="view.can_split" type="button" @click="act('propose')">Propose parts from its documents</button></div>
            <parts :parts="view.parts" @take="(what) => act('take_part', what)"></parts>
          </form>
        </section>
        <section v-else class="panel empty"><p>Select a topic in the tree to change it, or add one at the top.</p></section>
        <form class="panel row" @submit.prevent="add(false)">
          <label class="grow">New topic at the top <input v-model="fresh"></label>
          <button :disabled="!fresh.trim()">Add</button>
        </form>
      </div>
      <section class="panel" aria-label="Changes">
        <h2>Changes</h2>
        <div class="row"><button :disabled="!view.changes.length" @click="act('undo', { expected: view.changes[0].id })">Undo the last one</button>
          <button v-if="view.redo" :title="view.redo[1]" @click="act('redo', { expected: view.redo[0] })">Redo</button></div>
        <ol class="log"><li v-for="change in view.changes" :key="change.id"><span>{{ change.what }}</span><small>{{ when(change.at) }}</small></li></ol>
        <p v-if="!view.changes.length" class="soft">Nothing was changed yet.</p>
      </section>
    </div>
    <picker v-if="picking" :title="picking === 'move' ? 'Move it below which topic?' : 'Merge it into which topic?'" :top="picking === 'move'"
      :but="[String(view.topic.id)]" @picked="picked" @left="picking = ''"></picker>`,
  watch: {
    "view.topic": {
      immediate: true,
      handler(topic, before) {
        if (!topic) return;
        if (!before || before.id !== topic.id || before.name !== topic.name) this.name = topic.name;
        if (!before || before.id !== topic.id || before.description !== topic.description) this.description = topic.description;
        if (!before || before.id !== topic.id) this.splitting = false;
      },
    },
  },
  methods: {
    counted,
    crumbs,
    when,
    act(what, more = {}) {
      this.$emit("act", { do: what, ...more });
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
