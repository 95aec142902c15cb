"""The tree as every screen shows it: topics with their documents and seeds, Other and None."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.app.fits import NONE, Fit
from hierseed.app.project import Project
from hierseed.app.store import labels, topics
from hierseed.app.store.topics import Topics


def tree_view(project: Project, fit: Fit | None) -> list[dict[str, Any]]:
    """Lines of the tree, parents first; counts are those of the fit in today's tree.

    A topic that was moved, merged or renamed since the fit takes its documents along; those of a
    deleted topic are shown nowhere until the next fit.
    """
    here = topics.current(project)
    seeds = labels.counts(project)
    own = own_counts(fit, here) if fit else {}
    total = fit.n if fit else 0
    tree = here.taxonomy.tree
    lines: list[dict[str, Any]] = []
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
                "count": count[id] if fit else None,
                "share": count[id] / total if total else 0.0,
                "seeds": seeds.get(id, 0),
                "below": all_seeds[id],
            }
        )
    # After all listed topics, so that an Other stands behind its named siblings.
    for i, id in enumerate(here.ids):
        if own.get(f"other-{id}"):
            line = _apart(f"other-{id}", str(id), "Other", own[f"other-{id}"], total)
            lines.append({**line, "level": int(tree.level[i]) + 1})
    for key, name in (("other-0", "Other"), (NONE, "None of these")):
        if own.get(key):
            lines.append(_apart(key, "", name, own[key], total))
    return lines


def _apart(key: str, parent: str, name: str, count: int, total: int) -> dict[str, Any]:
    return {
        "key": key, "parent": parent, "name": name, "level": 1, "leaf": True, "count": count,
        "share": count / total if total else 0.0, "seeds": None, "below": 0, "apart": True,
    }  # fmt: skip


def own_counts(fit: Fit, here: Topics) -> dict[str, int]:
    """Documents that stop at each key, by where topics live today."""
    counts: dict[str, int] = {}
    for topic, number in enumerate(fit.own_counts):
        key = key_today(fit, here, topic)
        if key and number:
            counts[key] = counts.get(key, 0) + int(number)
    return counts


def key_today(fit: Fit, here: Topics, topic: int) -> str:
    """What today's tree calls a topic of the fit; "" where it is deleted."""
    key = fit.keys[topic]
    if key in (NONE, "other-0"):
        return key
    head, _, number = key.rpartition("-")
    home = here.home.get(int(number))
    if home is None:
        return ""
    return f"{head}-{home}" if head else str(home)


def path_of(here: Topics, key: str) -> str:
    """The full path that a person reads."""
    if key == NONE:
        return "None of these"
    if key == "other-0":
        return "Other"
    head, _, number = key.rpartition("-")
    if int(number) not in here.place:
        return "a deleted topic"
    path = here.path(int(number))
    return f"{path} > Other" if head else path


def inside(fit: Fit, here: Topics, key: str) -> NDArray[np.bool_]:
    """For each topic of the fit (None last): does it belong to this line of the tree today?"""
    wanted = {key}
    if key.isdigit() and int(key) in here.place:
        tree = here.taxonomy.tree
        below = np.flatnonzero((tree.ancestors[:-1] == here.place[int(key)]).any(axis=1))
        wanted |= {str(here.ids[i]) for i in below} | {f"other-{here.ids[i]}" for i in below}
    return np.array(
        [key_today(fit, here, topic) in wanted for topic in range(len(fit.taxonomy) + 1)]
    )
