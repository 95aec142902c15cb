// The field that searches documents by words; "/" goes to it.
import { shared, typing } from "/workbench/web/shared.js";

export default {
  props: { query: String, placeholder: String },
  emits: ["search"],
  data: () => ({ text: "" }),
  template: `
    <form role="search" class="search" @submit.prevent="search">
      <input v-model="text" ref="field" type="search" aria-label="Search the documents" :placeholder="placeholder" @input="soon">
      <kbd aria-hidden="true">/</kbd>
    </form>`,
  watch: {
    query(now) {
      if (document.activeElement !== this.$refs.field) this.text = now;
    },
  },
  created() {
    this.text = this.query;
    this.listen = (event) => {
      if (event.key !== "/" || !shared.keys || typing(event)) return;
      event.preventDefault();
      this.$refs.field.focus();
    };
    addEventListener("keydown", this.listen);
  },
  unmounted() {
    clearTimeout(this.timer);
    removeEventListener("keydown", this.listen);
  },
  methods: {
    search() {
      clearTimeout(this.timer);
      this.$emit("search", this.text);
    },
    soon() {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.search(), 250);
    },
  },
};
