"""Gold labels: topics assigned by experts, one row for each topic of a document."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any

from hierseed.errors import CorpusError, SeedError
from hierseed.io.records import Records
from hierseed.io.records.frames import open_frame
from hierseed.io.seeds import read_seeds
from hierseed.io.topic_finder import TopicFinder
from hierseed.taxonomy import Taxonomy


def gold_topics(
    gold: Any, taxonomy: Taxonomy, holds: Callable[[str], bool] | None = None
) -> dict[str, list[int]]:
    """Read gold labels of any kind: mapping of id to path or paths, data frame, or file."""
    if isinstance(gold, Mapping):
        finder = TopicFinder(taxonomy)
        return {
            str(id): [finder.find(path) for path in ([paths] if isinstance(paths, str) else paths)]
            for id, paths in gold.items()
        }
    return read_gold(open_frame("gold", gold) or gold, taxonomy, holds)


def read_gold(
    file: str | PathLike[str] | Records,
    taxonomy: Taxonomy,
    holds: Callable[[str], bool] | None = None,
) -> dict[str, list[int]]:
    """Read rows of `id,topic`: topic ids per document, in the order of the file.

    With `holds`, which tests whether an id exists, 7.0 is document 7 unless a document 7.0 exists,
    and vice versa.
    """
    name = file if isinstance(file, str | PathLike) else file.path
    try:
        seeds = read_seeds(file, taxonomy, strict=False, called="gold")
    except SeedError as fault:
        raise CorpusError(fault.message, fault.advice) from None
    if seeds.faults:
        seeds.faults.refuse(CorpusError, f"{len(seeds.faults):,} rows of {name}")
    if not len(seeds):
        raise CorpusError(f"{name} has no labels. Give rows of id,topic")
    if holds:
        seeds.respell(holds)
    if seeds.blank:
        rows = "row has" if seeds.blank == 1 else "rows have"
        warnings.warn(f"{seeds.blank:,} {rows} no topic in {name}: ignored", stacklevel=2)
    if seeds.texts:
        raise CorpusError(
            f"{len(seeds.texts):,} rows of {name} have no id. "
            "Gold is matched by the document's id: fill in the column 'id'"
        )
    return seeds.by_id
