// Review: a topic's documents and rivals, the map, what changed, the scores.
import changes from "/workbench/web/changes.js";
import documents from "/workbench/web/documents.js";
import filters from "/workbench/web/filter.js";
import find from "/workbench/web/find.js";
import mapping from "/workbench/web/map.js";
import groups from "/workbench/web/dense_groups.js";
import proposals from "/workbench/web/proposals.js";
import scores from "/workbench/web/scores.js";
import overtime from "/workbench/web/over_time.js";
import { helpers, percent } from "/workbench/web/shared.js";

const TABS = { topic: "Topic", map: "Map", time: "Over time", changes: "What changed", scores: "Scores" };

export default {
  mixins: [helpers],
  components: { changes, documents, filters, find, mapping, overtime, groups, proposals, scores },
  props: { view: Object },
  data: () => ({ TABS }),
  template: `
    <div v-if="!view.fit"><h1>Look at the result</h1><p class="panel empty">There is no fit yet. Start one in step 4.</p></div>
    <template v-else>
      <div class="row between">
        <div class="tabs" role="group" aria-label="What to look at">
          <button v-for="(title, name) in tabs" :key="name" :aria-pressed="view.tab === name ? 'true' : 'false'" @click="act('tab', { tab: name })">{{ title }}</button>
        </div>
        <label class="inline">Fit <select :value="view.fit" @change="act('show', { fit: +$event.target.value })"><option v-for="id in view.fits" :value="id">{{ id }}</option></select></label>
      </div>
      <p v-if="view.stale" class="hint">{{ counted(view.stale, "decision") }} since this fit began. They count at the next one.</p>
      <template v-if="view.tab === 'topic'">
        <div v-if="!view.key"><h1>Look at the result</h1><p class="lead"><template v-if="view.levels.length">{{ counted(view.documents, "document") }}. Expected right: {{ levels }}.</template><template v-else>{{ percent(view.coverage, 1) }} of {{ counted(view.documents, "document") }} are in a topic.</template> Select a topic in the tree<template v-if="view.places.length">, or start with <b>Other</b> and <b>None of these</b>, where new topics may hide</template>.</p>
          <section v-if="view.least.length" class="panel" aria-label="Topics to review first"><h2>Topics to review first</h2>
            <p class="soft">The fewest of their documents are expected to be right.</p>
            <ul class="files"><li v-for="topic in view.least" :key="topic.key"><button class="bare" @click="act('select', { key: topic.key })">{{ shownPath(topic.path) }}</button>
              <span class="soft">{{ withInterval(topic.right) }} of {{ counted(topic.count, "document") }}</span></li></ul></section>
          <section v-if="view.places.length" class="panel" aria-label="Where to look first"><h2>Where to look first</h2>
            <ul class="files"><li v-for="place in view.places" :key="place.key"><button class="bare" @click="act('select', { key: place.key })">{{ shownPath(place.path) }}</button>
              <span class="soft">{{ counted(place.count, "document") }} that fit no listed topic</span></li></ul></section>
          <proposals :proposals="view.proposals" :inside="view.inside" @act="(what) => $emit('act', what)"></proposals>
          <documents v-if="view.inside" :cards="view.cards" :page="view.page" :pages="view.pages" :total="view.total" @act="(what) => $emit('act', what)"></documents></div>
        <template v-else>
          <h1 class="path"><span v-for="name in crumbs(view.path)">{{ name }}</span></h1>
          <p class="soft">{{ counted(view.members, "document") }}<template v-if="view.members !== view.total">, {{ number(view.total) }} of them shown</template><template v-if="view.expected"> · expected right: {{ withInterval(view.expected) }}</template></p>
          <p v-if="view.words.length" class="words"><span v-for="word in view.words">{{ word }}</span></p>
          <div v-if="view.rivals.length" class="rivals"><h2>Where its uncertain documents could go instead</h2>
            <ul><li v-for="rival in view.rivals" :key="rival.key"><button class="bare" @click="act('select', { key: rival.key })">{{ shownPath(rival.path) }}</button>
              <span class="soft">{{ counted(rival.count, "document") }}</span></li></ul></div>
          <p v-if="!view.members" class="panel empty">No document is here.</p>
          <template v-else>
          <div class="row" v-if="!view.listed || view.members > 30"><button @click="act('groups')">{{ view.listed ? "Find groups in it" : "Find new topics in here" }}</button></div>
          <groups :groups="view.groups" @take="(what) => act('take_group', what)"></groups>
          <find :query="view.query" placeholder="Search the documents of this topic" @search="(query) => act('search', { query })"></find>
          <div class="row between"><div class="tabs" role="group" aria-label="Which documents">
            <button v-for="(about, kind) in view.kinds" :key="kind" :aria-pressed="view.kind === kind ? 'true' : 'false'" :title="about" @click="act('kind', { kind })">{{ kind[0].toUpperCase() + kind.slice(1) }}</button>
          </div>
          <filters :columns="view.columns" :filter="view.filter" @act="(what) => $emit('act', what)"></filters></div>
          <p v-if="!view.cards.length && (view.query || view.filter.column)" class="panel empty">No document of this topic matches.</p>
          <documents :cards="view.cards" :query="view.query" bulk :page="view.page" :pages="view.pages" :total="view.total"
            :why="view.why" :words="view.words" explain @act="(what) => $emit('act', what)"></documents>
          <p class="keys soft" v-if="view.cards.length"><kbd>↑</kbd><kbd>↓</kbd> move <kbd>A</kbd> accept <kbd>R</kbd> reject <kbd>M</kbd> other topic <kbd>N</kbd> none of these <kbd>E</kbd> unsure <kbd>U</kbd> undo <kbd>W</kbd> why here <kbd>?</kbd> all keys</p>
          </template>
        </template>
      </template>
      <mapping v-else-if="view.tab === 'map'" :view="view" @select="(key) => act('select', { key })"></mapping>
      <overtime v-else-if="view.tab === 'time'" :view="view" @act="(what) => $emit('act', what)"></overtime>
      <changes v-else-if="view.tab === 'changes'" :view="view" @act="(what) => $emit('act', what)"></changes>
      <scores v-else :scores="view.scores"></scores>
    </template>`,
  computed: {
    levels() {
      return this.view.levels.map((value, i) => percent(value) + " at level " + (i + 1)).join(", ");
    },
    tabs() {
      const { scores, ...rest } = TABS;
      return this.view.has_scores ? TABS : rest;
    },
  },
};
