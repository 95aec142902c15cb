// The head of the page, then the first choice.
(function () {
  byId("title").textContent = DATA.title;
  const listed = T.other.filter(o => !o).length, levels = Math.max(0, ...depth.filter((_, t) => !T.other[t]));
  byId("summary").textContent = [many(DATA.n, "document"), many(listed, "topic") + " on " + many(levels, "level"),
    DATA.seeds ? many(DATA.seeds, "seed") : "", DATA.several ? whole(DATA.several) + " documents in several topics" : "",
    "placed by " + DATA.method].filter(Boolean).join(" · ");
  const kinds = [["listed", "In listed topics", DATA.n - DATA.none - DATA.other], ["other", "Other", DATA.other], ["none", "None", DATA.none]];
  const strip = make("div", { class: "strip", "aria-hidden": "true" });
  const results = DATA.results || { expected: [], findings: [] };
  const terms = make("dl", {});
  const term = (title, text) => terms.append(make("div", {}, make("dt", {}, title), make("dd", {}, text)));
  if (results.belong) term("Belong to a listed topic, about", results.belong);
  else term("Coverage", share(DATA.n - DATA.none, DATA.n));
  results.expected.forEach((text, i) => term("Expected right, level " + (i + 1), text));
  for (const [kind, title, n] of kinds) {
    const piece = make("i", { class: "k-" + kind, title: title + ": " + whole(n) });
    piece.style.flex = String(n);
    if (n) strip.append(piece);
    terms.append(make("div", {}, make("dt", {}, make("span", { class: "swatch k-" + kind }), title),
      make("dd", {}, whole(n), make("small", {}, "  " + share(n, DATA.n)))));
  }
  byId("glance").append(strip, terms);
  const look = byId("look");
  if (results.findings.length)
    look.append(make("h2", {}, "Topics to look at"), make("ul", {}, ...results.findings.map(text => make("li", {}, text))));
  if ((DATA.proposals || []).length)
    look.append(make("h2", {}, "Topics that may be missing"), make("ul", {}, ...DATA.proposals.map(p => make("li", {},
      make("b", {}, p.words || p.id), " · " + many(p.documents, "document") + " · " + Math.round(100 * p.sure) + "% of them nearer to each other than to any listed topic · "
        + (p.parent ? "below " + p.parent : "on level 1"),
      make("ul", {}, ...p.texts.map(text => make("li", {}, text)))))));

  const dark = matchMedia("(prefers-color-scheme: dark)");
  byId("theme").addEventListener("click", () => setTheme(!isDark()));
  dark.addEventListener("change", () => setTheme(dark.matches));
  function fromAddress() {
    const found = /^#topic-(\d+)$/.exec(location.hash);
    if (found && Number(found[1]) < T.name.length) chosen = Number(found[1]);
    else if (location.hash === "#none") chosen = NONE;
  }
  fromAddress();
  setTheme(dark.matches);
  window.addEventListener("hashchange", () => { fromAddress(); choose(chosen); });
})();
