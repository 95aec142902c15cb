// What is known about the chosen topic.
(function () {
  const section = byId("detail");
  const link = t => make("button", { class: "link", type: "button", onclick: () => choose(t, true) }, nameOf(t));
  const percent = score => score === null ? "" : Math.round(100 * score) + "%";

  function article(d, near) {
    const rival = near && D.rival[d] >= 0 ? make("div", { class: "near" }, near, link(D.rival[d])) : null;
    const topic = D.topic[d], deeper = topic >= 0 && topic !== chosen ? make("span", {}, nameOf(topic)) : null;
    return make("article", { class: "doc" },
      make("div", { class: "head" },
        make("span", {}, D.id[d], D.seed[d] ? make("span", { class: "tag" }, "seed") : null),
        make("span", {}, deeper, deeper && D.score[d] !== null ? " · " : "", percent(D.score[d]))),
      D.text[d] && D.text[d] !== D.id[d] ? make("p", {}, D.text[d]) : null, rival);
  }
  function list(title, docs, near, empty) {
    return make("div", {}, make("h3", {}, title),
      ...(docs.length ? docs.map(d => article(d, near)) : [make("p", { class: "facts" }, empty)]));
  }
  function rivals(t) {
    const most = Math.max(0.01, ...T.rivals[t].map(([, n]) => n));
    return make("div", {}, make("h3", {}, "Nearest competing topics"), make("div", { class: "scroll" }, make("table", {},
      ...T.rivals[t].map(([other, n]) => {
        const bar = make("span", { class: "rivalbar" });
        bar.style.width = (n / most * 5).toFixed(2) + "rem";
        bar.style.background = colour(other);
        const where = T.parent[other] >= 0 && T.parent[other] !== T.parent[t] ? make("small", { class: "count" }, " in " + nameOf(T.parent[other])) : null;
        return make("tr", {}, make("td", {}, link(other), where), make("td", {}, bar),
          make("td", { class: "n count" }, n ? share(n, 1) : "–"));
      }))), make("p", { class: "hint note" }, "Share of this topic's documents whose second choice it was; – where it is only near in space."));
  }
  function topicTable(title, topics, note) {
    if (!topics.length) return null;
    const rows = some => make("div", { class: "scroll" }, make("table", {}, ...some.map(t =>
      make("tr", {}, make("td", {}, link(t), T.parent[t] >= 0 ? make("small", { class: "count" }, " in " + nameOf(T.parent[t])) : null),
        make("td", { class: "n count" }, note(t))))));
    const rest = topics.slice(8), more = make("details", { class: "more" }, make("summary", {}, "and " + whole(rest.length) + " more"));
    more.addEventListener("toggle", () => { if (more.children.length === 1) more.append(rows(rest)); });
    return make("div", {}, make("h3", {}, title), rows(topics.slice(0, 8)), rest.length ? more : null);
  }
  function corpus() {
    const leaves = [...T.name.keys()].filter(t => !children[t].length);
    const down = (a, b) => T.count[b] - T.count[a];
    const others = leaves.filter(t => T.other[t] && T.count[t]).sort(down);
    const bare = leaves.filter(t => !T.other[t] && !T.count[t]);
    const least = leaves.filter(expectedOf).sort((a, b) => expectedOf(a)[0] - expectedOf(b)[0]);
    const full = leaves.filter(t => !T.other[t] && T.count[t]).sort(down);
    const size = t => many(T.count[t], "document") + ", " + share(T.count[t], DATA.n);
    return [make("h2", {}, "Whole corpus"),
      make("p", { class: "facts" }, "Choose a topic in the tree or in a figure to see its documents."),
      make("div", { class: "columns" },
        topicTable("Largest topics", full, size),
        topicTable("Lowest expected accuracy: topics to review first", least, t => withInterval(expectedOf(t))),
        topicTable("Fullest Others: subjects that the taxonomy may lack", others, size),
        topicTable("Topics without a document", bare, () => "no seed either"),
        DATA.nowhere.length ? list("Documents in no topic, a few", DATA.nowhere, "nearest: ", "") : null)];
  }
  function nothing() {
    return [make("h2", {}, "None"),
      make("p", { class: "facts" }, many(DATA.none, "document") + " in no topic, " + share(DATA.none, DATA.n) + " of the corpus."),
      list("A few of them, at random", DATA.nowhere, "nearest: ", "Every document was placed.")];
  }
  function one(t) {
    const crumbs = pathOf(t).slice(0, -1).flatMap(i => [make("button", { type: "button", onclick: () => choose(i) }, T.name[i]), " › "]);
    const parent = T.parent[t] >= 0 ? T.count[T.parent[t]] : 0;
    const facts = [many(T.count[t], "document"), share(T.count[t], DATA.n) + " of the corpus"];
    if (parent) facts.push(share(T.count[t], parent) + " of " + T.name[T.parent[t]]);
    if (children[t].length && T.own[t]) facts.push(whole(T.own[t]) + " went no deeper");
    if (expectedOf(t)) facts.push("expected right " + withInterval(expectedOf(t)));
    if (T.code[t]) facts.unshift("code " + T.code[t]);
    return [make("div", { class: "crumbs" }, ...crumbs), make("h2", { class: T.other[t] ? "name other" : "" }, T.name[t]),
      make("p", { class: "facts" }, facts.join(" · ")),
      T.other[t] ? make("p", { class: "about" }, "What belongs under " + nameOf(T.parent[t] < 0 ? ALL : T.parent[t]) + " but to none of its listed topics.") : null,
      T.about[t] ? make("p", { class: "about" }, T.about[t]) : null,
      make("div", { class: "columns" },
        make("div", {}, make("h3", {}, "Words that set it apart"), T.words[t].length
          ? make("p", { class: "words" }, ...T.words[t].flatMap(word => [make("span", {}, word), " "]))
          : make("p", { class: "facts" }, "None stand out.")),
        T.rivals[t].length ? rivals(t) : null,
        list("Most central documents", T.central[t], "", "No document was placed here."),
        list("Borderline documents", T.border[t], "second choice: ", "No document was in doubt."))];
  }
  parts.push(topic => section.replaceChildren(
    ...(topic === ALL ? corpus() : topic === NONE ? nothing() : one(topic)).filter(Boolean)));
})();
