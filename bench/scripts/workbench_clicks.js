// What a person does, and how to tell that the page has answered. Times are taken in the page.
(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const one = (selector) => document.querySelector(selector);
  const named = (selector, text) => all(selector).find((found) => found.textContent.includes(text));
  const line = (name) => all("#side .line").find((found) => found.querySelector(".name").textContent === name);
  const first = () => one(".card .id")?.textContent;
  const pressed = (text) => all(".tabs button[aria-pressed=true]").some((found) => found.textContent.includes(text));
  let was = "";

  const clicks = {
    step: {
      act: (name) => named("nav[aria-label=Steps] a", name).click(),
      shown: (name) => one("nav a[aria-current]").textContent.includes(name) && one("#stage h1"),
    },
    topic: {
      act: (name) => line(name).click(),
      shown: (name) =>
        one(".path.big span:last-child")?.textContent === name ||
        (one("#stage h1 span:last-child")?.textContent === name && all(".card").length > 0),
    },
    tab: { act: (name) => named(".tabs button", name).click(), shown: pressed },
    page: {
      act: () => ((was = first()), all(".pager button").at(-1).click()),
      shown: () => first() !== was,
    },
    search: {
      act: (text) => {
        const field = one(".search input");
        field.value = text;
        field.dispatchEvent(new Event("input"));
        field.form.requestSubmit();
      },
      shown: (text) => all(".card mark").some((mark) => mark.textContent === text),
    },
    key: {
      act: ([key]) => {
        const card = one(".card.here");
        card.focus();
        card.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      },
      shown: ([, selector]) => one(selector),
    },
    filter: {
      act: (column) => {
        const menu = one(".filter select");
        menu.value = column;
        menu.dispatchEvent(new Event("change"));
      },
      shown: (column) => (column ? all(".filter select").length > 1 : all(".filter select").length === 1),
    },
    map: { act: () => named(".tabs button", "Map").click(), shown: () => one("canvas")?.dataset.drawn > 0 },
    colour: {
      act: (column) => {
        const menu = one(".maptools select");
        was = one(".legend")?.textContent;
        menu.value = column;
        menu.dispatchEvent(new Event("change"));
      },
      shown: () => one(".legend")?.textContent !== was,
    },
    undo: {
      act: () => ((was = one("[aria-label^=Undo]").title), one("[aria-label^=Undo]").click()),
      shown: () => one("[aria-label^=Undo]").title !== was,
    },
    add: {
      act: (name) => {
        const field = all("form.panel label input").at(-1);
        field.value = name;
        field.dispatchEvent(new Event("input"));
        setTimeout(() => field.form.requestSubmit());
      },
      shown: (name) => one(".path.big")?.textContent.includes(name),
    },
    similar: { act: () => clicks.key.act(["s"]), shown: () => pressed("Similar") },
  };

  window.timeClick = (name, argument) =>
    new Promise((done, fail) => {
      const began = performance.now();
      clicks[name].act(argument);
      const look = () => {
        const taken = performance.now() - began;
        if (clicks[name].shown(argument)) done(taken);
        else if (taken > 60000) fail(new Error(name + " was never shown"));
        else requestAnimationFrame(look);
      };
      look();
    });
  all(".twist").forEach((twist) => twist.textContent === "▸" && twist.click());
})();
