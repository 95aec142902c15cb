// The corpus as a map: topics are islands, documents lie on them. Zoom, search, legend.
import { counted, number } from "/workbench/web/shared.js";

const EDGE = 24; // pixels around the islands

export default {
  props: { view: Object },
  emits: ["select"],
  data: () => ({ tip: null, find: "", zoom: 1, x: 0, y: 0 }),
  template: `
    <h1>Map of the corpus</h1>
    <p class="lead">Each island is a topic; the nearer a document lies to the shore, the less it fits. {{ counted(view.map.doc.length, "document") }} drawn. Click an island to open its topic.</p>
    <div class="row between maptools">
      <label class="grow">Find topics <input type="search" v-model="find" placeholder="A few letters of the name"></label>
      <div class="row" role="group" aria-label="Zoom"><button @click="scale(1.5)" aria-label="Zoom in">+</button><button @click="scale(1 / 1.5)" aria-label="Zoom out">−</button><button @click="whole" :disabled="zoom === 1">Whole map</button></div>
    </div>
    <p v-if="find" class="soft" role="status">{{ counted(hits.size, "island") }} with “{{ find }}”</p>
    <div class="mapbox" ref="box">
      <canvas ref="canvas" tabindex="0" role="img" :aria-label="'Map of ' + view.map.topic.length + ' topics; the tree at the side lists the same topics. Plus and minus zoom, arrows move.'"
        @mousemove="hover" @mouseleave="tip = null" @mousedown="grab" @click="click" @wheel.prevent="wheel" @keydown="key"></canvas>
      <div v-if="tip" class="tip" :style="{ left: tip.x + 'px', top: tip.y + 'px' }"><b>{{ tip.title }}</b><span v-if="tip.text">{{ tip.text }}</span></div>
    </div>
    <ul class="legend" aria-label="Colours"><li v-for="top in tops" :key="top.topic"><i :style="{ background: top.colour }"></i><button class="bare" @click="$emit('select', view.keys[top.topic])">{{ top.name }}</button> <span class="soft">{{ number(top.count) }}</span></li></ul>`,
  computed: {
    roots() {
      const { parents } = this.view;
      return parents.map((_, topic) => {
        let top = topic;
        while (parents[top] >= 0) top = parents[top];
        return top;
      });
    },
    hues() {
      const tops = this.view.parents.flatMap((parent, i) => (parent < 0 ? [i] : []));
      const place = new Map(tops.map((top, i) => [top, i]));
      return this.roots.map((top) => (place.get(top) * 360) / Math.max(1, tops.length) + 20);
    },
    tops() {
      const counts = new Map();
      for (const doc of this.view.map.doc) {
        const topic = this.view.docs.topic[doc];
        if (topic >= 0) counts.set(this.roots[topic], (counts.get(this.roots[topic]) || 0) + 1);
      }
      return [...counts].sort((a, b) => b[1] - a[1]).map(([topic, count]) => ({ topic, count, name: this.view.names[topic], colour: `oklch(0.62 0.13 ${this.hues[topic]})` }));
    },
    hits() {
      const words = this.find.toLowerCase().split(/\s+/).filter(Boolean);
      if (!words.length) return new Set();
      return new Set(this.view.map.topic.flatMap((topic, i) => (words.every((word) => this.title(topic).toLowerCase().includes(word)) ? [i] : [])));
    },
    // The square that the islands fill: the map uses all of it.
    frame() {
      const { tx, ty, r } = this.view.map;
      const low = (values) => Math.min(...values.map((v, i) => v - r[i]), Infinity);
      const high = (values) => Math.max(...values.map((v, i) => v + r[i]), -Infinity);
      if (!tx.length) return { left: -1, top: -1, width: 2, height: 2 };
      return { left: low(tx), top: low(ty), width: high(tx) - low(tx) || 1, height: high(ty) - low(ty) || 1 };
    },
  },
  mounted() {
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.$refs.box);
    this.themes = new MutationObserver(() => this.draw());
    this.themes.observe(document.documentElement, { attributes: true });
  },
  unmounted() {
    this.observer.disconnect();
    this.themes.disconnect();
  },
  watch: {
    view() {
      this.draw();
    },
    hits() {
      this.draw();
    },
  },
  methods: {
    counted,
    number,
    draw() {
      const canvas = this.$refs.canvas;
      if (!canvas) return;
      const width = this.$refs.box.clientWidth - 16;
      const above = this.$refs.box.getBoundingClientRect().top + window.scrollY;
      const room = window.innerHeight - above - 70; // so that the whole map is in sight
      const height = Math.max(340, Math.min(width * (this.frame.height / this.frame.width), room));
      const ratio = window.devicePixelRatio || 1;
      canvas.width = width * ratio;
      canvas.height = height * ratio;
      canvas.style.width = width + "px";
      canvas.style.height = height + "px";
      this.size = { width, height };
      this.unit = Math.min((width - 2 * EDGE) / this.frame.width, (height - 2 * EDGE) / this.frame.height) * this.zoom;
      const c = canvas.getContext("2d");
      c.scale(ratio, ratio);
      const dark = document.documentElement.dataset.theme === "dark";
      const { map, docs } = this.view;
      const faint = (i) => this.hits.size > 0 && !this.hits.has(i);
      map.topic.forEach((topic, i) => {
        c.globalAlpha = faint(i) ? 0.3 : 1;
        c.beginPath();
        c.arc(this.toX(map.tx[i]), this.toY(map.ty[i]), map.r[i] * this.unit, 0, 7);
        c.fillStyle = `oklch(${dark ? 0.3 : 0.94} ${dark ? 0.035 : 0.03} ${this.hues[topic]})`;
        c.fill();
      });
      // One path for each colour: a canvas draws few long paths much faster than many short ones.
      const colours = new Map();
      map.doc.forEach((doc, i) => {
        const topic = docs.topic[doc];
        const colour = topic < 0 ? "#9a958b" : `oklch(${dark ? 0.72 : 0.58} 0.11 ${this.hues[topic]})`;
        if (!colours.has(colour)) colours.set(colour, []);
        colours.get(colour).push(i);
      });
      c.globalAlpha = this.hits.size ? 0.25 : 0.75;
      const dot = Math.min(4, 2 * Math.sqrt(this.zoom));
      for (const [colour, points] of colours) {
        c.fillStyle = colour;
        for (const i of points) c.fillRect(this.toX(map.x[i]) - dot / 2, this.toY(map.y[i]) - dot / 2, dot, dot);
      }
      c.globalAlpha = 1;
      this.label(c, getComputedStyle(document.documentElement));
    },
    toX(value) {
      const { width } = this.size;
      return width / 2 + (value - this.frame.left - this.frame.width / 2) * this.unit + this.x;
    },
    toY(value) {
      const { height } = this.size;
      return height / 2 + (value - this.frame.top - this.frame.height / 2) * this.unit + this.y;
    },
    // Names, found ones and large islands first; one that would touch another is left out.
    label(c, style) {
      const { map } = this.view;
      const { width, height } = this.size;
      c.textAlign = "center";
      c.textBaseline = "middle";
      c.fillStyle = style.getPropertyValue("--ink");
      c.strokeStyle = style.getPropertyValue("--card");
      c.lineWidth = 3;
      const placed = [];
      const order = [...map.topic.keys()].sort((a, b) => this.hits.has(b) - this.hits.has(a) || map.r[b] - map.r[a]);
      for (const i of order) {
        const r = map.r[i] * this.unit;
        if (r < 14 && !this.hits.has(i)) continue;
        const size = Math.min(14, Math.max(10, r / 3));
        c.font = `600 ${size}px system-ui, sans-serif`;
        const name = this.short(map.topic[i]);
        const text = name.length > 28 ? name.slice(0, 26) + "…" : name;
        const half = c.measureText(text).width / 2 + 4;
        const x = this.toX(map.tx[i]);
        const y = this.toY(map.ty[i]);
        if (x + half > width || x - half < 0 || y < size || y > height - size) continue;
        if (placed.some((one) => Math.abs(one.x - x) < one.half + half && Math.abs(one.y - y) < (one.size + size) * 0.75)) continue;
        placed.push({ x, y, half, size });
        c.strokeText(text, x, y);
        c.fillText(text, x, y);
      }
    },
    short(topic) {
      const name = this.view.names[topic];
      const above = this.view.names[this.view.parents[topic]];
      if (!above || !name.startsWith(above)) return name;
      return name.slice(above.length).replace(/^\s*[:–-]\s*/, "") || name;
    },
    at(event) {
      const box = this.$refs.canvas.getBoundingClientRect();
      const x = event.clientX - box.left;
      const y = event.clientY - box.top;
      const { map, docs } = this.view;
      let best = -1;
      let near = 36;
      for (let i = 0; i < map.doc.length; i++) {
        const away = (this.toX(map.x[i]) - x) ** 2 + (this.toY(map.y[i]) - y) ** 2;
        if (away < near) [near, best] = [away, i];
      }
      const island = map.topic.findIndex((_, i) => Math.hypot(this.toX(map.tx[i]) - x, this.toY(map.ty[i]) - y) < map.r[i] * this.unit);
      const topic = island >= 0 ? map.topic[island] : best >= 0 ? docs.topic[map.doc[best]] : null;
      return { x, y, topic, doc: best >= 0 ? map.doc[best] : -1 };
    },
    title(topic) {
      const names = [];
      for (let t = topic; t >= 0; t = this.view.parents[t]) names.unshift(this.view.names[t]);
      return topic < 0 ? "None of these" : names.join(" › ");
    },
    hover(event) {
      if (this.held) return;
      const found = this.at(event);
      if (found.topic === null) return (this.tip = null);
      const x = Math.max(0, Math.min(found.x + 14, this.size.width - 260));
      this.tip = { x, y: found.y + 14, title: this.title(found.topic), text: found.doc >= 0 ? this.view.docs.text[found.doc] : "" };
    },
    grab(event) {
      const from = { x: event.clientX - this.x, y: event.clientY - this.y, moved: false };
      this.held = from;
      const drag = (event) => {
        const [x, y] = [event.clientX - from.x, event.clientY - from.y];
        if (Math.hypot(x - this.x, y - this.y) > 3) from.moved = true;
        if (from.moved) {
          [this.x, this.y, this.tip] = [x, y, null];
          this.draw();
        }
      };
      const drop = () => {
        removeEventListener("mousemove", drag);
        removeEventListener("mouseup", drop);
        this.dragged = from.moved;
        this.held = null;
      };
      addEventListener("mousemove", drag);
      addEventListener("mouseup", drop);
    },
    click(event) {
      if (this.dragged) return (this.dragged = false);
      const { topic } = this.at(event);
      if (topic !== null) this.$emit("select", topic < 0 ? "none" : this.view.keys[topic]);
    },
    scale(factor, x = 0, y = 0) {
      const zoom = Math.min(20, Math.max(1, this.zoom * factor));
      const by = zoom / this.zoom;
      this.zoom = zoom;
      [this.x, this.y] = zoom === 1 ? [0, 0] : [x + (this.x - x) * by, y + (this.y - y) * by];
      this.draw();
    },
    wheel(event) {
      const box = this.$refs.canvas.getBoundingClientRect();
      this.scale(event.deltaY < 0 ? 1.2 : 1 / 1.2, event.clientX - box.left - this.size.width / 2, event.clientY - box.top - this.size.height / 2);
    },
    whole() {
      this.scale(1 / 100);
    },
    key(event) {
      const steps = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
      if (event.key in steps) {
        this.x += steps[event.key][0];
        this.y += steps[event.key][1];
        this.draw();
      } else if (event.key === "+" || event.key === "-") this.scale(event.key === "+" ? 1.5 : 1 / 1.5);
      else return;
      event.preventDefault();
    },
  },
};
