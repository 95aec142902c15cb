"""Gold labels, and the scores of a table of placed documents against them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from os import PathLike
from typing import Any

import numpy as np

from hierseed.errors import CorpusError, SeedError, TaxonomyError, name_some
from hierseed.evaluate import Scores, score
from hierseed.io.records import Records, as_text, choose_column, open_records
from hierseed.io.records.frames import open_frame
from hierseed.io.records.rows import Fault
from hierseed.io.seeds import TopicFinder, read_seeds
from hierseed.taxonomy import Taxonomy
from hierseed.topics import OTHER, SEPARATOR

YES = {"true", "1", "yes", "1.0"}


def gold_topics(
    gold: Any, taxonomy: Taxonomy, holds: Callable[[str], bool] | None = None
) -> dict[str, list[int]]:
    """Read gold labels of any kind: mapping of id to path or paths, data frame, or file."""
    if isinstance(gold, Mapping):
        finder = TopicFinder(taxonomy, none=True)
        return {
            str(id): list(chain.from_iterable(map(finder.find_all, _listed(paths))))
            for id, paths in gold.items()
        }
    return read_gold(open_frame("gold", gold) or gold, taxonomy, holds)


def _listed(paths: str | Iterable[str]) -> Iterable[str]:
    return [paths] if isinstance(paths, str) else paths


def read_gold(
    file: str | PathLike[str] | Records,
    taxonomy: Taxonomy,
    holds: Callable[[str], bool] | None = None,
) -> dict[str, list[int]]:
    """Read rows of `id,topic`: topic ids per document, in the order of the file; none for `None`.

    With `holds`, which tests whether an id exists, 7.0 is document 7 unless a document 7.0 exists,
    and vice versa.
    """
    name = file if isinstance(file, str | PathLike) else file.path
    try:
        seeds = read_seeds(file, taxonomy, strict=False, called="gold", none=True)
    except SeedError as fault:
        raise CorpusError(fault.message, fault.advice) from None
    if seeds.faults:
        seeds.faults.refuse(CorpusError, f"{len(seeds.faults):,} rows of {name}")
    if not seeds.by_id and not seeds.texts:
        raise CorpusError(f"{name} has no labels. Give rows of id,topic")
    if holds:
        seeds.respell(holds)
    if seeds.blank:
        rows = "row has" if seeds.blank == 1 else "rows have"
        warnings.warn(
            f"{seeds.blank:,} {rows} no topic in {name}: ignored. Write None as the topic of a "
            "document that belongs to no listed topic.",
            stacklevel=2,
        )
    if seeds.texts:
        raise CorpusError(
            f"{len(seeds.texts):,} rows of {name} have no id. "
            "Gold is matched by the document's id: fill in the column 'id'"
        )
    return seeds.by_id


@dataclass(frozen=True)
class TableScore:
    """Scores, and the numbers of documents behind them."""

    scores: Scores
    documents: int
    seeds_left_out: int
    without_gold: int
    """Documents in the table without gold labels: left out."""
    without_row: int
    """Documents in gold that the table does not have: counted as None."""
    several: int
    """Documents scored to which gold gives more than one topic."""

    def to_dict(self) -> dict[str, Any]:
        """Plain types, ready for JSON."""
        counts = {
            "documents": self.documents,
            "seeds_left_out": self.seeds_left_out,
            "without_gold": self.without_gold,
            "without_row": self.without_row,
        }
        return counts | self.scores.to_dict()


@dataclass(frozen=True)
class Placed:
    """Topics per document from a table; ids past the taxonomy's end are Other topics."""

    topics: dict[str, list[int]]
    seeds: set[str]
    taxonomy: Taxonomy


