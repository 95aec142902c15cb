// The corpus as a map: topics are islands, documents lie on them. Drawn on a canvas.
import { counted } from "/workbench/web/shared.js";

export default {
  props: { view: Object },
  emits: ["select"],
  data: () => ({ tip: null }),
  template: `
    <h1>Map of the corpus</h1>
    <p class="lead">Each island is a topic; a document lies the nearer to the shore the less it fits. {{ counted(view.map.doc.length, "document") }} drawn. Click an island to open its topic.</p>
    <div class="mapbox">
      <canvas ref="canvas" role="img" :aria-label="'Map of ' + view.map.topic.length + ' topics; the tree at the side lists the same topics'" @mousemove="hover" @mouseleave="tip = null" @click="click"></canvas>
      <div v-if="tip" class="tip" :style="{ left: tip.x + 'px', top: tip.y + 'px' }"><b>{{ tip.title }}</b><span v-if="tip.text">{{ tip.text }}</span></div>
    </div>`,
  mounted() {
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.$refs.canvas.parentElement);
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
  },
  methods: {
    counted,
    hue(topic) {
      let top = topic;
      while (this.view.parents[top] >= 0) top = this.view.parents[top];
      const roots = this.view.parents.flatMap((parent, i) => (parent < 0 ? [i] : []));
      return (roots.indexOf(top) * 360) / Math.max(1, roots.length) + 20;
    },
    draw() {
      const canvas = this.$refs.canvas;
      if (!canvas) return;
      const side = Math.min(canvas.parentElement.clientWidth, 760);
      const ratio = window.devicePixelRatio || 1;
      canvas.width = canvas.height = side * ratio;
      canvas.style.width = canvas.style.height = side + "px";
      const c = canvas.getContext("2d");
      c.scale(ratio, ratio);
      this.side = side;
      this.at = (v) => (v * 0.97 + 1) * (side / 2);
      const style = getComputedStyle(document.documentElement);
      const dark = document.documentElement.dataset.theme === "dark";
      const { map, docs } = this.view;
      map.topic.forEach((topic, i) => {
        c.beginPath();
        c.arc(this.at(map.tx[i]), this.at(map.ty[i]), map.r[i] * 0.97 * (side / 2), 0, 7);
        c.fillStyle = `oklch(${dark ? 0.3 : 0.94} ${dark ? 0.035 : 0.03} ${this.hue(topic)})`;
        c.fill();
      });
      map.doc.forEach((doc, i) => {
        const topic = docs.topic[doc];
        c.fillStyle = topic < 0 ? "#9a958b" : `oklch(${dark ? 0.72 : 0.58} 0.11 ${this.hue(topic)})`;
        c.globalAlpha = 0.75;
        c.beginPath();
        c.arc(this.at(map.x[i]), this.at(map.y[i]), 1.7, 0, 7);
        c.fill();
      });
      c.globalAlpha = 1;
      c.textAlign = "center";
      c.textBaseline = "middle";
      c.fillStyle = style.getPropertyValue("--ink");
      c.strokeStyle = style.getPropertyValue("--card");
      c.lineWidth = 3;
      this.label(c, side);
    },
    // Names, the largest island's first; one that would lie on another is left to the pointer.
    label(c, side) {
      const { map } = this.view;
      const names = map.topic.map((topic) => this.view.names[topic]);
      const placed = [];
      for (const i of [...names.keys()].sort((a, b) => map.r[b] - map.r[a])) {
        const r = map.r[i] * (side / 2);
        if (r < 15) break;
        const size = Math.min(13, Math.max(9, r / 3));
        c.font = `600 ${size}px system-ui, sans-serif`;
        const above = this.view.parents[map.topic[i]];
        const twice = above >= 0 && names.indexOf(names[i]) !== names.lastIndexOf(names[i]);
        const name = twice ? `${this.view.names[above]}: ${names[i]}` : names[i];
        const text = name.length > 26 ? name.slice(0, 24) + "…" : name;
        const half = c.measureText(text).width / 2 + 2;
        const x = Math.min(Math.max(this.at(map.tx[i]), half), side - half);
        const y = this.at(map.ty[i]);
        if (placed.some((one) => Math.abs(one.x - x) < one.half + half && Math.abs(one.y - y) < (one.size + size) * 0.6)) continue;
        placed.push({ x, y, half, size });
        c.strokeText(text, x, y);
        c.fillText(text, x, y);
      }
    },
    find(event) {
      const box = this.$refs.canvas.getBoundingClientRect();
      const x = event.clientX - box.left;
      const y = event.clientY - box.top;
      const { map, docs } = this.view;
      let best = -1;
      let near = 36;
      map.doc.forEach((doc, i) => {
        const away = (this.at(map.x[i]) - x) ** 2 + (this.at(map.y[i]) - y) ** 2;
        if (away < near) [near, best] = [away, i];
      });
      const island = map.topic.findIndex((_, i) => Math.hypot(this.at(map.tx[i]) - x, this.at(map.ty[i]) - y) < map.r[i] * (this.side / 2));
      const topic = island >= 0 ? map.topic[island] : best >= 0 ? docs.topic[map.doc[best]] : null;
      return { x, y, topic, doc: best >= 0 ? map.doc[best] : -1 };
    },
    title(topic) {
      const names = [];
      for (let t = topic; t >= 0; t = this.view.parents[t]) names.unshift(this.view.names[t]);
      return topic < 0 ? "None of these" : names.join(" › ");
    },
    hover(event) {
      const found = this.find(event);
      if (found.topic === null) return (this.tip = null);
      const x = Math.min(found.x + 14, this.side - 240);
      this.tip = { x, y: found.y + 14, title: this.title(found.topic), text: found.doc >= 0 ? this.view.docs.text[found.doc] : "" };
    },
    click(event) {
      const { topic } = this.find(event);
      if (topic !== null) this.$emit("select", topic < 0 ? "none" : this.view.keys[topic]);
    },
  },
};
