// How the fit went: one small plot per quantity, and the numbers.
(function () {
  const rounds = DATA.history, section = byId("history");
  if (!rounds.length) { section.hidden = true; return; }
  const short = v => v === null || v === undefined ? "" : Math.abs(v) >= 1000 ? whole(v) : Number.isInteger(v) ? String(v) : v.toPrecision(3);
  // As many decimals as it takes to tell the rounds apart.
  const aims = rounds.map(r => r.objective).filter(v => typeof v === "number");
  const apart = d => new Set(aims.map(v => v.toFixed(d))).size === new Set(aims).size;
  const decimals = [...Array(9).keys()].find(apart) ?? 9;
  const aim = v => v === null || v === undefined ? "" : decimals ? v.toFixed(decimals) : whole(v);
  function plot(title, key, write) {
    const values = rounds.map(r => r[key]).map(v => v === undefined ? null : v);
    const known = values.filter(v => v !== null);
    if (known.length < 2) return null;
    const W = 460, H = 150, left = 8, right = 70, low = Math.min(...known), high = Math.max(...known), span = high - low || 1;
    const x = i => left + i * (W - left - right) / Math.max(1, rounds.length - 1), y = v => 18 + (high - v) / span * (H - 48);
    const svg = draw("svg", { viewBox: "0 0 " + W + " " + H, role: "img", "aria-label": title + " per round" });
    svg.append(draw("line", { class: "axis", x1: left, x2: W - right, y1: H - 22, y2: H - 22 }));
    const dots = values.map((v, i) => v === null ? null : [x(i), y(v)]).filter(Boolean);
    svg.append(draw("polyline", { class: "line", points: dots.map(p => p[0].toFixed(1) + "," + p[1].toFixed(1)).join(" ") }));
    dots.forEach(p => svg.append(draw("circle", { cx: p[0], cy: p[1], r: 3 })));
    const last = dots[dots.length - 1];
    svg.append(draw("text", { x: last[0] + 8, y: last[1] + 4 }, write(known[known.length - 1])));
    svg.append(draw("text", { x: left, y: H - 6 }, "round 1"), draw("text", { x: W - right, y: H - 6, "text-anchor": "end" }, String(rounds.length)));
    return make("div", {}, make("h3", {}, title), svg);
  }
  const percent = v => (100 * v).toFixed(1) + "%";
  const moved = v => v === null || v === undefined ? "" : v < 10 && !Number.isInteger(v) ? v.toFixed(1) : whole(v);
  const covered = DATA.method === "AnchoredHierSeed" ? "Share that belongs" : "Coverage";
  const columns = [["round", "Round", short], ["objective", "Objective", aim], ["coverage", covered, percent],
    ["moved", "Documents moved", moved], ["seconds", "Seconds", short]].filter(([key]) => rounds.some(r => r[key] !== undefined && r[key] !== null));
  const cell = (tag, text, first) => make(tag, first ? {} : { class: "n" }, text);
  section.append(...[make("h2", {}, "History of the fit"),
    make("div", { class: "plots" }, plot("Objective", "objective", aim), plot(covered, "coverage", percent)),
    make("div", { class: "scroll" }, make("table", {},
      make("thead", {}, make("tr", {}, ...columns.map(([, title], i) => cell("th", title, !i)))),
      make("tbody", {}, ...rounds.map(r => make("tr", {}, ...columns.map(([key, , write], i) =>
        cell("td", r[key] === null || r[key] === undefined ? "" : write(r[key]), !i)))))))].filter(Boolean));
})();
