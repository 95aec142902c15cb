// The corpus as a map: topics are islands, every document is a point. Zoom, search, legend.
import { helpers, inProject, shortName } from "/workbench/web/shared.js";

const EDGE = 24; // pixels around the islands
const NONE = "#9a958b"; // documents without a topic or a value
const LISTED = 60; // entries of the legend

// Read what the server packed: a header, then topic, x, y and the steps of a column.
function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const { n } = header;
  const start = 4 + length;
  return {
    ...header,
    topic: new Int32Array(buffer, start, n),
    x: new Uint16Array(buffer, start + 4 * n, n),
    y: new Uint16Array(buffer, start + 6 * n, n),
    step: header.titles.length ? new Int8Array(buffer, start + 8 * n, n) : null,
  };
}

// A CSS colour as the bytes of a pixel.
function pixel(colour, alpha) {
  const canvas = (pixel.canvas ||= new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true }));
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  const [r, g, b] = canvas.getImageData(0, 0, 1, 1).data;
  return ((Math.round(alpha * 255) << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

export default {
  mixins: [helpers],
  props: { view: Object },
  emits: ["select"],
  data: () => ({ tip: null, find: "", zoom: 1, x: 0, y: 0, by: "", fault: "", n: 0, legend: [] }),
  template: `
    <h1>Map of the corpus</h1>
    <p class="lead">Each island is a topic; the nearer a document lies to the shore, the less it fits. {{ counted(n, "document") }} drawn. Click an island to open its topic.</p>
    <div class="row between maptools">
      <label class="grow">Find topics <input type="search" v-model="find" placeholder="A few letters of the name"></label>
      <label v-if="view.columns.length">Colour by <select v-model="by"><option value="">topic</option><option v-for="column in view.columns" :value="column">{{ column }}</option></select></label>
      <div class="row" role="group" aria-label="Zoom"><button @click="scale(1.5)" aria-label="Zoom in">+</button><button @click="scale(1 / 1.5)" aria-label="Zoom out">−</button><button @click="whole" :disabled="zoom === 1">Whole map</button></div>
    </div>
    <p v-if="fault" class="hint bad" role="status">{{ fault }}</p>
    <p v-if="find" class="soft" role="status">{{ counted(hits.size, "island") }} with “{{ find }}”</p>
    <div class="mapbox" ref="box">
      <canvas ref="canvas" tabindex="0" role="img" :aria-label="'Map of ' + view.map.topic.length + ' topics; the tree at the side lists the same topics. Plus and minus zoom, arrows move.'"
        @mousemove="hover" @mouseleave="tip = null" @mousedown="grab" @click="click" @wheel.prevent="wheel" @keydown="key"></canvas>
      <div v-if="tip" class="tip" :style="{ left: tip.x + 'px', top: tip.y + 'px' }"><b>{{ tip.title }}</b><span v-if="tip.text">{{ tip.text }}</span></div>
    </div>
    <ul class="legend" aria-label="Colours"><li v-for="one in legend" :key="one.name"><i :style="{ background: one.colour }"></i>
      <button v-if="one.key" class="bare" @click="$emit('select', one.key)">{{ one.name }}</button><span v-else>{{ one.name }}</span> <span class="soft">{{ number(one.count) }} · {{ percent(one.count / Math.max(n, 1)) }}</span></li></ul>`,
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
    hits() {
      const words = this.find.toLowerCase().split(/\s+/).filter(Boolean);
      if (!words.length) return new Set();
      return new Set(this.view.map.topic.flatMap((topic, i) => (words.every((word) => this.title(topic).toLowerCase().includes(word)) ? [i] : [])));
    },
    // The square that the islands fill: the map uses all of it.
    frame() {
      const { tx, ty, r } = this.view.map;
      if (!tx.length) return { left: -1, top: -1, width: 2, height: 2 };
      const low = (values) => Math.min(...values.map((v, i) => v - r[i]));
      const high = (values) => Math.max(...values.map((v, i) => v + r[i]));
      return { left: low(tx), top: low(ty), width: high(tx) - low(tx) || 1, height: high(ty) - low(ty) || 1 };
    },
  },
  mounted() {
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.$refs.box);
    this.themes = new MutationObserver(() => this.draw());
    this.themes.observe(document.documentElement, { attributes: true });
    this.fetch();
  },
  unmounted() {
    this.observer.disconnect();
    this.themes.disconnect();
    clearTimeout(this.asking);
  },
  watch: {
    view() {
      this.draw();
    },
    "view.points"() {
      this.fetch();
    },
    by() {
      this.fetch();
    },
    hits() {
      this.draw();
    },
  },
  methods: {
    async fetch() {
      const address = this.view.points + "&column=" + encodeURIComponent(this.by);
      this.wanted = address;
      const answer = await fetch(inProject(address)).catch(() => null);
      if (this.wanted !== address) return; // another one was asked for meanwhile
      if (!answer?.ok) {
        this.fault = answer ? (await answer.json()).fault : "The map could not be loaded. Try again.";
        return;
      }
      this.points = unpack(await answer.arrayBuffer());
      this.fault = "";
      this.n = this.points.n;
      this.draw();
    },
    // Draw once before the browser paints, however often it was asked for.
    draw() {
      if (!this.frameAsked) this.frameAsked = requestAnimationFrame(() => ((this.frameAsked = 0), this.paint()));
    },
    paint() {
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
      const { map } = this.view;
      map.topic.forEach((topic, i) => {
        c.globalAlpha = this.hits.size && !this.hits.has(i) ? 0.3 : 1;
        c.beginPath();
        c.arc(this.toX(map.tx[i]), this.toY(map.ty[i]), map.r[i] * this.unit, 0, 7);
        c.fillStyle = this.by ? (dark ? "#2b2926" : "#efece6") : `oklch(${dark ? 0.3 : 0.94} ${dark ? 0.035 : 0.03} ${this.hues[topic]})`;
        c.fill();
      });
      c.globalAlpha = 1;
      if (this.points) {
        const image = this.raster(canvas.width, canvas.height, ratio, dark);
        c.drawImage(image, 0, 0, width, height);
        canvas.dataset.drawn = this.points.n;
      }
      this.label(c, getComputedStyle(document.documentElement));
    },
    // The colour of each topic or step, and the legend that explains it.
    colours(dark) {
      const light = dark ? 0.72 : 0.58;
      const { titles, ordered, step, topic } = this.points;
      if (step) {
        const last = Math.max(1, titles.length - 1);
        const colour = (i) => (ordered ? `oklch(${dark ? 0.45 + (0.45 * i) / last : 0.8 - (0.5 * i) / last} 0.13 ${260 - (200 * i) / last})` : `oklch(${light} 0.13 ${(i * 360) / titles.length + 20})`);
        return { of: step, all: titles.map((name, i) => ({ name, colour: colour(i), key: "" })), missing: "no value" };
      }
      const all = this.view.names.map((name, i) => ({ name, colour: `oklch(${light} 0.11 ${this.hues[i]})`, key: this.view.keys[i] }));
      return { of: topic, all, missing: "None of these", roots: this.roots };
    },
    raster(width, height, ratio, dark) {
      const { x, y, n, low, size } = this.points;
      const { of, all, missing, roots } = this.colours(dark);
      const known = new Map();
      const colour = (css) => known.get(css) ?? known.set(css, [pixel(css, 0.8), pixel(css, 0.16)]).get(css);
      const table = [...all.map((one) => colour(one.colour)), colour(NONE)];
      const counts = new Array(all.length + 1).fill(0);
      const found = this.hits.size ? this.within() : null;
      const image = new ImageData(width, height);
      const pixels = new Uint32Array(image.data.buffer);
      const ax = (size[0] / 65535) * this.unit * ratio;
      const ay = (size[1] / 65535) * this.unit * ratio;
      const bx = this.toX(low[0]) * ratio;
      const by = this.toY(low[1]) * ratio;
      const dot = Math.max(1, Math.round(ratio * Math.min(4, (n > 40000 ? 1 : 2) * Math.sqrt(this.zoom))));
      for (let i = 0; i < n; i++) {
        const which = of[i] < 0 ? all.length : of[i];
        counts[roots && of[i] >= 0 ? roots[which] : which]++;
        const left = Math.round(x[i] * ax + bx - dot / 2);
        const top = Math.round(y[i] * ay + by - dot / 2);
        if (left < 0 || top < 0 || left + dot > width || top + dot > height) continue;
        const value = table[which][found && !found[this.points.topic[i] < 0 ? found.length - 1 : this.points.topic[i]] ? 1 : 0];
        for (let row = 0; row < dot; row++) pixels.fill(value, (top + row) * width + left, (top + row) * width + left + dot);
      }
      const entries = all.map((one, i) => ({ ...one, count: counts[i] })).filter((one) => one.count);
      if (roots) entries.sort((a, b) => b.count - a.count);
      if (counts.at(-1)) entries.push({ name: missing, colour: NONE, key: roots ? "none" : "", count: counts.at(-1) });
      const legend = entries.slice(0, LISTED);
      if (JSON.stringify(legend) !== JSON.stringify(this.legend)) this.legend = legend;
      const buffer = new OffscreenCanvas(width, height);
      buffer.getContext("2d").putImageData(image, 0, 0);
      return buffer;
    },
    // Which topics lie on islands that were found; the last entry is None.
    within() {
      const islands = new Set([...this.hits].map((i) => this.view.map.topic[i]));
      const { parents } = this.view;
      const found = parents.map((_, topic) => {
        for (let t = topic; t >= 0; t = parents[t]) if (islands.has(t)) return true;
        return false;
      });
      return [...found, false];
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
      return shortName(this.view.names[topic], this.view.names[this.view.parents[topic]]);
    },
    // The point and the topic under the pointer.
    at(event) {
      const box = this.$refs.canvas.getBoundingClientRect();
      const x = event.clientX - box.left;
      const y = event.clientY - box.top;
      const { map } = this.view;
      const island = map.topic.findIndex((_, i) => Math.hypot(this.toX(map.tx[i]) - x, this.toY(map.ty[i]) - y) < map.r[i] * this.unit);
      const found = { x, y, topic: island >= 0 ? map.topic[island] : null, row: -1 };
      const { points } = this;
      if (!points) return found;
      const ax = (points.size[0] / 65535) * this.unit;
      const ay = (points.size[1] / 65535) * this.unit;
      const bx = this.toX(points.low[0]) - x;
      const by = this.toY(points.low[1]) - y;
      let near = 36;
      for (let i = 0; i < points.n; i++) {
        const dx = points.x[i] * ax + bx;
        const dy = points.y[i] * ay + by;
        const away = dx * dx + dy * dy;
        if (away < near) [near, found.row] = [away, i];
      }
      if (found.topic === null && found.row >= 0) found.topic = points.topic[found.row];
      return found;
    },
    title(topic) {
      const names = [];
      for (let t = topic; t >= 0; t = this.view.parents[t]) names.unshift(this.view.names[t]);
      return topic < 0 ? "None of these" : names.join(" › ");
    },
    hover(event) {
      if (this.held) return;
      const found = this.at(event);
      clearTimeout(this.asking);
      if (found.topic === null) return (this.tip = null);
      const x = Math.max(0, Math.min(found.x + 14, this.size.width - 260));
      const own = found.row >= 0 ? this.points.topic[found.row] : found.topic;
      const value = found.row >= 0 && this.points.step ? " · " + this.by + " " + (this.points.titles[this.points.step[found.row]] ?? "–") : "";
      const same = this.tip && this.tip.row === found.row;
      this.tip = { x, y: found.y + 14, row: found.row, title: this.title(own) + value, text: same ? this.tip.text : "" };
      if (found.row >= 0 && this.points.rows && !same) this.asking = setTimeout(() => this.read(found.row), 60);
    },
    // The text of the document under the pointer comes when the pointer rests.
    async read(row) {
      const answer = await fetch(inProject("/workbench/document/" + row)).catch(() => null);
      const found = answer?.ok ? await answer.json() : null;
      if (found && this.tip?.row === row) this.tip.text = found.text;
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
      const zoom = Math.min(40, Math.max(1, this.zoom * factor));
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
