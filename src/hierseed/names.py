"""Parts of a taxonomy: how a path is written, what a name may hold, and checks of all parts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierseed.core.tree import Tree, chains_of_cycles
from hierseed.errors import TaxonomyError

SEPARATOR = " > "
OTHER = "Other"

# Control characters, line separators, the byte order mark, halves of surrogate pairs and
# non-characters: each is forbidden or changed by at least one of the formats we write.
UNWRITABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
UNWRITABLE_NAMES = {"\n": "a line break", "\r": "a line break", "\t": "a tab"}

EDITS = ("rename", "move", "merge", "split", "delete")

Path = str | Sequence[str]


def split_path(path: Path) -> tuple[str, ...]:
    """Return the names along a path, stripped of white space at their ends."""
    parts = path.split(SEPARATOR) if isinstance(path, str) else path
    return tuple(str(part).strip() for part in parts)


def name_fault(name: str) -> str:
    """Return what is wrong with a name, or an empty string."""
    if not name.strip():
        return "an empty name"
    if name != name.strip():
        return "white space around the name"
    if SEPARATOR in f" {name} ":
        return f"the separator {SEPARATOR!r}"
    if unwritable := UNWRITABLE.search(name):
        character = unwritable.group()
        called = UNWRITABLE_NAMES.get(character, f"the character U+{ord(character):04X}")
        return f"{called}, which not every file format can hold,"
    return ""


def free_name(taken: set[str]) -> str:
    """Return a name for an Other topic that none of its siblings has."""
    name, number = OTHER, 1
    while name in taken:
        number += 1
        name = f"{OTHER} (unlisted)" if number == 2 else f"{OTHER} (unlisted {number - 1})"
    return name


def checked_texts(what: str, values: Sequence[str]) -> tuple[str, ...]:
    """Return a tuple of texts; refuse anything else."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TaxonomyError(f"{what} is {values!r:.60}, not a sequence of texts")
    texts = tuple(values)
    wrong = [i for i, text in enumerate(texts) if not isinstance(text, str)]
    if wrong:
        raise TaxonomyError(
            f"{what} of {len(wrong):,} topics are no texts: topic {wrong[0]} has "
            f"{texts[wrong[0]]!r:.60}. Give one text per topic."
        )
    return texts


def checked_parents(given: Any, n: int) -> tuple[tuple[int, ...], ...]:
    """Return further parents; refuse those that are not topics."""
    if given is None:
        return ((),) * n
    try:
        found = tuple(tuple(int(parent) for parent in some) for some in given)
    except (TypeError, ValueError) as fault:
        raise TaxonomyError(f"more_parents can't be used: {fault}. Give a list each.") from None
    if wrong := [p for some in found for p in some if not 0 <= p < n]:
        raise TaxonomyError(f"more_parents names the topic {wrong[0]}, outside 0 … {n - 1}")
    return found


def checked_tree(parent: Sequence[int] | NDArray[np.intp]) -> Tree:
    """Return the tree; refuse parents that do not form one."""
    try:
        given = np.asarray(parent)
        if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
            raise ValueError("it is no list of whole numbers")
        return Tree(given.astype(np.intp))
    except (ValueError, TypeError, OverflowError) as fault:
        raise TaxonomyError(
            f"parent can't be used: {fault}. Give the id of each topic's parent, -1 at level 1; "
            "Taxonomy.from_parents takes parents in any order."
        ) from None


class Edit(NamedTuple):
    """One edit: rename, move, merge, split or delete; of which path, and into what."""

    kind: str
    path: str
    to: str = ""


def checked_log(log: Iterable[Sequence[str]]) -> tuple[Edit, ...]:
    """Return a log that holds edits only; one read from a file may hold anything."""
    try:
        made = tuple(Edit(*edit) for edit in log)
    except TypeError:
        made = (Edit("", ""),)
    for edit in made:
        if edit.kind not in EDITS or not all(isinstance(text, str) for text in edit):
            raise TaxonomyError(
                "the log of edits can't be used: each edit is a list of its kind "
                f"({', '.join(EDITS)}), a path, and the path or names that came of it"
            )
    return made


def taxonomy_faults(
    names: Sequence[str], tree: Tree, more_parents: Sequence[Sequence[int]]
) -> list[str]:
    """Find invalid names, repeated paths and topics that are their own ancestors."""
    faults = [
        f"{fault} in topic {i} ({name!r})"
        for i, name in enumerate(names)
        if (fault := name_fault(name))
    ]
    first: dict[tuple[int, str], int] = {}
    for topic, key in enumerate(zip(tree.parent.tolist(), names)):
        if key in first:
            path = SEPARATOR.join([*(names[i] for i in tree.path(key[0])), key[1]])
            faults.append(f"the path {path!r} occurs twice (topics {first[key]} and {topic})")
        first.setdefault(key, topic)
    if any(more_parents):
        every = [[int(p), *more] for p, more in zip(tree.parent, more_parents)]
        for chain in chains_of_cycles([[p for p in some if p >= 0] for some in every]):
            listed = " -> ".join(repr(names[i]) for i in [*chain, chain[0]])
            faults.append(f"a topic is its own ancestor: {listed}")
    return faults


def cycle_text(names: Sequence[str], parent: Sequence[int], start: int) -> str:
    """The topics of a cycle, for a message."""
    chain, topic = [names[start]], parent[start]
    while topic != start:
        chain.append(names[topic])
        topic = parent[topic]
    return " -> ".join(repr(name) for name in [*chain, names[start]])


def refuse_faults(faults: Sequence[str]) -> None:
    """Raise all faults at once, if there are any."""
    if faults:
        count = f"{len(faults)} faults" if len(faults) > 1 else "a fault"
        listed = "".join(f"\n  - {fault}" for fault in faults)
        raise TaxonomyError(f"{count} in the taxonomy:{listed}")
