"""Edits of a taxonomy, with a log by which an earlier model finds its topics again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hierseed.errors import TaxonomyError
from hierseed.names import SEPARATOR, Edit, Path, split_path

if TYPE_CHECKING:
    from hierseed.taxonomy import Taxonomy


def renamed(taxonomy: Taxonomy, path: Path, name: str) -> Taxonomy:
    """The taxonomy with another name for one topic."""
    topic = taxonomy.index(path)
    names = [*taxonomy.names]
    names[topic] = name
    above = taxonomy.paths[topic].rpartition(SEPARATOR)[0]
    to = f"{above}{SEPARATOR}{name}" if above else name
    return _rebuilt(
        taxonomy, range(len(taxonomy)), Edit("rename", taxonomy.paths[topic], to), names
    )


def moved(taxonomy: Taxonomy, path: Path, under: Path | None) -> Taxonomy:
    """The taxonomy with one topic, and all below it, under another parent; None: at level 1."""
    topic, above = taxonomy.index(path), -1 if under is None else taxonomy.index(under)
    if above in _below(taxonomy, topic):
        raise TaxonomyError(f"{taxonomy.paths[topic]!r} can't be moved below itself")
    parent = [int(p) for p in taxonomy.tree.parent]
    parent[topic] = above
    name = taxonomy.names[topic]
    to = name if above < 0 else f"{taxonomy.paths[above]}{SEPARATOR}{name}"
    edit = Edit("move", taxonomy.paths[topic], to)
    return _rebuilt(taxonomy, range(len(taxonomy)), edit, parent=parent)


def merged(taxonomy: Taxonomy, path: Path, into: Path) -> Taxonomy:
    """The taxonomy with one topic merged into another, which also gets its children."""
    topic, target = taxonomy.index(path), taxonomy.index(into)
    if target in _below(taxonomy, topic):
        raise TaxonomyError(f"{taxonomy.paths[topic]!r} can't be merged into a topic below it")
    parent = [target if int(p) == topic else int(p) for p in taxonomy.tree.parent]
    kept = [i for i in range(len(taxonomy)) if i != topic]
    edit = Edit("merge", taxonomy.paths[topic], taxonomy.paths[target])
    return _rebuilt(taxonomy, kept, edit, parent=parent)


def split(taxonomy: Taxonomy, path: Path, names: Sequence[str]) -> Taxonomy:
    """The taxonomy with new children for one topic."""
    topic = taxonomy.index(path)
    here = taxonomy.paths[topic]
    longer = taxonomy.add([(*split_path(here), name) for name in names])
    longer.log = (*taxonomy.log, Edit("split", here, "; ".join(names)))
    return longer


def deleted(taxonomy: Taxonomy, path: Path) -> Taxonomy:
    """The taxonomy without one topic and all below it."""
    topic = taxonomy.index(path)
    gone = _below(taxonomy, topic)
    kept = [i for i in range(len(taxonomy)) if i not in gone]
    return _rebuilt(taxonomy, kept, Edit("delete", taxonomy.paths[topic]))


def match_topics(earlier: Taxonomy, later: Taxonomy) -> list[int]:
    """For each topic of `later`, the topic of `earlier` that it was, -1 for a new one.

    Followed by the edits made since `earlier`, then by address, by code, and by path.
    """
    known = len(earlier.log)
    log = later.log[known:] if later.log[:known] == earlier.log else later.log
    followed = {_follow(log, path): i for i, path in enumerate(earlier.paths)}
    by_address = _unique(earlier.addresses)
    by_code = _unique(earlier.codes)
    by_path = {path: i for i, path in enumerate(earlier.paths)} if not log else {}
    found = []
    for topic, path in enumerate(later.paths):
        steps: tuple[tuple[dict[Any, int], str], ...] = (
            (followed if log else {}, path),
            (by_address, later.addresses[topic]),
            (by_code, later.codes[topic]),
            (by_path, path),
        )
        found.append(next((known[key] for known, key in steps if key and key in known), -1))
    return found


def _follow(log: Sequence[Edit], path: str) -> str | None:
    """The path of a topic after some edits; None if it was deleted or merged into another."""
    for edit in log:
        if path != edit.path and not path.startswith(edit.path + SEPARATOR):
            continue
        if edit.kind == "delete" or (edit.kind == "merge" and path == edit.path):
            return None
        if edit.kind in ("rename", "move", "merge"):
            path = edit.to + path[len(edit.path) :]
    return path


def _unique(texts: Sequence[str]) -> dict[str, int]:
    """Where each text is, for those that only one topic has."""
    places: dict[str, int] = {}
    for i, text in enumerate(texts):
        places[text] = -1 if text in places else i
    return {text: i for text, i in places.items() if text and i >= 0}


def _below(taxonomy: Taxonomy, topic: int) -> set[int]:
    """A topic and all below it."""
    found = {topic}
    for i, parent in enumerate(taxonomy.tree.parent.tolist()):
        if parent in found:
            found.add(i)
    return found


def _rebuilt(
    taxonomy: Taxonomy,
    kept: Sequence[int],
    edit: Edit,
    names: Sequence[str] | None = None,
    parent: Sequence[int] | None = None,
) -> Taxonomy:
    """The topics that are kept, with other names or parents; parents come first again."""
    names = taxonomy.names if names is None else names
    parent = [int(p) for p in taxonomy.tree.parent] if parent is None else parent
    place = {old: new for new, old in enumerate(kept)} | {-1: -1}
    made = type(taxonomy).from_parents(
        [names[i] for i in kept],
        [place[parent[i]] for i in kept],
        codes=[taxonomy.codes[i] for i in kept],
        descriptions=[taxonomy.descriptions[i] for i in kept],
        is_other=[bool(taxonomy.is_other[i]) for i in kept],
        more_parents=[
            [place[p] for p in taxonomy.more_parents[i] if p in place and p != parent[i]]
            for i in kept
        ],
        addresses=[taxonomy.addresses[i] for i in kept],
        vocabulary=taxonomy.vocabulary,
    )
    made.log = (*taxonomy.log, edit)
    return made
