"""Gold: the topics that experts gave to documents, one row for each topic of a document."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike

from hierseed.errors import CorpusError
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
    seeds = read_seeds(file, taxonomy)
    if holds:
        seeds.respell(holds)
    if seeds.texts:
        raise CorpusError(
            f"{len(seeds.texts):,} rows of {file} have no id. "
            "Gold is matched by the document's id: fill in the column 'id'"
        )
    return seeds.by_id
