// The header: where you are, what runs, undo and redo, who you are, and what was just done.
import { counted, duration, helpers, KEYS, pass, percent, shared, typing } from "/workbench/web/shared.js";

const ID = "hierseed-browser";

export default {
  mixins: [helpers],
  props: { view: Object },
  data: () => ({ notes: [], next: 0, theme: "light", naming: false, name: "", KEYS, shared }),
  template: `
    <header class="frame">
      <a class="skip" href="#stage">Skip to the work</a>
      <div class="brand">
        <svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="var(--leaf)"/><path d="M16 26V14M16 18c-5 0-7-3-7-7 4 0 7 2 7 7Zm0-4c0-5 2-8 7-8 0 5-3 8-7 8Z" fill="none" stroke="var(--paper)" stroke-width="2" stroke-linejoin="round" stroke-linecap="round"/></svg>
        <div><b>{{ view.project }}<a v-if="view.listed" class="allprojects" href="/">All projects</a></b><span :title="[view.summary && view.summary.includes(', ') ? view.summary + ' at levels 1, 2 …' : view.summary, counted(view.documents, 'document'), counted(view.seeds, 'seed')].filter(Boolean).join(' · ')">{{ facts }}</span></div>
      </div>
      <nav aria-label="Steps"><ol>
        <li v-for="(step, i) in view.steps" :key="step.name">
          <a :href="inProject('/' + step.name)" :aria-current="step.name === view.screen ? 'page' : null"
             @click.prevent="go(step.name)"><i aria-hidden="true">{{ i + 1 }}</i>{{ step.title }}</a>
        </li>
      </ol></nav>
      <div class="tools">
        <button class="quiet narrow-only" :aria-expanded="shared.treeOpen ? 'true' : 'false'" aria-controls="side"
                @click="shared.treeOpen = !shared.treeOpen">Topics</button>
        <button class="quiet" :disabled="!view.undo" :title="view.undo ? 'Undo: ' + shown(view.undo[1]) : 'Nothing to undo'" aria-label="Undo your last step" @click="send({ do: 'undo', expected: view.undo[0] })">↶</button>
        <button class="quiet" :disabled="!view.redo" :title="view.redo ? 'Redo: ' + shown(view.redo[1]) : 'Nothing to redo'" aria-label="Redo" @click="send({ do: 'redo', expected: view.redo[0] })">↷</button>
        <button class="quiet" :title="view.coder ? 'You code as ' + view.coder : 'Enter your name'" @click="ask">{{ view.coder || "Your name" }}</button>
        <button class="quiet" aria-label="Keys" title="Keys" @click="$refs.keys.showModal()">?</button>
        <button class="quiet" @click="turn" :aria-label="dark ? 'Light colours' : 'Dark colours'">{{ dark ? "☀" : "☾" }}</button>
      </div>
    </header>
    <p v-if="!shared.online" class="banner" role="alert">No connection to the workbench. Nothing that you do now is saved<template v-if="shared.refused"> ({{ counted(shared.refused, "click") }} refused)</template>. The page reconnects by itself.</p>
    <p v-else-if="view.unfinished" class="banner" role="status">Loading {{ view.unfinished.name }} was interrupted: {{ number(view.unfinished.done) }} of {{ view.unfinished.total ? number(view.unfinished.total) : "its" }} documents are loaded. <button class="bare" @click="go('load')">Resume or discard</button></p>
    <section v-if="view.job" class="job" aria-label="What runs now">
      <span class="phase">{{ view.job.phase }}</span>
      <progress :value="view.job.share" max="1" :aria-label="view.job.phase"></progress>
      <span class="soft">{{ standing }}</span>
      <button class="small" @click="send({ do: 'cancel' })">Cancel</button>
    </section>
    <div class="notes" role="status" aria-live="polite">
      <p v-for="note in notes" :key="note.id" :class="note.kind">
        <span>{{ shown(note.text) }}</span><button class="bare" aria-label="Dismiss" @click="drop(note.id)">×</button>
      </p>
    </div>
    <dialog ref="keys" class="picker" aria-label="Keys" @click.self="$refs.keys.close()">
      <h2>Keys</h2>
      <p class="soft">They act on the card that has the focus.</p>
      <table class="keylist"><tbody><tr v-for="[key, what] in KEYS"><th scope="row"><kbd>{{ key }}</kbd></th><td>{{ what }}</td></tr></tbody></table>
      <label class="check"><input type="checkbox" :checked="shared.keys" @change="setKeys($event.target.checked)"> Single-letter keys are on</label>
      <button @click="$refs.keys.close()">Close</button>
    </dialog>
    <dialog ref="who" class="picker" aria-label="Your name" @click.self="$refs.who.close()">
      <form method="dialog" @submit="hello(name)">
        <label>Your name, shown with your decisions <input v-model="name" ref="name" list="coders" maxlength="60" autocomplete="off" @keydown.stop></label>
        <datalist id="coders"><option v-for="coder in view.coders" :value="coder"></option></datalist>
        <div class="row"><button class="main">Save</button><button type="button" @click="$refs.who.close()">Cancel</button></div>
      </form>
    </dialog>`,
  computed: {
    facts() {
      const { documents, seeds, summary } = this.view;
      if (!documents) return "empty project";
      return summary || counted(documents, "document") + " · " + counted(seeds, "seed");
    },
    standing() {
      const { share, left, at_most, total } = this.view.job;
      const rest = left == null ? "" : " · " + (at_most ? "at most " : "about ") + duration(left) + " left";
      return total || share ? percent(Math.min(share, 0.99)) + rest : "";
    },
    dark() {
      return this.theme === "dark";
    },
  },
  watch: {
    view: {
      immediate: true,
      handler(now) {
        shared.coder = now.coder;
        shared.project = now.listed ? now.project : "";
        shared.key = now.key;
        shared.answered++;
      },
    },
    "view.screen": {
      immediate: true,
      handler() {
        this.$nextTick(() => document.querySelector("nav a[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" }));
      },
    },
    // The address always names what is shown: Back, reload and a copied link find it again.
    "view.address"(now) {
      const here = location.pathname + location.search;
      if (now === here) return;
      const place = (address) => new URL(address, location.href);
      const topic = (address) => place(address).pathname + (place(address).searchParams.get("topic") || "");
      if (topic(now) === topic(here)) history.replaceState(null, "", now);
      else history.pushState(null, "", now);
    },
  },
  mounted() {
    document.getElementById("opening")?.remove();
    this.watcher = setInterval(() => {
      shared.online = !window.socket || window.socket.connected;
      if (shared.online) shared.refused = 0;
    }, 300);
    this.hello(localStorage.getItem("hierseed-coder") || "");
  },
  unmounted() {
    clearInterval(this.watcher);
    removeEventListener("keydown", this.key);
  },
  created() {
    const kept = localStorage.getItem("hierseed-theme");
    this.setTheme(kept || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
    addEventListener("popstate", () => this.send({ do: "restore", address: location.pathname + location.search }));
    addEventListener("keydown", this.key);
  },
  methods: {
    send(what) {
      pass(this, what);
    },
    go(screen) {
      shared.treeOpen = false;
      this.send({ do: "go", screen });
    },
    ask() {
      this.name = this.view.coder;
      this.$refs.who.showModal();
      this.$refs.name.focus();
    },
    // Send the server who sits here: a name, and a key of this browser for undo without one.
    hello(name) {
      name = name.trim();
      localStorage.setItem("hierseed-coder", name);
      if (!localStorage.getItem(ID)) localStorage.setItem(ID, Math.random().toString(36).slice(2) + Date.now().toString(36));
      this.$emit("act", { do: "hello", key: localStorage.getItem(ID), name });
    },
    key(event) {
      if (typing(event)) return;
      const letter = event.key.toLowerCase();
      if ((event.ctrlKey || event.metaKey) && (letter === "z" || letter === "y")) {
        const again = letter === "y" || event.shiftKey;
        if (again ? this.view.redo : this.view.undo) this.send({ do: again ? "redo" : "undo" });
      } else if (event.key === "?" && shared.keys && !document.querySelector("dialog[open]")) this.$refs.keys.showModal();
      else return;
      event.preventDefault();
    },
    setKeys(on) {
      shared.keys = on;
      localStorage.setItem("hierseed-keys", on ? "on" : "off");
    },
    setTheme(theme) {
      this.theme = theme;
      document.documentElement.dataset.theme = theme;
    },
    turn() {
      this.setTheme(this.theme === "dark" ? "light" : "dark");
      localStorage.setItem("hierseed-theme", this.theme);
    },
    addNote(note) {
      shared.answered++;
      const id = this.next++;
      this.notes = [...this.notes.slice(-2), { ...note, id }];
      if (note.kind !== "bad") setTimeout(() => this.drop(id), 6000);
    },
    drop(id) {
      this.notes = this.notes.filter((note) => note.id !== id);
    },
  },
};
