// Scores against gold labels, level by level.
import { helpers } from "/workbench/web/shared.js";

const ROWS = {
  bcubed_f1: "B-cubed F1",
  bcubed_precision: "B-cubed precision",
  bcubed_recall: "B-cubed recall",
  v_measure: "V-measure",
  accuracy: "Accuracy",
  macro_f1: "Macro F1",
};

export default {
  mixins: [helpers],
  props: { scores: Object },
  data: () => ({ ROWS }),
  template: `
    <h1>Scores against expert labels</h1>
    <p class="lead">{{ number(scores.documents) }} documents with expert labels, seeds left out; every document and every level counts.</p>
    <table><thead><tr><th>Measure</th><th v-for="(level, i) in scores.all.levels" class="n">Level {{ i + 1 }}</th><th class="n">Mean</th></tr></thead>
      <tbody><tr v-for="(title, name) in ROWS"><th scope="row">{{ title }}</th><td v-for="level in scores.all.levels" class="n">{{ show(level[name]) }}</td><td class="n"><b>{{ show(scores.all.mean[name]) }}</b></td></tr></tbody></table>
    <p class="soft">As the published evaluation counts (documents without a place left out, the root counted as a level): B-cubed F1 {{ show(scores.paper.mean.bcubed_f1) }}.</p>`,
  methods: {
    show: (value) => (value == null ? "–" : value.toFixed(3)),
  },
};
