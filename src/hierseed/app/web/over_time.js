// Topics over the values of a column: lines over numbers and dates, bars for other values, and the
// same as a table.
import { crumbs, number, percent } from "/workbench/web/shared.js";

const WIDTH = 900;
const HEIGHT = 340;
const LEFT = 48;
const BOTTOM = 34;
const RIGHT = 44; // room for half of the last title
const STEPS = [0.01, 0.02, 0.05, 0.1, 0.2]; // between two lines of the grid

export default {
  props: { view: Object },
  emits: ["act"],
  data: () => ({ shown: null }),
  template: `
    <h1>Topics {{ view.chart && !view.chart.ordered ? "by" : "over" }} {{ view.column || "time" }}</h1>
    <p v-if="!view.columns.length" class="panel empty">The corpus has no other columns. Load a table with one, such as the year.</p>
    <template v-else>
      <label class="inline">Column <select :value="view.column" @change="$emit('act', { do: 'column', column: $event.target.value })"><option v-for="one in view.columns" :value="one.name">{{ one.name }}</option></select></label>
      <p v-if="!view.chart" class="panel empty">This column has too many different values for a chart.</p>
      <template v-else>
        <p class="lead">Share of documents<template v-if="view.chart.above"> within <b>{{ crumbs(view.chart.above).join(" › ") }}</b></template>. Select a topic in the tree to look inside it.</p>
        <svg v-if="view.chart.ordered" class="chart" :viewBox="'0 0 ' + W + ' ' + H" role="img" :aria-label="'Shares of ' + view.chart.lines.length + ' topics over ' + view.column + '; the table below has the numbers'">
          <g v-for="tick in ticks"><line :x1="L" :x2="W" :y1="y(tick)" :y2="y(tick)" class="grid"/><text :x="L - 8" :y="y(tick) + 4" text-anchor="end">{{ percent(tick) }}</text></g>
          <text v-for="(title, i) in view.chart.titles" v-show="i % every === 0" :x="x(i)" :y="H - 10" text-anchor="middle">{{ title }}</text>
          <polyline v-for="(line, i) in view.chart.lines" :points="points(line)" fill="none" :stroke="colour(i)" :stroke-width="shown === i ? 4 : 2" :opacity="shown === null || shown === i ? 1 : .25"/>
        </svg>
        <table v-else class="bars"><caption class="soft">The largest values first. The rest of a bar is in other topics.</caption>
          <tbody><tr v-for="i in largest" :key="i"><th scope="row">{{ view.chart.titles[i] }}</th><td class="n">{{ number(view.chart.totals[i]) }}</td>
            <td><div class="stack" role="img" :aria-label="spoken(i)"><i v-for="(line, k) in view.chart.lines" :style="{ width: 100 * line.shares[i] + '%', background: colour(k), opacity: shown === null || shown === k ? 1 : .25 }" :title="line.name + ' ' + percent(line.shares[i])"></i></div></td></tr></tbody></table>
        <ul class="legend" aria-label="Topics"><li v-for="(line, i) in view.chart.lines" :key="line.key" @mouseenter="shown = i" @mouseleave="shown = null"><i :style="{ background: colour(i) }"></i><button class="bare" @click="$emit('act', { do: 'select', key: line.key })" @focus="shown = i" @blur="shown = null">{{ line.name }}</button></li></ul>
        <details><summary>As a table</summary><div class="scroll" tabindex="0" role="region" aria-label="Documents of each topic and step"><table><thead><tr><th>{{ view.column }}</th><th class="n">All</th><th v-for="line in view.chart.lines" class="n">{{ line.name }}</th></tr></thead>
          <tbody><tr v-for="(title, i) in view.chart.titles"><th scope="row">{{ title }}</th><td class="n">{{ number(view.chart.totals[i]) }}</td><td v-for="line in view.chart.lines" class="n">{{ number(line.counts[i]) }}</td></tr></tbody></table></div></details>
      </template>
    </template>`,
  computed: {
    W: () => WIDTH,
    H: () => HEIGHT,
    L: () => LEFT,
    most() {
      return Math.max(0.05, ...this.view.chart.lines.flatMap((line) => line.shares)) * 1.05;
    },
    ticks() {
      const step = STEPS.find((one) => this.most / one <= 5) ?? 0.25;
      return Array.from({ length: Math.floor(this.most / step) + 1 }, (_, i) => i * step);
    },
    largest() {
      const { totals } = this.view.chart;
      return totals.map((_, i) => i).filter((i) => totals[i]).sort((a, b) => totals[b] - totals[a]);
    },
    every() {
      return Math.ceil(this.view.chart.titles.length / 12);
    },
  },
  methods: {
    crumbs,
    number,
    percent,
    colour(i) {
      return `oklch(0.6 0.13 ${(i * 360) / Math.max(this.view.chart.lines.length, 1) + 20})`;
    },
    x(i) {
      return LEFT + 10 + (i * (WIDTH - LEFT - RIGHT)) / Math.max(1, this.view.chart.titles.length - 1);
    },
    y(share) {
      return 10 + (HEIGHT - BOTTOM - 10) * (1 - share / this.most);
    },
    spoken(i) {
      const { lines, titles } = this.view.chart;
      return titles[i] + ": " + lines.filter((line) => line.shares[i]).map((line) => line.name + " " + percent(line.shares[i])).join(", ");
    },
    points(line) {
      return line.shares.map((share, i) => this.x(i) + "," + this.y(share)).join(" ");
    },
  },
};
