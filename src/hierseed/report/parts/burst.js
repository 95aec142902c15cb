// The sunburst: three rings below the topic in focus.
(function () {
  const RINGS = 3, EDGE = 298, WIDTHS = [0, 92, 112, 76]; // of a ring, by the number of rings
  const svg = draw("svg", { viewBox: "-300 -300 600 600", role: "img", "aria-label": "Share of documents per topic; the tree holds the same numbers" });
  byId("burst").append(svg);
  let shown = null;

  const point = (angle, r) => (r * Math.sin(angle)).toFixed(2) + " " + (-r * Math.cos(angle)).toFixed(2);
  function ring(a, b, r, s) {
    b = Math.min(b, a + 2 * Math.PI - 1e-4);
    const large = b - a > Math.PI ? 1 : 0;
    return "M" + point(a, s) + "A" + s + " " + s + " 0 " + large + " 1 " + point(b, s) +
      "L" + point(b, r) + "A" + r + " " + r + " 0 " + large + " 0 " + point(a, r) + "Z";
  }
  function heightBelow(t) {
    const below = t === ALL ? tops : children[t];
    return below.length ? 1 + Math.max(...below.map(heightBelow)) : 0;
  }
  function show(focus, picked) {
    const rings = Math.max(1, Math.min(RINGS, heightBelow(focus)));
    const size = rings === 1 ? 14 : 12, width = WIDTHS[rings], hole = EDGE - rings * width, total = countOf(focus) || 1;
    const hatch = draw("pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
    hatch.append(draw("rect", { width: 2, height: 6, fill: "var(--card)", opacity: 0.6 }));
    const defs = draw("defs"); defs.append(hatch);
    svg.replaceChildren(defs);
    let outline = "";

    function arc(t, a, b, level) {
      if (b - a < 0.002) return;
      const r = hole + (level - 1) * width, s = r + width - 1.5;
      if (t === picked) outline = ring(a, b, r, s); // drawn last, over its neighbours
      const path = draw("path", { d: ring(a, b, r, s), fill: t === NONE ? "var(--none)" : colour(t) });
      if (rings === 1 && t >= 0 && focus !== ALL) path.setAttribute("fill-opacity", 0.62 + 0.38 * (1 - rank[t] / children[focus].length));
      path.append(draw("title", {}, fullName(t) + ": " + many(countOf(t), "document") + ", " + share(countOf(t), DATA.n)));
      path.addEventListener("click", () => choose(t));
      svg.append(path);
      if (t >= 0 && T.other[t]) svg.append(draw("path", { d: ring(a, b, r, s), fill: "url(#hatch)", "pointer-events": "none" }));
      const middle = (a + b) / 2;
      if ((b - a) * (r + width / 2) > 13.5) {
        const turn = middle * 180 / Math.PI - 90, flip = middle > Math.PI;
        const text = fit(nameOf(t), size + "px system-ui, sans-serif", width - 12);
        svg.append(draw("text", {
          transform: "rotate(" + turn.toFixed(2) + ") translate(" + (r + width / 2).toFixed(1) + " 0)" + (flip ? " rotate(180)" : ""),
          class: "label", dy: "0.35em", "font-size": size,
        }, text));
      }
      if (t >= 0 && level < rings) fan(children[t], a, (b - a) / (T.count[t] || 1), level + 1);
    }
    function fan(group, a, scale, level) {
      for (const t of group) { const b = a + countOf(t) * scale; arc(t, a, b, level); a = b; }
      return a;
    }
    const end = fan(focus === ALL ? tops : children[focus], 0, 2 * Math.PI / total, 1);
    if (focus === ALL && DATA.none) arc(NONE, end, 2 * Math.PI, 1);

    if (outline) svg.append(draw("path", { d: outline, class: "pick", fill: "none" }));
    const centre = draw("circle", { class: "centre", r: hole - 4 });
    centre.addEventListener("click", () => choose(focus === ALL ? ALL : T.parent[focus] < 0 ? ALL : T.parent[focus]));
    centre.append(draw("title", {}, focus === ALL ? "Whole corpus" : "Go out"));
    const name = nameOf(focus === ALL ? ALL : focus), lines = [];
    for (const word of name.split(" ")) {
      if (lines.length && (lines[lines.length - 1] + " " + word).length <= 18) lines[lines.length - 1] += " " + word;
      else lines.push(word);
    }
    svg.append(centre, draw("text", { class: "big", y: -6 }, whole(countOf(focus))));
    lines.slice(0, 3).forEach((line, i) => svg.append(draw("text", { class: "sub", y: 14 + 14 * i },
      i === 2 && lines.length > 3 ? line + "…" : line)));
  }
  parts.push(topic => {
    // A leaf stays in its parent's view, marked; an inner topic becomes the centre.
    if (topic === NONE) shown = ALL;
    else if (topic === ALL || children[topic].length) shown = topic;
    else shown = T.parent[topic] < 0 ? ALL : T.parent[topic];
    show(shown, topic);
  });
})();
