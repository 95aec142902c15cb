"""`hierseed fit`: from a corpus, a taxonomy and seeds to a model folder."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from hierseed.cli.console import Console, amount, duration
from hierseed.cli.options import (
    AsJson,
    IdColumn,
    OnError,
    PlainQuotes,
    Quiet,
    SeedFile,
    Source,
    TaxonomyFile,
    TextColumn,
)
from hierseed.cli.summary import Summary

METHOD, PLACE = "How it is done", "Where it runs"  # panels in --help


def fit(
    source: Source,
    taxonomy: TaxonomyFile,
    seeds: SeedFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to save the model.")
    ],
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
            help="A setting of the method, such as pivot_level=2; repeatable.",
            rich_help_panel=METHOD,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Fit on so many processes of this machine.",
            rich_help_panel=PLACE,
        ),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Fit on the workers of a dask scheduler, such as tcp://host:8786; they read the "
            "vectors where they lie, so keep these (--vectors) on a path that all of them see.",
            rich_help_panel=PLACE,
        ),
    ] = None,
    device: Annotated[
        Literal["cpu", "cuda"],
        typer.Option(
            help="cuda: fit on the GPU of this machine; the same labels, and on the processor "
            "where there is no GPU.",
            rich_help_panel=PLACE,
        ),
    ] = "cpu",
    id: IdColumn = "id",
    text: TextColumn = "text",
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
    from hierseed.io.atomic import check_folder
    from hierseed.io.models import FILE
    from hierseed.io.seeds import read_seeds
    from hierseed.taxonomy import Taxonomy

    console = Console(quiet=quiet, json=json)
    check_folder(output, marker=FILE)
    tree = Taxonomy.read(taxonomy)
    size = f"{amount(len(tree), 'topic')} on {amount(tree.tree.height, 'level')}"
    console.fact("Taxonomy", f"{taxonomy.name}, {size}")
    examples = read_seeds(seeds, tree)
    console.fact("Seeds", f"{seeds.name}, {amount(len(examples), 'seed')}")
    if seeds_from_names and (added := examples.add_names(tree)):
        console.fact("Names", f"stand in for seeds of {amount(added, 'topic')}")

    from hierseed.cli.methods import known_methods, make_estimator, refuse_bare_topics
    from hierseed.cli.place import Place
    from hierseed.cli.source import vectors_beside
    from hierseed.embed.prepare import Preparation, Prepared
    from hierseed.errors import CorpusError
    from hierseed.io.checkpoint import Checkpoint
    from hierseed.io.saved import SavedModel, write_saved
    from hierseed.io.seed_documents import SeedDocuments

    method = method or known_methods()[0]
    estimator = make_estimator(method, tree, setting or [])
    refuse_bare_topics(method, tree, examples)
    place = Place(workers, dask, device, console)
    place.check()
    documents = _documents(
        source, embedder, vectors or vectors_beside(output), vectors is None, output, console,
        id=id, text=text, on_error=on_error, quotes=not plain_quotes,
    )  # fmt: skip
    if len(documents.ids) < 2:
        raise CorpusError(
            f"{source} has one document, and topics are learned from many. Fit on a larger "
            "corpus; `hierseed assign` then places single documents"
        )
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
    about = {"corpus": source.name, "documents": len(documents.ids), "seconds": round(seconds, 3)}
    saved = SavedModel(
        estimator, preparation, made.name if made else "", made.fingerprint if made else "",
        SeedDocuments.among(examples.by_id, documents.ids, documents.X), about,
        str(documents.X.dtype),
    )  # fmt: skip
    write_saved(saved, output, made)
    rounds.remove()
    _tell(console, estimator, output, seconds)


def _documents(
    source: Path,
    spec: str,
    folder: Path,
    redo: bool,
    output: Path,
    console: Console,
    **reading: Any,
) -> Any:
    """Vectors of the corpus, made now or before; rows left out are kept beside the model."""
    from hierseed.cli.source import choose, embed, open_stored, survey
    from hierseed.io.corpus import Corpus
    from hierseed.io.faults import SkippedRows
    from hierseed.io.vectors import is_vectors

    if is_vectors(source):
        return open_stored(source, console)
    with SkippedRows.beside(output) as skipped:
        corpus = Corpus(source, on_skip=skipped.write, **reading)
        survey(corpus, console)
    if skipped.count:
        console.note(f"rows left out are in {skipped.path}")
    return embed(corpus, choose(spec, corpus, console, folder), folder, console, redo=redo)


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


def _tell(console: Console, estimator: Any, output: Path, seconds: float) -> None:
    summary = Summary(estimator.taxonomy_)
    summary.add(estimator.labels_)
    console.fact("Fitted", f"{amount(estimator.n_iter_, 'round')} in {duration(seconds)}")
    summary.tell(console)
    console.fact("Model", str(output), "green")
    if console.json:
        more = {"rounds": estimator.n_iter_, "seconds": round(seconds, 3)}
        console.result({"model": output, **summary.facts(), **more})
