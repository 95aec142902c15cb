// Documents, seeds and expected accuracy of each line of the tree. They change with every decision, the lines do not.
import * as Vue from "vue";
import { shared } from "/workbench/web/shared.js";

export default {
  props: { view: Object },
  render: () => null,
  watch: {
    view: {
      immediate: true,
      handler(now) {
        shared.numbers = Vue.markRaw(Vue.toRaw(now.lines));
        shared.expected = Vue.markRaw(Vue.toRaw(now.expected));
        shared.total = now.total;
      },
    },
  },
};
