// The screen of the step that is open.
import code from "/workbench/web/code.js";
import exporting from "/workbench/web/export.js";
import fit from "/workbench/web/fit.js";
import load from "/workbench/web/load.js";
import review from "/workbench/web/review.js";
import seeds from "/workbench/web/seeds.js";
import { pass } from "/workbench/web/shared.js";
import taxonomy from "/workbench/web/taxonomy.js";

const screens = { load, taxonomy, seeds, fit, review, code, export: exporting };

export default {
  props: { view: Object },
  emits: ["act"],
  template: `
    <div class="stagebox"><div id="stage" tabindex="-1">
      <component :is="screen" :view="view.view" @act="send"></component>
    </div></div>`,
  computed: {
    screen() {
      return Vue.markRaw(screens[this.view.name]);
    },
  },
  watch: {
    "view.name"() {
      document.getElementById("stage")?.scrollTo(0, 0);
      window.scrollTo(0, 0);
    },
  },
  methods: {
    send(what) {
      pass(this, what);
    },
  },
};
