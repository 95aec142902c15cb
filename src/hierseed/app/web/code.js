// Validate: samples that several people code.
export default {
  props: { view: Object },
  emits: ["act"],
  template: `<h1>Validate</h1><p class="lead">Draw a sample, code it, and see how right the fit is.</p>`,
};
