"""`hierseed check`: all faults of taxonomy, seeds and corpus at once, before the long step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hierseed.cli.console import Console, wording
from hierseed.cli.options import AsJson, InputOptions, Quiet, Reading, SeedFiles, with_groups

if TYPE_CHECKING:
    from hierseed.io.inputs import Inputs


@with_groups
def check(
    *,
    taxonomy: Annotated[
        Path | None, typer.Option("--taxonomy", "-t", metavar="FILE", help="Your topics.")
    ] = None,
    seeds: SeedFiles = None,
    corpus: Annotated[
        Path | None,
        typer.Option("--corpus", "-c", metavar="CORPUS|VECTORS", help="Your documents."),
    ] = None,
    reading: Reading,
    inputs: InputOptions,
    seeds_from_names: Annotated[
        bool, typer.Option("--seeds-from-names", help="As in fit: names are used as seeds.")
    ] = False,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Check taxonomy, seeds and corpus for every fault before the long step.

    Give any of the three files; with all three, seeds are also looked up in the corpus.
    The exit code is 1 if a fault would stop `hierseed fit`.

    Example: hierseed check --taxonomy topics.txt --seeds seeds.csv --corpus docs.csv
    """
    if not (taxonomy or seeds or corpus):
        raise typer.BadParameter("give --taxonomy, --seeds and --corpus, or some of them")
    if seeds and not taxonomy:
        raise typer.BadParameter("the topics of --seeds are looked up in a --taxonomy: give both")
    from hierseed.io.inputs import Inputs

    with Console(quiet=quiet, json=json) as console:
        found = Inputs(console.listen)
        topics = taxonomy and inputs.taxonomy(taxonomy, reading)
        tree = found.taxonomy(topics) if topics else None
        documents = None
        if corpus:
            with reading.documents(corpus, None, console) as opened:
                documents = found.documents(opened)
        tables = inputs.seeds(seeds, reading)
        examples = found.seeds(tables, tree, documents)
        if tree is not None and (seeds or seeds_from_names):
            found.few_seeds(tree, examples, seeds_from_names)
        files = {"taxonomy": taxonomy, "seeds": seeds or seeds_from_names, "corpus": corpus}
        _report(console, found, [name for name, file in files.items() if not file])
        if found.faults:
            raise typer.Exit(1)


def _report(console: Console, found: Inputs, missing: list[str]) -> None:
    faults = [fault.worded(wording) for fault in found.faults]
    notes = [note.worded(wording) for note in found.notes]
    for note in notes:
        console.note(note)
    for fault in faults:
        console.fault(fault)
    if faults:
        console.fault("correct these before hierseed fit", "Verdict")
    elif missing:
        console.fact("Verdict", f"no fault here; {' and '.join(missing)} not checked", "bold")
    else:
        console.fact("Verdict", "ready for hierseed fit", "bold green")
    if console.json:
        ready = not faults and not missing
        found_all = {"facts": found.facts, "faults": faults, "notes": notes}
        console.result({"ready": ready, "not_looked_at": missing, **found_all})
