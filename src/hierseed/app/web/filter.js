// Show only documents with certain values in another column of the corpus.
export default {
  props: { columns: Array, filter: Object },
  emits: ["act"],
  template: `
    <div v-if="columns.length" class="row filter" role="group" aria-label="Filter by other columns">
      <label>Only where <select :value="filter.column" @change="set({ column: $event.target.value })"><option value="">– all documents –</option><option v-for="one in columns" :value="one.name">{{ one.name }}</option></select></label>
      <template v-if="chosen">
        <label v-if="chosen.values.length">is <select :value="filter.value" @change="set({ value: $event.target.value })"><option value="">anything</option><option v-for="value in chosen.values">{{ value }}</option></select></label>
        <template v-else-if="chosen.low !== null">
          <label>from <input type="text" inputmode="decimal" :value="filter.low ?? ''" :placeholder="chosen.low" @change="set({ low: parse($event.target.value) })"></label>
          <label>to <input type="text" inputmode="decimal" :value="filter.high ?? ''" :placeholder="chosen.high" @change="set({ high: parse($event.target.value) })"></label></template>
        <label v-else>is <input type="text" :value="filter.value" @change="set({ value: $event.target.value })"></label>
        <button class="small" @click="set({ column: '' })">Show all</button>
      </template>
    </div>`,
  computed: {
    chosen() {
      return this.columns.find((one) => one.name === this.filter.column);
    },
  },
  methods: {
    parse: (text) => (text.trim() === "" || Number.isNaN(+text) ? null : +text),
    set(change) {
      const clean = "column" in change ? { column: change.column, value: "", low: null, high: null } : { ...this.filter, ...change };
      this.$emit("act", { do: "filter", ...clean });
    },
  },
};
