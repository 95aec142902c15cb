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
        seeds = read_seeds(file, taxonomy)
    except SeedError as fault:
        raise CorpusError(_of_gold(str(fault))) from None
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


def _of_gold(message: str) -> str:
    """What is wrong with the same table when it is no table of seeds."""
    plain = message.replace("the seeds can't be read", "gold can't be read")
    return plain.replace("has no seeds", "has no labels").replace(" or text,topic", "")
