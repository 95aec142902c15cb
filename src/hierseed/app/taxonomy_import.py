"""A taxonomy, seeds or expert labels from a file: what would change, and then the change.

The first file of a kind is taken over at once. A later one is shown first: what it adds, what it
would remove, and the choice between the two.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hierseed.app import other_tools
from hierseed.app.project import Project
from hierseed.app.store import documents, edits, examples, gold, labels, topics
from hierseed.app.store.actions import ANYONE, Person, record
from hierseed.app.wording import fault_lines, worded
from hierseed.errors import HierSeedError, ProjectError, TaxonomyError, name_some
from hierseed.io.seeds import Seeds, read_seeds, respelled
from hierseed.taxonomy import Taxonomy

FORMULA = ("=", "+", "-", "@")
Pairs = list[tuple[int, int]]


@dataclass
class Plan:
    """Changes that loading a file would make."""

    kind: str
    name: str
    facts: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    added: int = 0
    removed: int = 0
    kept: int = 0
    removes: list[str] = field(default_factory=list)  # the first things that would go
    taxonomy: Taxonomy | None = None
    pairs: Pairs = field(default_factory=list)
    texts: list[tuple[int, str]] = field(default_factory=list)
    outdated: Pairs = field(default_factory=list)

    @property
    def usable(self) -> bool:
        """True where there is something to take over."""
        return bool(self.taxonomy is not None or self.pairs or self.texts)

    def view(self) -> dict[str, Any]:
        """The plan as the page shows it."""
        return {
            "file": self.name, "facts": self.facts, "faults": self.faults, "added": self.added,
            "removed": self.removed, "kept": self.kept, "removes": self.removes,
            "usable": self.usable,
        }  # fmt: skip


def make_plan(project: Project, kind: str, file: Path, name: str) -> Plan:
    """Read a file and compare it with what is there; nothing is written."""
    if kind == "taxonomy":
        return _plan_taxonomy(project, file, name)
    if kind not in ("seeds", "gold"):
        raise ProjectError(f"a file of the kind {kind!r} is not known. Reload the page")
    here = topics.current(project)
    if not len(here.taxonomy):
        raise ProjectError(f"load the taxonomy before the {kind}: they name its topics")
    plan = Plan(kind, name)
    file, tool = other_tools.convert(file)
    if tool:
        plan.facts.append(f"Read as an export of {tool}")
    try:
        seeds = read_seeds(file, here.taxonomy, strict=False)
    except HierSeedError as fault:
        plan.faults = [worded(fault).replace(file.name, name)]
        return plan
    plan.faults = [text.replace(file.name, name) for text in fault_lines(seeds.faults)]
    if seeds.blank:
        plan.facts.append(f"{seeds.blank:,} rows without a topic passed over")
    pairs, missing = _pairs(project, seeds, here.ids)
    plan.faults += _describe_missing(name, missing)
    if tool:
        file.unlink(missing_ok=True)  # the table made from the export
    (_plan_seeds if kind == "seeds" else _plan_gold)(project, plan, pairs, seeds, here)
    return plan


def _plan_taxonomy(project: Project, file: Path, name: str) -> Plan:
    plan = Plan("taxonomy", name)
    try:
        taxonomy = Taxonomy.read(file).without_others()
        if not len(taxonomy):
            raise TaxonomyError(
                f"{name} has no topics. Write one path a line, such as: Health > Diet"
            )
    except HierSeedError as fault:
        text = worded(fault).replace(str(file), name).replace(file.name, name)
        plan.faults = text.split("\n  - ")
        return plan
    here = topics.current(project)
    new, old = set(taxonomy.paths), dict(zip(here.taxonomy.paths, here.ids))
    gone = [path for path in old if path not in new]
    counts = labels.counts(project)
    lost = sum(counts.get(old[path], 0) for path in gone)
    plan.taxonomy = taxonomy
    plan.added, plan.removed = len(new - set(old)), len(gone)
    plan.kept = len(new & set(old))
    plan.removes = gone[:8]
    if lost:
        plan.facts.append(f"{lost:,} seeds belong to topics that are not in this file")
    return plan


def _plan_seeds(
    project: Project, plan: Plan, pairs: Pairs, seeds: Seeds, here: topics.Topics
) -> None:
    from_file, current = set(labels.file_seeds(project)), labels.seeds(project)
    wanted = dict.fromkeys(pairs)
    own = [(here.ids[topic], text) for topic, text in zip(seeds.text_topics, seeds.texts)]
    # A decision that a person made about a document counts more than a file.
    rejected = labels.rejections(project)
    by_hand = {row for row, ids in current.items() if any((row, id) not in from_file for id in ids)}
    kept_by_hand = [
        (row, topic)
        for row, topic in wanted
        if topic in rejected.get(row, []) or (row in by_hand and topic not in current[row])
    ]
    for pair in kept_by_hand:
        del wanted[pair]
    if kept_by_hand:
        plan.facts.append(f"{len(kept_by_hand):,} rows differ from decisions made here, which stay")
    present = {(row, id) for row, ids in current.items() for id in ids}
    old_texts = set(examples.pairs(project))
    plan.pairs, plan.texts = list(wanted), own
    plan.outdated = sorted(from_file - set(wanted))
    plan.added = len(set(wanted) - present) + len(set(own) - old_texts)
    plan.removed = len(plan.outdated) + len(old_texts - set(own))
    plan.kept = len(set(wanted) & present) + len(set(own) & old_texts)
    named = documents.get(project, [row for row, _ in plan.outdated[:8]])
    ids = {document.row: document.id for document in named}
    plan.removes = [f"{ids[row]}: {here.path(topic)}" for row, topic in plan.outdated[:8]]


def _plan_gold(
    project: Project, plan: Plan, pairs: Pairs, seeds: Seeds, here: topics.Topics
) -> None:
    present = set(gold.pairs(project))
    plan.pairs = list(dict.fromkeys(pairs))
    plan.added = len(set(pairs) - present)
    plan.removed = len(present - set(pairs))
    plan.kept = len(set(pairs) & present)


def carry_out(project: Project, plan: Plan, *, replace: bool, by: Person = ANYONE) -> str:
    """Take the file over; return a sentence about what was done. Undo takes it back."""
    if plan.kind == "taxonomy" and plan.taxonomy is not None:
        edits.replace_all(project, plan.taxonomy, plan.name, keep=not replace, by=by)
        return _describe_change(plan, "topics", replace)
    here = topics.current(project)
    what = {"seeds": "seeds", "gold": "expert labels"}[plan.kind]
    with record(project, f"Loaded the {what} {plan.name!r}", by) as action:
        if plan.kind == "gold":
            gold.write(action, plan.pairs, replace=replace)
        else:
            if replace:
                for row, topic in plan.outdated:
                    labels.write(action, here, row, topic, labels.NOTHING, "file")
                stale = set(examples.pairs(project)) - set(plan.texts)
                examples.remove(action, stale)
            for row, topic in plan.pairs:
                labels.write(action, here, row, topic, labels.YES, "file")
            examples.write(action, plan.texts)
    return _describe_change(plan, what, replace)


def _describe_change(plan: Plan, what: str, replace: bool) -> str:
    parts = [f"{plan.added:,} {what} added"]
    if replace and plan.removed:
        parts.append(f"{plan.removed:,} removed")
    if plan.kept:
        parts.append(f"{plan.kept:,} unchanged")
    return ", ".join(parts)


def remove(project: Project, kind: str, by: Person = ANYONE) -> int:
    """Remove all seeds or all expert labels, from files and by hand; undo restores them."""
    here = topics.current(project)
    if kind == "gold":
        with record(project, "Removed the expert labels", by) as action:
            count = len(gold.pairs(project))
            gold.write(action, [], replace=True)
            return count
    if kind != "seeds":
        raise ProjectError(f"{kind!r} can't be removed. Reload the page")
    with record(project, "Removed all seeds", by) as action:
        current = [(row, id) for row, ids in labels.seeds(project).items() for id in ids]
        texts = examples.pairs(project)
        for row, id in current:
            labels.write(action, here, row, id, labels.NOTHING, "page")
        examples.remove(action, set(texts))
        return len(current) + len(texts)


def _pairs(project: Project, seeds: Seeds, ids: tuple[int, ...]) -> tuple[Pairs, list[str]]:
    """(Row, topic) of the seeds in the corpus, and the ids that are not in it."""
    spelled = {id: [id, respelled(id), _unguarded(id)] for id in seeds.by_id}
    rows = documents.rows_of(project, [other for found in spelled.values() for other in found])
    pairs, missing = [], []
    for id, found in seeds.by_id.items():
        row = next((rows[other] for other in spelled[id] if other in rows), None)
        if row is None:
            missing.append(id)
        else:
            pairs += [(row, ids[topic]) for topic in found]
    return pairs, missing


def _unguarded(id: str) -> str:
    """The id without the apostrophe that an export puts before formulas."""
    return id[1:] if id[:1] == "'" and id[1:].startswith(FORMULA) else id


def _describe_missing(name: str, missing: list[str]) -> list[str]:
    if not missing:
        return []
    what = "document is" if len(missing) == 1 else "documents are"
    return [f"{name}: {len(missing):,} {what} not in the corpus: {name_some(missing)}"]
