"""`hierseed fit`: from a corpus, a taxonomy and seeds to a model folder."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from hierseed.cli.console import Console, amount, duration, quote
from hierseed.cli.options import (
    AsJson,
    IdColumn,
    OnError,
    PlainQuotes,
    Quiet,
    SeedFiles,
    Source,
    TaxonomyFile,
    TextColumns,
)
from hierseed.cli.reading import Reading
from hierseed.cli.summary import Summary

METHOD, PLACE = "How it is done", "Where it runs"  # panels in --help
FEW = 5  # topics, that a whole corpus is seldom about


def fit(
    source: Source,
    taxonomy: TaxonomyFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to save the model.")
    ],
    seeds: SeedFiles = None,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How topics are learned: anchored (ours, which never lets go of the seeds), "
            "hierseed (the paper's), unfit (from the seeds alone).",
            rich_help_panel=METHOD,
        ),
    ] = None,
    embedder: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="How text becomes vectors; auto takes the best one that is installed. "
            "See: hierseed embedders.",
            rich_help_panel=METHOD,
        ),
    ] = "auto",
    seeds_from_names: Annotated[
        bool,
        typer.Option(
            "--seeds-from-names",
            help="Topics at the end of a branch that have no seeds start from their name and "
            "description.",
        ),
    ] = False,
    vectors: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where to keep the vectors of the corpus; beside the model unless named.",
            rich_help_panel=METHOD,
        ),
    ] = None,
    centre: Annotated[
        bool,
        typer.Option(
            help="Subtract the mean of the corpus from every vector (better).",
            rich_help_panel=METHOD,
        ),
    ] = True,
    unit: Annotated[
        bool,
        typer.Option(help="Scale every vector to length 1 (better).", rich_help_panel=METHOD),
    ] = True,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting of the method, such as other=no or seed_weight=5; repeatable. A wrong "
            "name lists them all; docs/method.md says what they do.",
            rich_help_panel=METHOD,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Fit on so many processes of this machine; needs the extra 'cluster'.",
            rich_help_panel=PLACE,
        ),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Fit on the workers of a dask scheduler: tcp://host:8786, or its scheduler file. "
            "They read the vectors where they lie: keep these (--vectors) where all see them; "
            "needs the extra 'cluster'.",
            rich_help_panel=PLACE,
        ),
    ] = None,
    device: Annotated[
        Literal["cpu", "cuda"],
        typer.Option(
            help="cuda: fit on the GPU of this machine; the same labels, and on the processor "
            "where there is no GPU; needs the extra 'gpu'.",
            rich_help_panel=PLACE,
        ),
    ] = "cpu",
    id: IdColumn = None,
    text: TextColumns = None,
    on_error: OnError = "stop",
    plain_quotes: PlainQuotes = False,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Learn the topics from their seeds and the whole corpus.

    Reads the corpus once to find every fault, turns its texts into vectors (this takes the
    longest, and goes on where it was stopped), fits the topics, and saves a model folder
    that `assign`, `suggest` and `report` use. A fit that is stopped goes on after its last
    finished round when the same command is run again, and ends with the same model.

    Example: hierseed fit docs.csv --taxonomy topics.txt --seeds seeds.csv -o model
    """
    if not seeds and not seeds_from_names:
        raise typer.BadParameter("give a file, or --seeds-from-names", param_hint="--seeds / -s")
    from hierseed.cli.findings import Findings
    from hierseed.cli.methods import known_methods, make_estimator, refuse_bare_topics
    from hierseed.cli.outputs import refuse_inputs
    from hierseed.cli.place import Place
    from hierseed.cli.source import Documents, choose, embed, vectors_beside
    from hierseed.embed.prepare import Preparation, Prepared
    from hierseed.io.atomic import check_folder
    from hierseed.io.checkpoint import Checkpoint
    from hierseed.io.faults import SkippedRows
    from hierseed.io.models import FILE
    from hierseed.io.saved import SavedModel, write_saved
    from hierseed.io.seed_documents import SeedDocuments
    from hierseed.io.vectors import is_vectors

    console = Console(quiet=quiet, json=json)
    reading = Reading(id, text, on_error, plain_quotes)
    check_folder(output, marker=FILE)
    place = Place(workers, dask, device, console)
    place.check()
    found = Findings(console)
    tree = found.taxonomy(taxonomy)
    method = method or known_methods()[0]
    estimator = make_estimator(method, tree, setting or []) if tree is not None else None
    if estimator is not None:
        with found.collecting():
            estimator.check_parameters()
    with SkippedRows.beside(output) as skipped:
        refuse_inputs(skipped.path, source, *(seeds or []))
        on_skip = skipped.write if on_error == "skip" else None
        examples = found.seeds(seeds or [], tree, on_skip)
        if tree is not None:
            if seeds_from_names and (added := examples.add_names(tree)):
                found.fact("Names", f"stand in for seeds of {amount(added, 'topic')}")
            with found.collecting():
                refuse_bare_topics(method, tree, examples)
        if not is_vectors(source):
            found.embedder(embedder)
        documents = found.source(source, examples, **reading.options(), on_skip=on_skip)
        found.refuse()
    assert documents is not None  # else refused
    assert estimator is not None
    if skipped.count:
        console.note(f"rows left out are in {skipped.path}")
    folder = vectors or vectors_beside(output)
    if not isinstance(documents, Documents):
        chosen = choose(embedder, documents, console, folder)
        documents = embed(documents, chosen, folder, console, redo=vectors is None)
    y = examples.rows(documents.ids)
    rounds = Checkpoint(checkpoint_beside(output), say=lambda text: console.fact("Resumed", text))
    preparation = Preparation(centre=centre, unit=unit)
    with place.open(rounds) as blocks_of:
        preparation.fit(blocks_of(documents.X))
        started = time.perf_counter()
        texts = examples.texts
        outside = preparation.transform(documents.encode(texts)) if texts else None
        X = blocks_of(Prepared(documents.X, preparation))
        _fit(estimator, X, y, outside, examples.text_topics, rounds, console)
        seconds = time.perf_counter() - started

    made = documents.embedder
    about: dict[str, Any] = {
        "corpus": source.name, "documents": len(documents.ids), "seconds": round(seconds, 3),
        "vectors": _seen_from(output, source if is_vectors(source) else folder),
        "inputs": [_seen_from(output, file) for file in (taxonomy, *(seeds or []))],
    }  # fmt: skip
    if not is_vectors(source):
        about["columns"] = reading.columns
    saved = SavedModel(
        estimator, preparation, made.name if made else "", made.fingerprint if made else "",
        SeedDocuments.among(examples.by_id, documents.ids, documents.X), about,
        str(documents.X.dtype),
    )  # fmt: skip
    write_saved(saved, output, made)
    rounds.remove()
    words = f"{quote(output)} {quote(source)}{reading.words()}"
    _tell(console, estimator, words, output, seconds)


