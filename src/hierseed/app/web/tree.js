// The taxonomy, always in sight. What is inside is drawn again only when it changes.
import branches from "/workbench/web/tree_lines.js";
import { pass } from "/workbench/web/shared.js";

export default {
  components: { branches },
  props: { view: Object },
  emits: ["act"],
  template: `<branches :view="view" @act="send"></branches>`,
  methods: {
    send(what) {
      pass(this, what);
    },
  },
};
