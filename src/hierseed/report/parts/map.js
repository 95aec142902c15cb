// The map of islands: drag to move, buttons (or the wheel, once focused) to zoom.
(function () {
  const box = byId("map"), canvas = box.querySelector("canvas"), pen = canvas.getContext("2d"), M = DATA.map, tip = byId("tip");
  if (M.doc.length < DATA.n) byId("maphint").textContent = whole(M.doc.length) + " of " + whole(DATA.n) + " documents, drawn at random";
  else byId("maphint").textContent = "every dot is a document";
  let zoom = 1, cx = 0, cy = 0, size = 0, high = 0, drag = null;
  const order = [...M.topic.keys()].sort((a, b) => T.count[M.topic[b]] - T.count[M.topic[a]]);
  const crowded = M.topic.length > 80 && tops.filter(t => T.count[t]).length > 2;
  const regions = tops.filter(t => T.count[t]).sort((a, b) => T.count[b] - T.count[a]).map(top => {
    let x = 0, y = 0, all = 0; // the middle of a topic's islands, by their documents
    M.topic.forEach((t, i) => { if (levelOne[t] === top) { const n = T.count[t]; x += n * M.tx[i]; y += n * M.ty[i]; all += n; } });
    return [top, x / (all || 1), y / (all || 1)];
  });
  const unit = () => Math.min(size, high) / 2 * 0.97 * zoom;
  const toX = x => size / 2 + (x - cx) * unit(), toY = y => high / 2 + (y - cy) * unit();
  const inside = (t, top) => { for (; t >= 0; t = T.parent[t]) if (t === top) return true; return false; };

  function paint() {
    const dots = window.devicePixelRatio || 1;
    size = canvas.clientWidth; high = canvas.clientHeight;
    canvas.width = size * dots; canvas.height = high * dots;
    pen.setTransform(dots, 0, 0, dots, 0, 0);
    pen.clearRect(0, 0, size, high);
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--ink"), card = style.getPropertyValue("--card");
    const lit = t => chosen === ALL || (chosen === NONE ? t < 0 : t >= 0 && inside(t, chosen));

    M.topic.forEach((t, i) => {
      pen.beginPath();
      pen.arc(toX(M.tx[i]), toY(M.ty[i]), M.r[i] * unit() * 1.06, 0, 7);
      pen.fillStyle = colour(t, lit(t) ? 0.16 : 0.05);
      pen.fill();
    });
    const r = Math.max(1.1, Math.min(3.2, 1.15 * Math.sqrt(zoom) * (M.doc.length > 2500 ? 1 : 1.35)));
    const groups = new Map();
    M.doc.forEach((d, i) => { const t = D.topic[d]; if (!groups.has(t)) groups.set(t, []); groups.get(t).push(i); });
    for (const [t, group] of groups) {
      pen.fillStyle = colour(t, lit(t) ? 0.85 : 0.14);
      pen.beginPath();
      for (const i of group) {
        const x = toX(M.x[i]), y = toY(M.y[i]);
        if (x < -4 || y < -4 || x > size + 4 || y > high + 4) continue;
        pen.moveTo(x + r, y); pen.arc(x, y, r, 0, 7);
      }
      pen.fill();
    }
    const taken = [];
    function label(name, x, y, font) {
      pen.font = font;
      const w = pen.measureText(name).width / 2 + 3;
      x = Math.max(w, Math.min(size - w, x));
      if (taken.some(b => Math.abs(b[0] - x) < b[2] + w && Math.abs(b[1] - y) < 14)) return;
      taken.push([x, y, w]);
      pen.strokeStyle = card; pen.lineWidth = 3.5; pen.strokeText(name, x, y);
      pen.fillStyle = ink; pen.fillText(name, x, y);
    }
    const cut = (name, most) => name.length > most ? name.slice(0, most - 1).trimEnd() + "…" : name;
    pen.textAlign = "center"; pen.textBaseline = "middle"; pen.lineJoin = "round";
    if (crowded && zoom < 1.6 && chosen === ALL) { // names of level 1 tell more than a few leaves
      for (const [t, x, y] of regions) label(cut(T.name[t], 30), toX(x), toY(y), "600 12px system-ui, sans-serif");
      return;
    }
    for (const i of order) {
      const t = M.topic[i], x = toX(M.tx[i]), y = toY(M.ty[i]);
      if (!lit(t) || !T.count[t] && t !== chosen || x < 0 || y < 0 || x > size || y > high) continue;
      const parent = T.parent[t];
      if (T.other[t] && zoom < 1.5 && chosen === ALL) continue; // Others are many and say little
      const name = T.other[t] && parent >= 0 ? T.name[t] + ": " + T.name[parent] : T.name[t];
      const face = (T.other[t] ? "italic " : "") + (t === chosen ? "600 13px" : "11px");
      label(cut(name, 26), x, y, face + " system-ui, sans-serif");
    }
  }
  function nearest(x, y) {
    let best = -1, least = 100;
    M.doc.forEach((d, i) => {
      const away = (toX(M.x[i]) - x) ** 2 + (toY(M.y[i]) - y) ** 2;
      if (away < least) { least = away; best = i; }
    });
    return best;
  }
  function island(x, y) {
    return M.topic.findIndex((t, i) => Math.hypot(toX(M.tx[i]) - x, toY(M.ty[i]) - y) < M.r[i] * unit() * 1.06);
  }
  function scale(factor, x, y) {
    const next = factor ? Math.max(1, Math.min(30, zoom * factor)) : 1;
    if (next === 1) { cx = cy = 0; }
    else { const u = unit(), k = next / zoom; cx += (x - size / 2) / u * (1 - 1 / k); cy += (y - high / 2) / u * (1 - 1 / k); }
    zoom = next;
    paint();
  }
  canvas.addEventListener("pointerdown", event => {
    drag = { x: event.clientX, y: event.clientY, cx, cy, moved: false };
    if (event.pointerType === "mouse") canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", event => {
    const frame = canvas.getBoundingClientRect(), x = event.clientX - frame.left, y = event.clientY - frame.top;
    if (drag && event.pointerType === "mouse" && event.buttons) {
      if (Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > 4) drag.moved = true;
      cx = drag.cx - (event.clientX - drag.x) / unit(); cy = drag.cy - (event.clientY - drag.y) / unit();
      tip.hidden = true;
      return paint();
    }
    const hit = nearest(x, y);
    tip.hidden = hit < 0;
    if (hit < 0) return;
    const d = M.doc[hit];
    tip.replaceChildren(make("b", {}, D.id[d]), D.text[d].slice(0, 130), make("span", {}, fullName(D.topic[d] < 0 ? NONE : D.topic[d])));
    tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)) + "px";
    tip.style.top = Math.max(4, Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8)) + "px";
  });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  canvas.addEventListener("pointerup", event => {
    const moved = drag && drag.moved;
    drag = null;
    if (moved) return;
    const frame = canvas.getBoundingClientRect(), x = event.clientX - frame.left, y = event.clientY - frame.top;
    const hit = nearest(x, y), land = island(x, y);
    if (hit >= 0) choose(D.topic[M.doc[hit]] < 0 ? NONE : D.topic[M.doc[hit]]);
    else choose(land >= 0 ? M.topic[land] : ALL);
  });
  canvas.addEventListener("wheel", event => {
    if (document.activeElement !== canvas && !event.ctrlKey) return; // scrolling past must scroll
    event.preventDefault();
    const frame = canvas.getBoundingClientRect();
    scale(Math.exp(-event.deltaY / 400), event.clientX - frame.left, event.clientY - frame.top);
  }, { passive: false });
  canvas.addEventListener("keydown", event => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (step) { cx += step[0] * 0.15 / zoom; cy += step[1] * 0.15 / zoom; paint(); }
    else if (event.key === "+" || event.key === "=") scale(1.5, size / 2, high / 2);
    else if (event.key === "-") scale(0.667, size / 2, high / 2);
    else if (event.key === "0") scale(0);
    else return;
    event.preventDefault();
  });
  box.querySelectorAll("button").forEach(button => button.addEventListener("click", () => scale(Number(button.dataset.zoom), size / 2, high / 2)));
  new ResizeObserver(paint).observe(canvas);
  parts.push(topic => { // a topic chosen elsewhere must not lie outside the view
    const mine = zoom > 1 && topic >= 0 ? [...M.topic.keys()].filter(i => inside(M.topic[i], topic)) : [];
    if (mine.length) {
      const x = mine.reduce((sum, i) => sum + M.tx[i], 0) / mine.length, y = mine.reduce((sum, i) => sum + M.ty[i], 0) / mine.length;
      if (toX(x) < 0 || toY(y) < 0 || toX(x) > size || toY(y) > high) { cx = x; cy = y; }
    }
    paint();
  });
})();
