"""Scores as a table that a person can read: both protocols, level by level."""

from __future__ import annotations

from collections.abc import Sequence

from hierseed.evaluate.protocol import LevelScore, Score, Scores

COLUMNS = {
    "bcubed_precision": "B3 P",
    "bcubed_recall": "B3 R",
    "bcubed_f1": "B3 F1",
    "v_measure": "V",
    "accuracy": "accuracy",
    "macro_f1": "macro F1",
    "placed": "placed",
    "clusters": "clusters",
    "topics": "topics",
}
MEANING = {
    "all": "every document, every level; None and Other are clusters of their own",
    "paper": "as the paper scores: None left out, the root counted as a level of score 1",
}


def to_text(scores: Scores) -> str:
    """Plain text, columns lined up."""
    blocks = [f"coverage  {scores.coverage:.1%} of documents have a topic"]
    for score in scores:
        rows = table(score)
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = ["  ".join(cell.rjust(w) for cell, w in zip(row, widths)) for row in rows]
        blocks.append("\n".join([title(score), *lines, *_below(score)]))
    return "\n\n".join(blocks) + "\n"


def title(score: Score) -> str:
    """Say which protocol it is, and what that means."""
    return f"Protocol {score.protocol}: {MEANING[score.protocol]} ({score.documents:,} documents)"


def table(score: Score) -> list[tuple[str, ...]]:
    """Header, one row a level, and the mean."""
    rows: list[tuple[str, ...]] = [("level", *COLUMNS.values())]
    rows += [(str(k), *_cells(level)) for k, level in enumerate(score.levels, start=1)]
    return [*rows, ("mean", *_cells(score.mean))]


def _below(score: Score) -> Sequence[str]:
    if score.hierarchical is None:
        return ()
    p, r, f = score.hierarchical
    return ("", f"over ancestor sets: precision {p:.3f}, recall {r:.3f}, F1 {f:.3f}")


def _cells(level: LevelScore) -> list[str]:
    cells = []
    for name in COLUMNS:
        value = getattr(level, name)
        cells.append(
            "" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.3f}"
        )
    return cells