def score_table(
    table: str | PathLike[str],
    gold: str | PathLike[str],
    taxonomy: Taxonomy,
    *,
    with_seeds: bool = False,
    only_table: bool = False,
) -> TableScore:
    """Score every document of gold.

    Parameters
    ----------
    table : rows of `id, topic`, with `is_seed` and `is_other` where they are known
    with_seeds : score seeds too; their topics were inputs of the fit, so scores rise
    only_table : leave out documents that the table lacks, instead of counting them as None
    """
    placed = read_placed(table, taxonomy)
    truth = read_gold(gold, taxonomy, placed.topics.__contains__)
    skipped = set() if with_seeds else placed.seeds & truth.keys()
    names = [name for name in truth if name not in skipped]
    missing = [name for name in names if name not in placed.topics]
    if only_table:
        names = [name for name in names if name in placed.topics]
    if skipped and not names:
        raise CorpusError(
            f"all documents of {gold} that are in {table} are seeds ({len(skipped):,}), whose "
            "topics were given to the method.",
            "Give gold of other documents, or score the seeds too with {with_seeds:True}",
        )
    if not names or len(missing) == len(truth):
        raise CorpusError(
            f"none of the {len(truth):,} documents in {gold} is in {table}, such as "
            f"{name_some(list(truth)[:2])}. Check that both use the same ids."
        )
    topics = [placed.topics.get(name, [-1]) for name in names]
    rows = np.repeat(np.arange(len(names)), [len(each) for each in topics])
    deepest = np.array([topic for each in topics for topic in each], dtype=np.intp)
    scores = score(
        taxonomy,
        placed.taxonomy.tree.ancestors[deepest],
        [truth[name] for name in names],
        rows=rows,
    )
    unknown = len(placed.topics.keys() - truth.keys())
    several = sum(len(truth[name]) > 1 for name in names)
    return TableScore(scores, len(names), len(skipped), unknown, len(missing), several)


def read_placed(file: str | PathLike[str], taxonomy: Taxonomy) -> Placed:
    """Read `id` and `topic` of each row; an empty topic is None."""
    records = open_records(file)
    advice = "A table of placed documents has the columns id and topic"
    columns = [choose_column(records, name, advice) for name in ("id", "topic")]
    columns += [name for name in ("is_seed", "is_other") if name in records.columns]
    rows: list[tuple[str, str, bool]] = []
    seeds: set[str] = set()
    for row in records.rows(columns):
        if isinstance(row, Fault):
            raise CorpusError(str(row))
        cells = dict(zip(columns, row.values))
        name, topic = as_text(cells[columns[0]]) or "", as_text(cells[columns[1]]) or ""
        if _is_yes(cells.get("is_seed")):
            seeds.add(name)
        rows.append((name, topic, _is_yes(cells.get("is_other"))))
    return _resolve(rows, seeds, taxonomy, file)


def _resolve(
    rows: list[tuple[str, str, bool]],
    seeds: set[str],
    taxonomy: Taxonomy,
    file: str | PathLike[str],
) -> Placed:
    """Turn paths into ids; Other topics that the method has added are appended."""
    other = {path for _, path, is_other in rows if path and (is_other or _looks_other(path))}
    added = sorted(path for path in other if path not in taxonomy)
    unknown = {path for _, path, _ in rows if path and path not in taxonomy} - set(added)
    orphans = [p for p in added if SEPARATOR in p and p.rpartition(SEPARATOR)[0] not in taxonomy]
    if unknown or orphans:
        bad = sorted({*unknown, *orphans})
        raise TaxonomyError(
            f"{len(bad)} topics of {file} are not in the taxonomy: {name_some(bad)}. "
            "Give the taxonomy that the model was fitted with."
        )
    fitted = taxonomy.add(added) if added else taxonomy
    topics: dict[str, list[int]] = {}
    for name, path, _ in rows:
        topics.setdefault(name, []).append(fitted.index(path) if path else -1)
    return Placed(topics, seeds, fitted)


def _looks_other(path: str) -> bool:
    return path.rpartition(SEPARATOR)[2].split(" (")[0] == OTHER


def _is_yes(value: Any) -> bool:
    return value is True or str(value).strip().lower() in YES
