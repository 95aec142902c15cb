"""`hierseed check`: every fault of taxonomy, seeds and corpus at once, before the long step."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hierseed.cli.console import Console, amount
from hierseed.cli.options import AsJson, IdColumn, PlainQuotes, Quiet, TextColumn
from hierseed.errors import HierSeedError, name_some

if TYPE_CHECKING:
    from hierseed.io.seeds import Seeds
    from hierseed.taxonomy import Taxonomy


@dataclass
class Findings:
    """What was found in each file: facts, faults that stop a fit, and things to know."""

    facts: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def check(
    taxonomy: Annotated[
        Path | None, typer.Option("--taxonomy", "-t", metavar="FILE", help="Your topics.")
    ] = None,
    seeds: Annotated[
        Path | None, typer.Option("--seeds", "-s", metavar="FILE", help="Your examples.")
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option("--corpus", "-c", metavar="CORPUS|VECTORS", help="Your documents."),
    ] = None,
    id: IdColumn = "id",
    text: TextColumn = "text",
    plain_quotes: PlainQuotes = False,
    seeds_from_names: Annotated[
        bool, typer.Option("--seeds-from-names", help="As in fit: names stand in for seeds.")
    ] = False,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Look for every fault in taxonomy, seeds and corpus before the long step.

    Give any of the three files; with all of them, seeds are also looked up in the corpus.
    Ends with exit code 1 where a fault would stop `hierseed fit`.

    Example: hierseed check --taxonomy topics.txt --seeds seeds.csv --corpus docs.csv
    """
    if not (taxonomy or seeds or corpus):
        raise typer.BadParameter("give --taxonomy, --seeds and --corpus, or some of them")
    if seeds and not taxonomy:
        raise typer.BadParameter("the topics of --seeds are looked up in a --taxonomy: give both")
    console = Console(quiet=quiet, json=json)
    found = Findings()
    tree = _taxonomy(taxonomy, found) if taxonomy else None
    examples = _seeds(seeds, tree, seeds_from_names, found) if seeds and tree else None
    if corpus:
        _corpus(corpus, examples, console, found, id=id, text=text, quotes=not plain_quotes)
    _tell(console, found)
    if found.faults:
        raise typer.Exit(1)


def _taxonomy(file: Path, found: Findings) -> Taxonomy | None:
    from hierseed.taxonomy import Taxonomy

    try:
        tree = Taxonomy.read(file)
    except HierSeedError as fault:
        found.faults.append(str(fault))
        return None
    levels = " / ".join(
        str(len(tree.tree.at_level(level))) for level in range(1, tree.tree.height + 1)
    )
    found.facts["Taxonomy"] = f"{file.name}, {amount(len(tree), 'topic')}, by level {levels}"
    return tree


def _seeds(file: Path, tree: Taxonomy, names: bool, found: Findings) -> Seeds | None:
    from hierseed.io.seeds import read_seeds

    try:
        examples = read_seeds(file, tree, strict=False)
    except HierSeedError as fault:
        found.faults.append(str(fault))
        return None
    found.faults += [str(fault) for fault in examples.faults.kept]
    seeded = int((examples.counts(len(tree)) > 0).sum())
    found.facts["Seeds"] = (
        f"{file.name}, {amount(len(examples), 'seed')} for {seeded:,} of "
        f"{amount(len(tree), 'topic')}"
    )
    lacking = [tree.paths[topic] for topic in examples.without(tree)]
    if lacking:
        instead = "start from their name" if names else "get no documents"
        found.notes.append(
            f"{amount(len(lacking), 'topic')} at the end of a branch without a seed, which "
            f"{instead}: {name_some(lacking)}"
        )
    counts = examples.counts(len(tree))
    few = [tree.paths[topic] for topic in range(len(tree)) if 0 < counts[topic] < 3]
    if few:
        found.notes.append(f"fewer than 3 seeds for {amount(len(few), 'topic')}: {name_some(few)}")
    return examples


def _corpus(
    path: Path, examples: Seeds | None, console: Console, found: Findings, **reading: Any
) -> None:
    from hierseed.io.corpus import Corpus
    from hierseed.io.vectors import is_vectors, open_vectors

    try:
        if is_vectors(path):
            X, ids, _ = open_vectors(path)
            found.facts["Vectors"] = (
                f"{path.name}, {amount(len(ids), 'document')}, {X.shape[1]} numbers"
            )
        else:
            corpus = Corpus(path, on_error="skip", **reading)
            with console.bar("Reading") as bar:
                survey = corpus.survey(bar.to)
            found.facts["Corpus"] = f"{path.name}, {amount(survey.n_documents, 'document')}"
            found.faults += [str(fault) for fault in survey.faults.kept]
            if len(survey.faults) > len(survey.faults.kept):
                found.faults.append(
                    f"… and {len(survey.faults) - len(survey.faults.kept):,} more rows"
                )
            ids = [document.id for document in corpus]
        if examples:
            examples.rows(ids)
    except HierSeedError as fault:
        found.faults.append(str(fault))


def _tell(console: Console, found: Findings) -> None:
    for label, fact in found.facts.items():
        console.fact(label, fact)
    for note in found.notes:
        console.note(note)
    for fault in found.faults:
        console.fault(fault)
    if found.faults:
        console.fault(f"{amount(len(found.faults), 'fault')} to mend first", "Verdict")
    else:
        console.fact("Verdict", "ready for hierseed fit", "bold green")
    if console.json:
        console.result({"ready": not found.faults, **vars(found)})
