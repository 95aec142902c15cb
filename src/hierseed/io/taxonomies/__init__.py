"""Taxonomy files: read and write every format in FORMATS.

Each format family has one module with the same anatomy: `read(source, **options)` gives a
`Taxonomy` or raises one error with every fault and its place; `write(taxonomy, **options)`
gives the text of a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from hierseed.errors import TaxonomyError
from hierseed.io.atomic import atomic_file
from hierseed.io.taxonomies.catalogue import FORMATS, Format, format_of_ending, guess_format
from hierseed.io.taxonomies.source import Source, tidy, tidy_description
from hierseed.taxonomy import Taxonomy

__all__ = [
    "FORMATS",
    "Format",
    "TaxonomyFile",
    "format_of_ending",
    "format_of_file",
    "read_taxonomy",
    "write_taxonomy",
]


@dataclass(frozen=True)
class TaxonomyFile:
    """A taxonomy file, and how it is read: `TaxonomyFile("t.ttl", {"language": "de"})`."""

    path: Path
    options: Mapping[str, Any] = field(default_factory=dict)

    def read(self) -> Taxonomy:
        """Read the taxonomy; options of other formats are left out."""
        known = FORMATS[format_of_file(self.path, self.options.get("encoding"))].read_options
        given = {
            name: value
            for name, value in self.options.items()
            if name == "encoding" or name in known
        }
        return read_taxonomy(self.path, **given)


def read_taxonomy(
    file: str | PathLike[str],
    format: str | None = None,
    *,
    encoding: str | None = None,
    **options: Any,
) -> Taxonomy:
    """Read a taxonomy; the format is guessed from ending and content unless it is named.

    Parameters
    ----------
    file : the file to read
    format : one of FORMATS
    encoding : of a text that is not UTF-8; "auto" finds out
    options : what the format takes, listed as `FORMATS[format].read_options`; `language` and
        `parent="first"` for SKOS, `columns`, `levels`, `sheet` for tables, and so on

    Raises
    ------
    TaxonomyError with every fault found, each with its line, cell or address
    """
    source = Source.open(file, encoding)
    chosen = _format(format or guess_format(source))
    _check_options(chosen, options, chosen.read_options, "reading")
    return chosen.read(source, **options)


def format_of_file(file: str | PathLike[str], encoding: str | None = None) -> str:
    """Name the format of a file, as `read_taxonomy` guesses it."""
    return guess_format(Source.open(file, encoding))


def write_taxonomy(
    taxonomy: Taxonomy,
    file: str | PathLike[str],
    format: str | None = None,
    *,
    others: bool = False,
    **options: Any,
) -> None:
    """Write a taxonomy in the format of the file's ending, or in the one named.

    The file appears whole or not at all. Other topics are left out unless `others` is set.
    `options` are those of `FORMATS[format].write_options`.
    """
    name = format or format_of_ending(file)
    if name is None:
        raise TaxonomyError(
            f"no format for the ending of {fspath(file)!r}; name one: {', '.join(FORMATS)}"
        )
    chosen = _format(name)
    _check_options(chosen, options, chosen.write_options, "writing")
    content = chosen.write(_writable(taxonomy, others), **options)
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        with atomic_file(file) as partial:
            partial.write_bytes(data)
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise TaxonomyError(f"can't write the taxonomy {fspath(file)}: {reason}") from fault


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise TaxonomyError(f"no taxonomy format {name!r}; say one of {', '.join(FORMATS)}")
    return FORMATS[name]


def _check_options(
    chosen: Format, options: dict[str, Any], known: Sequence[str], doing: str
) -> None:
    if unknown := [option for option in options if option not in known]:
        takes = ", ".join(known) or "none"
        raise TaxonomyError(
            f"{doing} {chosen.name} takes no option {', '.join(unknown)}; it takes: {takes}"
        )


def _writable(taxonomy: Taxonomy, others: bool) -> Taxonomy:
    """Leave Other topics out, and what no file can hold out of codes and descriptions."""
    kept = taxonomy if others else taxonomy.without_others()
    codes = [tidy(code) for code in kept.codes]
    texts = [tidy_description(text) for text in kept.descriptions]
    if tuple(codes) == kept.codes and tuple(texts) == kept.descriptions:
        return kept
    return Taxonomy(
        kept.names, kept.tree.parent, codes=codes, descriptions=texts, is_other=kept.is_other,
        more_parents=kept.more_parents, addresses=kept.addresses, vocabulary=kept.vocabulary,
        log=kept.log,
    )  # fmt: skip
