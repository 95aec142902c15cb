"""The topics in the terminal: counts, precision and an example of each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from rich.console import Group
from rich.table import Table
from rich.text import Text

from hierseed.assignments import Assignments
from hierseed.demo.corpus import DemoCorpus
from hierseed.evaluate import Scores


def show_tree(corpus: DemoCorpus, assignments: Assignments, most: int = 4) -> Table:
    """Return the topics of level 1 with their largest children and one document of each.

    `right` is the share of a topic's documents, seeds aside, that truly belong there.
    """
    taxonomy = assignments.taxonomy
    counts = assignments.counts()
    right = _right(corpus, assignments)
    example = _examples(assignments)
    table = Table(box=None, padding=(0, 2, 0, 0), expand=True, header_style="dim")
    table.add_column("topic", ratio=4, no_wrap=True, overflow="ellipsis")
    table.add_column("documents", justify="right")
    table.add_column("right", justify="right")
    table.add_column("for example", ratio=5, no_wrap=True, overflow="ellipsis")
    for top in taxonomy.tree.children(-1):
        if not counts[top]:
            continue
        table.add_row(Text(taxonomy.names[top], "bold"), f"{counts[top]:,}", right[top], "")
        children = [c for c in taxonomy.tree.children(int(top)) if counts[c]]
        children.sort(key=lambda c: -counts[c])
        for child in children[:most]:
            style = "italic dim" if taxonomy.is_other[child] else "cyan"
            name = Text.assemble(("  " + taxonomy.names[child], style))
            text = " ".join(corpus.texts[example[child]].split()) if child in example else ""
            table.add_row(name, f"{counts[child]:,}", right[child], Text(text, "dim"))
        if len(children) > most:
            rest = int(sum(counts[c] for c in children[most:]))
            table.add_row(Text(f"  {len(children) - most} more", "dim"), f"{rest:,}", "", "")
    none = int((assignments.labels < 0).sum())
    if none:
        table.add_row(Text("None", "bold"), f"{none:,}", "", Text("no topic reaches these", "dim"))
    return table


def show_scores(scores: Scores) -> Group:
    """Return both protocols, level by level."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("")
    for title in ("B-cubed F1", "V-measure", "accuracy"):
        table.add_column(title, justify="right")
    names = {"all": "all documents", "paper": "as the paper counts"}
    for one in scores:
        if one.protocol == "all":
            for number, level in enumerate(one.levels, start=1):
                _score_row(table, f"level {number}", level, "")
        _score_row(table, f"mean, {names[one.protocol]}", one.mean, "bold")
    note = Text(
        "The paper counts the root as a level of score 1 and leaves out documents in no topic.",
        "dim",
    )
    return Group(table, note)


def _score_row(table: Table, name: str, level: object, style: str) -> None:
    values = (getattr(level, key) for key in ("bcubed_f1", "v_measure", "accuracy"))
    cells = ("" if value is None else f"{value:.3f}" for value in values)
    table.add_row(Text(name, style), *(Text(cell, style) for cell in cells))


def _right(corpus: DemoCorpus, assignments: Assignments) -> list[str]:
    """Share of right placements per topic as text; empty for Other, which has no truth."""
    taxonomy = assignments.taxonomy
    unseen = ~assignments.is_seed
    given, truth = assignments.levels[unseen], corpus.taxonomy.tree.ancestors[corpus.gold[unseen]]
    n = len(taxonomy)
    all_given = np.bincount(given[given >= 0], minlength=n)
    hits = np.bincount(given[(given >= 0) & (given == truth)], minlength=n)
    return [
        f"{hits[t] / all_given[t]:.0%}" if all_given[t] and not taxonomy.is_other[t] else ""
        for t in range(n)
    ]


def _examples(assignments: Assignments) -> dict[int, int]:
    """Find the most central document of each topic that is no seed."""
    first = assignments.primary
    distance: NDArray[np.floating] = assignments.at(assignments.distance)[first]
    found: dict[int, int] = {}
    for row in np.argsort(distance, kind="stable"):
        topic = int(assignments.labels[row])
        if topic >= 0 and topic not in found and not assignments.is_seed[row]:
            found[topic] = int(row)
    return found
