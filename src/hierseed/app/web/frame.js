// The header: where you are, what runs, and what was just done.
import { counted, duration, percent, shared } from "/workbench/web/shared.js";

export default {
  props: { view: Object },
  emits: ["act"],
  data: () => ({ notes: [], next: 0, theme: "light", shared }),
  template: `
    <header class="frame">
      <a class="skip" href="#stage">Skip to the work</a>
      <div class="brand">
        <svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="var(--leaf)"/><path d="M16 26V14M16 18c-5 0-7-3-7-7 4 0 7 2 7 7Zm0-4c0-5 2-8 7-8 0 5-3 8-7 8Z" fill="none" stroke="var(--paper)" stroke-width="2" stroke-linejoin="round" stroke-linecap="round"/></svg>
        <div><b>{{ view.project }}</b><span>{{ facts }}</span></div>
      </div>
      <nav aria-label="Steps"><ol>
        <li v-for="(step, i) in view.steps" :key="step.name">
          <a :href="'/' + step.name" :aria-current="step.name === view.screen ? 'page' : null"
             @click.prevent="go(step.name)"><i aria-hidden="true">{{ i + 1 }}</i>{{ step.title }}</a>
        </li>
      </ol></nav>
      <button class="quiet narrow-only" :aria-expanded="shared.treeOpen ? 'true' : 'false'" aria-controls="side"
              @click="shared.treeOpen = !shared.treeOpen">Topics</button>
      <button class="quiet" @click="turn" :aria-label="dark ? 'Light colours' : 'Dark colours'">{{ dark ? "☀" : "☾" }}</button>
    </header>
    <section v-if="view.job" class="job" aria-label="What runs now">
      <span class="phase">{{ view.job.phase }}</span>
      <progress :value="view.job.share" max="1" :aria-label="view.job.phase"></progress>
      <span class="soft">{{ standing }}</span>
      <button class="small" @click="$emit('act', { do: 'cancel' })">Cancel</button>
    </section>
    <div class="notes" role="status" aria-live="polite">
      <p v-for="note in notes" :key="note.id" :class="note.kind">
        <span>{{ note.text }}</span><button class="bare" aria-label="Dismiss" @click="drop(note.id)">×</button>
      </p>
    </div>`,
  computed: {
    facts() {
      const { documents, seeds, summary } = this.view;
      if (!documents) return "empty project";
      return counted(documents, "document") + " · " + counted(seeds, "seed") + (summary ? " · " + summary : "");
    },
    standing() {
      const { share, left, at_most, total } = this.view.job;
      const rest = left == null ? "" : " · " + (at_most ? "at most " : "about ") + duration(left) + " left";
      return total ? percent(share) + rest : "";
    },
    dark() {
      return this.theme === "dark";
    },
  },
  watch: {
    "view.screen"() {
      this.$nextTick(() => document.querySelector("nav a[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }));
    },
  },
  mounted() {
    // NiceGUI wraps everything in a main of its own; ours is the one that holds the work.
    document.querySelector("main.q-page")?.setAttribute("role", "presentation");
    document.getElementById("opening")?.remove();
  },
  created() {
    const kept = localStorage.getItem("hierseed-theme");
    this.setTheme(kept || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
    addEventListener("popstate", () => this.$emit("act", { do: "go", screen: this.here() }));
    const asked = this.here();
    if (asked && asked !== this.view.screen) this.$nextTick(() => this.$emit("act", { do: "go", screen: asked }));
  },
  methods: {
    here() {
      const name = location.pathname.slice(1);
      return this.view.steps.some((step) => step.name === name) ? name : "";
    },
    go(screen) {
      if (screen !== this.here()) history.pushState(null, "", "/" + screen);
      shared.treeOpen = false;
      this.$emit("act", { do: "go", screen });
    },
    setTheme(theme) {
      this.theme = theme;
      document.documentElement.dataset.theme = theme;
    },
    turn() {
      this.setTheme(this.theme === "dark" ? "light" : "dark");
      localStorage.setItem("hierseed-theme", this.theme);
    },
    tell(note) {
      const id = this.next++;
      this.notes = [...this.notes.slice(-2), { ...note, id }];
      if (note.kind !== "bad") setTimeout(() => this.drop(id), 5000);
    },
    drop(id) {
      this.notes = this.notes.filter((note) => note.id !== id);
    },
  },
};
