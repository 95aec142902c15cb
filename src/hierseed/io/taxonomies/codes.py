"""Codes that carry the tree: the parent drops the last part, some digits, or is a prefix.

- `dotted`  `C18.452.845` is under `C18.452` (MeSH tree numbers, ACM, decimal outlines)
- `digits`  `105` is under `1` and `1001` under `10`: the last two digits are dropped
  (Comparative Agendas). The longest listed prefix would put 105 under 10.
- `prefix`  `A10` is under `A1`, the longest listed prefix (JEL)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from hierseed.errors import TaxonomyError, plain_text
from hierseed.io.taxonomies.build import Entry, Source
from hierseed.taxonomy import Taxonomy

SCHEMES = ("dotted", "digits", "prefix")
MOST = 0.8  # share of the codes of one length whose parent must be listed for a width to fit

PARTED = "./-_"
_LAST_PART = re.compile(r"[.\-/_][^.\-/_]*$")


def parents_of_codes(
    source: Source,
    entries: Sequence[Entry],
    *,
    scheme: str | None = None,
    digits: int | None = None,
) -> None:
    """Fill in the parent of each entry; the scheme is inferred unless it is named."""
    if scheme is not None and scheme not in SCHEMES:
        raise TaxonomyError(f"no scheme {scheme!r} for codes; say one of {', '.join(SCHEMES)}")
    if digits is not None and digits < 1:
        raise TaxonomyError(f"digits is {digits}; say how many digits a child adds, 1 or more")
    if not entries:
        return
    codes = [entry.code for entry in entries]
    scheme = scheme or ("digits" if digits else _guess_scheme(codes))
    if scheme == "digits" and digits is None:
        digits = _guess_digits(source, codes)
    listed = set(codes)
    shortest = min(map(len, codes))
    for entry in entries:
        above = ""
        if scheme == "dotted":
            above = _LAST_PART.sub("", entry.code.rstrip(PARTED))
            above = "" if above == entry.code.rstrip(PARTED) else above
        elif scheme == "digits" and digits and len(entry.code) > max(digits, shortest):
            above = entry.code[:-digits]
        elif scheme == "prefix":
            prefixes = (entry.code[:end] for end in range(len(entry.code) - 1, 0, -1))
            above = next((prefix for prefix in prefixes if prefix in listed), "")
        if above and above not in listed and f"{above}." in listed:
            above = f"{above}."  # `1.` above `1.2`
        if above and above not in listed:
            source.fault(
                entry.where, f"the code {entry.code!r} belongs under {above!r}, which is not listed"
            )
        elif above:
            entry.parents = [above]


def _guess_scheme(codes: Sequence[str]) -> str:
    if all(code.isdecimal() for code in codes):
        return "digits"
    listed = {code.rstrip(PARTED) for code in codes}
    cut = [_LAST_PART.sub("", code) for code in listed if _LAST_PART.search(code)]
    return "dotted" if any(above in listed for above in cut) else "prefix"


def _guess_digits(source: Source, codes: Sequence[str]) -> int:
    """Find the width under which the codes of every length have their parents listed."""
    listed, lengths = set(codes), Counter(map(len, codes))
    shortest, longest = min(lengths), max(lengths)
    numbers = sorted(map(int, codes))
    if shortest == longest or numbers == list(range(numbers[0], numbers[0] + len(numbers))):
        return longest  # a flat list: no code is longer than that
    fitting = []
    for width in range(1, longest):
        deeper = {n: 0 for n in lengths if n > max(width, shortest)}
        for code in codes:
            if len(code) in deeper:
                deeper[len(code)] += code[:-width] in listed
        if deeper and all(deeper[n] >= MOST * lengths[n] for n in deeper):
            fitting.append(width)
    if not fitting:
        source.stop(
            "", "the codes do not determine the parents; if 105 belongs to 1, set ", "{digits:2}"
        )
    if fitting[0] == 1 and (2 in fitting or longest == 2):
        # 1, 10, 105 may be a chain, or 10 and 105 siblings; 1, 2, 12 may be a flat list
        code = max(codes, key=len)
        ways = [f"{code} under {code[:-n]}" if n < len(code) else "a flat list" for n in (1, 2)]
        source.stop(
            "",
            "the codes can be read in two ways; say ",
            f"{{digits:1}} for {plain_text(ways[0])}, or {{digits:2}} for {plain_text(ways[1])}",
        )
    return fitting[0]  # the smallest width gives the most codes a parent


def make_codes(taxonomy: Taxonomy) -> list[str]:
    """Number topics 1, 1.1, 1.2, … where none has a code of its own.

    Siblings get numbers of one length, so that 1 does not look like the parent of 10.
    """
    counts: Counter[int] = Counter()
    codes: list[str] = []
    for parent in map(int, taxonomy.tree.parent):
        counts[parent] += 1
        width = len(str(len(taxonomy.tree.children(parent))))
        number = f"{counts[parent]:0{width}}"
        codes.append(number if parent < 0 else f"{codes[parent]}.{number}")
    return codes


def check_codes(taxonomy: Taxonomy, codes: Sequence[str]) -> None:
    """Refuse to write codes that would not give the same tree again."""
    source = Source("the taxonomy", b"")
    entries = [
        Entry(code, name, f"topic {path!r}", code=code)
        for code, name, path in zip(codes, taxonomy.names, taxonomy.paths)
    ]
    if not all(codes) or len(set(codes)) < len(codes):
        raise TaxonomyError(
            "a table of codes needs a code of its own for each topic; write with renumber=True"
        )
    parents_of_codes(source, entries)
    for entry, parent in zip(entries, taxonomy.tree.parent):
        wanted = [codes[parent]] if parent >= 0 else []
        if entry.parents != wanted:
            source.fault(entry.where, f"the code {entry.code!r} does not determine its parent")
    source.refuse()
