"""Gold: the topics that experts gave to documents, one row for each topic of a document."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from os import PathLike

from hierseed.errors import CorpusError, SeedError
from hierseed.io.seeds import read_seeds
from hierseed.taxonomy import Taxonomy


def read_gold(
    file: str | PathLike[str],
    taxonomy: Taxonomy,
    holds: Callable[[str], bool] | None = None,
) -> dict[str, list[int]]:
    """Read rows of `id,topic`: topic ids per document, in the order of the file.

    With `holds`, which knows the ids of the documents, 7.0 is the document 7 where there is no
    other, and the other way round.
    """
    try:
        seeds = read_seeds(file, taxonomy, strict=False, called="gold")
    except SeedError as fault:
        raise CorpusError(str(fault)) from None
    if seeds.faults:
        raise CorpusError(
            f"{len(seeds.faults):,} rows of {file} can't be used:{seeds.faults.describe()}"
        )
    if not len(seeds):
        raise CorpusError(f"{file} has no labels. Give rows of id,topic")
    if holds:
        seeds.respell(holds)
    if seeds.blank:
        rows = "row has" if seeds.blank == 1 else "rows have"
        warnings.warn(f"{seeds.blank:,} {rows} no topic in {file}: passed over", stacklevel=2)
    if seeds.texts:
        raise CorpusError(
            f"{len(seeds.texts):,} rows of {file} have no id. "
            "Gold is matched by the document's id: fill in the column 'id'"
        )
    return seeds.by_id
