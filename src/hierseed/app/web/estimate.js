// A value with its interval, as text and as a small bar.
export default {
  props: { of: Object, digits: { type: Number, default: 1 }, percent: Boolean },
  template: `
    <span v-if="of.value === null" class="soft">–</span>
    <span v-else class="estimate"><b>{{ show(of.value) }}</b><span v-if="of.low !== null" class="soft"> {{ show(of.low) }} to {{ show(of.high) }}</span>
      <span v-if="of.low !== null" class="span" aria-hidden="true"><i :style="{ left: at(of.low) + '%', width: Math.max(1, at(of.high) - at(of.low)) + '%' }"></i><em :style="{ left: at(of.value) + '%' }"></em></span></span>`,
  methods: {
    show(value) {
      return this.percent ? Math.round(100 * value) + "%" : value.toFixed(this.digits);
    },
    at(value) {
      return 100 * Math.min(1, Math.max(0, value));
    },
  },
};
