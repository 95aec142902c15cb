// Search over names, codes, telling words, and the documents that the page holds.
(function () {
  const field = byId("search"), found = byId("found"), tree = byId("tree");
  const fold = text => text.toLowerCase().normalize("NFKD").replace(/[\u0300-\u036f]/g, "");
  const topicText = T.name.map((name, t) =>
    fold(fullName(t) + " " + (T.code[t] || "") + " " + T.words[t].join(" ")));
  const docText = D.id.map((id, i) => fold(id + " " + D.text[i]));
  const MOST = 40;

  function marked(text, words) {
    const low = text.toLowerCase(), spans = [];
    for (const word of words) {
      const at = low.indexOf(word);
      if (at >= 0 && low.length === text.length) spans.push([at, at + word.length]);
    }
    spans.sort((a, b) => a[0] - b[0]);
    const out = []; let done = 0;
    for (const [a, b] of spans) {
      if (a < done) continue;
      out.push(text.slice(done, a), make("mark", {}, text.slice(a, b)));
      done = b;
    }
    return [...out, text.slice(done)];
  }
  // The part of a text around the first hit, cut between words.
  function around(text, words) {
    const low = text.toLowerCase(), hits = words.map(word => low.indexOf(word)).filter(at => at >= 0);
    let from = hits.length ? Math.max(0, Math.min(...hits) - 50) : 0;
    if (from) from = text.indexOf(" ", from) + 1;
    let to = from + 130;
    if (to < text.length) to = Math.max(text.lastIndexOf(" ", to), from + 60);
    return (from ? "… " : "") + text.slice(from, to) + (to < text.length ? " …" : "");
  }
  function look() {
    const words = fold(field.value).split(/\s+/).filter(Boolean);
    tree.hidden = words.length > 0;
    found.hidden = !words.length;
    if (!words.length) return;
    const holds = text => words.every(word => text.includes(word));
    const own = t => words.some(word => fold(T.name[t]).includes(word)) ? 0 : 1;
    const topics = [...T.name.keys()].filter(t => holds(topicText[t]))
      .sort((a, b) => own(a) - own(b) || T.count[b] - T.count[a]);
    const docs = [...D.id.keys()].filter(i => holds(docText[i]));
    found.replaceChildren(
      make("h3", {}, many(topics.length, "topic")),
      ...topics.slice(0, MOST).map(t => make("button", { class: "hit", type: "button", onclick: () => choose(t, true) },
        make("small", {}, pathOf(T.parent[t]).map(i => T.name[i]).join(" › ")),
        ...marked(T.name[t], words), " ", make("span", { class: "count" }, whole(T.count[t])))),
      make("h3", {}, many(docs.length, "document") + (D.id.length < DATA.n ? " of the " + whole(D.id.length) + " in this page" : "")),
      ...docs.slice(0, MOST).map(i => make("button", { class: "hit", type: "button", onclick: () => choose(D.topic[i] < 0 ? NONE : D.topic[i], true) },
        make("small", {}, D.id[i] + " in " + nameOf(D.topic[i] < 0 ? NONE : D.topic[i])),
        ...marked(around(D.text[i], words), words))));
  }
  let wait = 0;
  field.addEventListener("input", () => { clearTimeout(wait); wait = setTimeout(look, 80); });
  field.addEventListener("keydown", event => {
    if (event.key === "ArrowDown") {
      const first = found.hidden ? tree.querySelector("li") : found.querySelector("button");
      if (first) { event.preventDefault(); first.focus(); }
    }
  });
  found.addEventListener("keydown", event => {
    const hits = [...found.querySelectorAll("button")], at = hits.indexOf(document.activeElement);
    const go = event.key === "ArrowDown" ? hits[at + 1] : event.key === "ArrowUp" ? hits[at - 1] || field : null;
    if (go) { event.preventDefault(); go.focus(); }
  });
  document.addEventListener("keydown", event => {
    if (event.key === "/" && document.activeElement !== field && !event.ctrlKey && !event.metaKey) {
      event.preventDefault(); field.focus(); field.select();
    } else if (event.key === "Escape" && field.value) { field.value = ""; look(); field.focus(); }
  });
})();