def _seen_from(model: Path, folder: Path) -> str:
    """The way to a folder from where the model lies, so that both may move together."""
    try:
        return os.path.relpath(folder, model.parent)
    except ValueError:  # on another drive of Windows
        return str(folder.resolve())


def checkpoint_beside(model: Path) -> Path:
    """The folder where `fit` keeps its finished rounds until the model is saved."""
    return model.with_name(f"{model.name}.checkpoint")


def _fit(
    estimator: Any, X: Any, y: Any, X_seeds: Any, y_seeds: Any, rounds: Any, console: Console
) -> None:
    most = getattr(estimator, "max_iter", None)
    with console.bar("Fitting", most, "rounds at most") as bar:
        estimator.fit(
            X,
            y,
            X_seeds=X_seeds,
            y_seeds=y_seeds if X_seeds is not None else None,
            progress=lambda event: bar.to(event["round"]),
            checkpoint=rounds,
        )


def _tell(console: Console, estimator: Any, words: str, output: Path, seconds: float) -> None:
    summary = Summary(estimator.taxonomy_)
    summary.add(estimator.labels_)
    console.fact("Fitted", f"{amount(estimator.n_iter_, 'round')} in {duration(seconds)}")
    summary.tell(console)
    if 2 * summary.placed < summary.documents:
        console.note(
            "most documents are in none. More seeds show how wide a topic is (four of each are a "
            "good start); --method anchored --set other=no places every document"
        )
    elif estimator.taxonomy.tree.is_leaf.sum() <= FEW and summary.placed == summary.documents:
        console.note(
            "every document is in one of these few topics. If the corpus is about more, list a "
            "topic 'Anything else' with a dozen seeds of it (docs/method.md, a few topics of many)"
        )
    console.fact("Model", str(output), "green")
    console.next(
        f"hierseed assign {words} -o placed.csv",
        f"hierseed report {words} -o report.html",
    )
    if console.json:
        more = {"rounds": estimator.n_iter_, "seconds": round(seconds, 3)}
        console.result({"model": output, **summary.facts(), **more})
