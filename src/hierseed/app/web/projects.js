// The list of projects in a folder, and a form for a new one.
const kept = localStorage.getItem("hierseed-theme");
document.documentElement.dataset.theme = kept || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

const find = (id) => document.getElementById(id);
const address = (name) => "/?project=" + encodeURIComponent(name);
const counted = (n, one) => n.toLocaleString("en-US") + " " + one + (n === 1 ? "" : "s");

function line(project) {
  const entry = document.createElement("li");
  const link = document.createElement("a");
  link.href = address(project.name);
  link.textContent = project.name;
  const facts = document.createElement("span");
  facts.className = "soft";
  const changed = new Date(project.changed).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
  facts.textContent = project.fault || [counted(project.documents, "document"), counted(project.topics, "topic"), counted(project.seeds, "seed"), counted(project.fits, "fit"), changed].join(" · ");
  entry.append(link, facts);
  return entry;
}

const found = await (await fetch("/workbench/projects")).json();
find("folder").textContent = "All projects in " + found.folder;
find("list").replaceChildren(...found.projects.map(line));
find("list").hidden = !found.projects.length;
find("none").hidden = !!found.projects.length;
find("new").addEventListener("submit", async (event) => {
  event.preventDefault();
  const name = new FormData(event.target).get("name");
  const answer = await fetch("/workbench/projects?name=" + encodeURIComponent(name), { method: "POST" });
  const made = await answer.json();
  if (answer.ok) location.href = address(made.name);
  else {
    find("fault").textContent = made.fault;
    find("fault").hidden = false;
  }
});
