// Seeds: suggestions, search or similar documents for the selected topic.
import documents from "/workbench/web/documents.js";
import filters from "/workbench/web/filter.js";
import find from "/workbench/web/find.js";
import { counted, helpers } from "/workbench/web/shared.js";

export default {
  mixins: [helpers],
  components: { documents, filters, find },
  props: { view: Object },
  template: `
    <div class="head">
      <div v-if="view.topic">
        <h1 class="path"><span v-for="name in crumbs(view.topic.path)">{{ name }}</span></h1>
        <p class="lead">{{ view.topic.description || advice }}</p>
      </div>
      <div v-else><h1>Show what each topic is about</h1><p class="lead">Select a topic in the tree. A handful of documents is enough for each.</p></div>
    </div>
    <find ref="find" :query="view.query" placeholder="Search the documents: words, &quot;a phrase&quot;, -without" @search="search"></find>
    <div class="row between">
      <div class="tabs" role="group" aria-label="Which documents">
        <button v-if="view.topic || view.fitted" :aria-pressed="view.mode === 'suggest' ? 'true' : 'false'" @click="mode('suggest')">Suggested</button>
        <button :aria-pressed="view.mode === 'search' ? 'true' : 'false'" @click="search(view.query)">{{ view.query ? "Found" : "All documents" }}</button>
        <button v-if="view.mode === 'similar'" aria-pressed="true">Similar to {{ view.like }}</button>
        <button :aria-pressed="view.mode === 'queue' ? 'true' : 'false'" @click="$emit('act', { do: 'queue' })">Queue</button>
        <button v-if="view.topic" :aria-pressed="view.mode === 'mine' ? 'true' : 'false'" @click="mode('mine')">Its seeds ({{ view.topic.seeds }})</button>
      </div>
      <p class="soft"><template v-if="view.mode === 'queue' && view.longest">the next </template>{{ counted(view.total, "document") }} <button v-if="view.mode === 'suggest' && view.topic" class="bare" @click="$emit('act', { do: 'refresh' })">Refresh</button></p>
    </div>
    <p v-if="view.note" class="soft">{{ view.note }}</p>
    <div v-if="view.mode === 'queue'" class="row queue">
      <label>Order <select :value="view.order" @change="$emit('act', { do: 'queue', order: $event.target.value })"><option v-for="(title, kind) in view.orders" :value="kind">{{ title }}</option></select></label>
      <label class="check"><input type="checkbox" :checked="view.sharing" @change="$emit('act', { do: 'queue', sharing: $event.target.checked })"> Share the queue: each coder gets different documents</label>
      <span class="soft">{{ number(view.progress.decided) }} of {{ counted(view.progress.of, "document") }} decided<template v-for="(n, who) in view.progress.by"> · {{ who }}: {{ number(n) }}</template></span>
    </div>
    <filters v-if="view.mode === 'queue' || view.mode === 'search'" :columns="view.columns" :filter="view.filter" @act="(what) => $emit('act', what)"></filters>
    <div v-if="!view.vectors && view.documents" class="offer">
      <div><p>Suggestions and similar documents need vectors of the texts. They are made once, on this computer.</p></div>
      <button class="main" @click="$emit('act', { do: 'prepare' })">Prepare them now</button>
    </div>
    <p v-if="!view.documents" class="panel empty">No documents yet: load some in step 1.</p>
    <p v-else-if="!view.cards.length && (view.vectors || view.mode === 'search')" class="panel empty">{{ nothing }}</p>
    <documents :cards="view.cards" :page="view.page" :pages="view.pages" :total="view.total"
      :query="view.mode === 'search' ? view.query : ''" :similar="view.vectors" :bulk="!!view.topic" @act="(what) => $emit('act', what)"></documents>
    <p class="keys soft" v-if="view.cards.length"><kbd>↑</kbd><kbd>↓</kbd> move <kbd>A</kbd> accept <kbd>R</kbd> reject <kbd>M</kbd> other topic <kbd>N</kbd> none of these <kbd>E</kbd> unsure <kbd>U</kbd> undo <kbd>/</kbd> search <kbd>?</kbd> all keys</p>`,
  computed: {
    advice() {
      const count = this.view.topic.seeds;
      if (!this.view.topic.leaf && !count) return "Topics below it can have seeds of their own; this one may have some too.";
      if (!count) return "No seed yet. Two to five are a good start.";
      return count < 3 ? counted(count, "seed") + " so far. Two to five are a good start." : counted(count, "seed") + " so far.";
    },
    nothing() {
      if (this.view.mode === "search") return "No document has these words.";
      if (this.view.mode === "queue") return "All of them are decided.";
      if (this.view.mode === "mine") return "This topic has no seed yet.";
      return this.view.topic ? "Nothing to suggest right now." : "Select a topic, or search.";
    },
  },
  methods: {
    mode(mode) {
      this.$emit("act", { do: "mode", mode });
    },
    search(query) {
      this.$emit("act", { do: "search", query });
    },
  },
};
