// The tree at the side: arrows move, Enter chooses, "/" searches.
(function () {
  const tree = byId("tree"), items = new Map();
  const most = Math.max(1, DATA.none, ...tops.map(t => T.count[t]));

  function item(t, level) {
    const below = t >= 0 ? children[t] : [];
    const bar = make("span", { class: "bar" });
    bar.style.width = (100 * countOf(t) / (t === ALL ? DATA.n || 1 : most)).toFixed(1) + "%";
    const twist = make("span", { class: "twist", "aria-hidden": "true" }, below.length ? "▸" : "");
    const row = make("div", { class: "row" }, twist,
      make("span", { class: "name" }, nameOf(t)),
      right(t), make("span", { class: "count" }, whole(countOf(t))), bar);
    const li = make("li", { role: "treeitem", tabindex: "-1", "aria-level": level }, row);
    if (t >= 0 && T.other[t]) li.classList.add("other");
    if (t === NONE) li.classList.add("apart");
    if (!countOf(t)) li.classList.add("empty");
    if (below.length) li.setAttribute("aria-expanded", "false");
    row.addEventListener("click", event => {
      if (below.length && (event.target === twist || chosen === t)) toggle(t);
      else if (below.length) toggle(t, true);
      choose(t, event.target !== twist);
    });
    items.set(t, { li, bar, level });
    return li;
  }
  function right(t) {
    const expected = expectedOf(t);
    if (!expected) return make("span", {});
    return make("span", { class: "count", title: "Expected right: " + withInterval(expected) },
      percentOf(expected[0]));
  }
  function toggle(t, open) {
    const { li, level } = items.get(t);
    const now = li.getAttribute("aria-expanded") === "true";
    if (open === now || !children[t].length) return;
    li.setAttribute("aria-expanded", String(!now));
    const old = li.querySelector(":scope > ul");
    if (old) { old.hidden = now; return; }
    const list = make("ul", { role: "group" }, ...children[t].map(c => item(c, level + 1)));
    li.append(list);
    children[t].forEach(paint);
  }
  function paint(t) { const it = items.get(t); if (it) it.bar.style.background = t === ALL ? "var(--soft)" : colour(t); }

  if ((T.expected || []).some(Boolean))
    tree.before(make("div", { class: "heads", "aria-hidden": "true" }, make("span", {}, "expected right"), make("span", {}, "documents")));
  tree.append(item(ALL, 1), ...tops.map(t => item(t, 1)), item(NONE, 1));
  if (T.name.length <= 24) tops.forEach(t => toggle(t, true));

  const visible = () => [...tree.querySelectorAll("li")].filter(li => li.offsetParent !== null);
  const topicOf = li => [...items].find(([, it]) => it.li === li)[0];
  tree.addEventListener("keydown", event => {
    const li = event.target.closest("li");
    if (!li) return;
    const seen = visible(), at = seen.indexOf(li), t = topicOf(li);
    const open = li.getAttribute("aria-expanded");
    let go = null;
    if (event.key === "ArrowDown") go = seen[at + 1];
    else if (event.key === "ArrowUp") go = seen[at - 1];
    else if (event.key === "Home") go = seen[0];
    else if (event.key === "End") go = seen[seen.length - 1];
    else if (event.key === "ArrowRight" && open === "false") toggle(t, true);
    else if (event.key === "ArrowRight" && open === "true") go = seen[at + 1];
    else if (event.key === "ArrowLeft" && open === "true") toggle(t, false);
    else if (event.key === "ArrowLeft") go = li.parentElement.closest("li");
    else if (event.key === "Enter" || event.key === " ") choose(t);
    else return;
    event.preventDefault();
    if (go) { go.focus(); go.querySelector(".row").scrollIntoView({ block: "nearest" }); }
  });

  parts.push(topic => {
    if (topic >= 0) pathOf(topic).slice(0, -1).forEach(t => toggle(t, true));
    for (const [t, { li }] of items) {
      li.setAttribute("aria-selected", String(t === topic));
      li.tabIndex = t === topic ? 0 : -1;
      paint(t);
    }
    const row = items.get(topic).li.querySelector(".row"), side = byId("side");
    const box = row.getBoundingClientRect(), frame = side.getBoundingClientRect();
    if (box.top < frame.top + 70 || box.bottom > frame.bottom)
      side.scrollTop += box.top - frame.top - frame.height / 2;
  });
})();
