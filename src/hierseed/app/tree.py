"""The tree as every screen shows it: topics with their documents and seeds, Other and None."""

from __future__ import annotations

from typing import Any, NamedTuple

from hierseed.app.placements import NONE, Placements
from hierseed.app.project import Project
from hierseed.app.store import labels, topics
from hierseed.app.store.topics import Topics


class TreeView(NamedTuple):
    """The tree as the page shows it.

    Lines change with the taxonomy and the fit. Numbers change with every decision, so they are
    sent apart: for each line its documents (None before a fit), own seeds and all seeds.
    """

    lines: list[dict[str, Any]]
    numbers: dict[str, list[int | None]]
    total: int


def tree_view(project: Project, placed: Placements | None) -> TreeView:
    """Lines of the tree, parents first, with their numbers; counts are those of the fit."""
    here = topics.current(project)
    seeds = labels.counts(project)
    own = placed.own_counts if placed else {}
    total = placed.n_documents if placed else 0
    tree = here.taxonomy.tree
    lines: list[dict[str, Any]] = []
    numbers: dict[str, list[int | None]] = {}
    count = {id: own.get(str(id), 0) + own.get(f"other-{id}", 0) for id in here.ids}
    all_seeds = {id: seeds.get(id, 0) for id in here.ids}
    for i in range(len(here.ids) - 1, -1, -1):
        above = int(tree.parent[i])
        if above >= 0:
            count[here.ids[above]] += count[here.ids[i]]
            all_seeds[here.ids[above]] += all_seeds[here.ids[i]]
    for i, id in enumerate(here.ids):
        above = int(tree.parent[i])
        lines.append(
            {
                "key": str(id),
                "parent": str(here.ids[above]) if above >= 0 else "",
                "name": here.taxonomy.names[i],
                "code": here.taxonomy.codes[i],
                "level": int(tree.level[i]),
                "leaf": bool(tree.is_leaf[i]),
            }
        )
        numbers[str(id)] = [count[id] if placed else None, seeds.get(id, 0), all_seeds[id]]
    # After all listed topics, so that an Other stands behind its named siblings.
    for i, id in enumerate(here.ids):
        if own.get(f"other-{id}"):
            lines.append(_apart(f"other-{id}", str(id), "Other", int(tree.level[i]) + 1))
    for key, name in (("other-0", "Other"), (NONE, "None of these")):
        if own.get(key):
            lines.append(_apart(key, "", name, 1))
    numbers |= {line["key"]: [own[line["key"]], None, 0] for line in lines if "apart" in line}
    return TreeView(lines, numbers, total)


def _apart(key: str, parent: str, name: str, level: int) -> dict[str, Any]:
    return {"key": key, "parent": parent, "name": name, "level": level, "leaf": True, "apart": True}


def path_of(here: Topics, key: str) -> str:
    """The full path that a person reads; a key that no topic has raises ValueError."""
    if key == NONE:
        return "None of these"
    if key == "other-0":
        return "Other"
    head, _, number = key.rpartition("-")
    if int(number) not in here.place:
        return "a deleted topic"
    path = here.path(int(number))
    return f"{path} > Other" if head else path
