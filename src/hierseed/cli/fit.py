"""`hierseed fit`: from a corpus, a taxonomy and seeds to a model folder."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hierseed.cli.console import Console, quote, refuse_other_model, usage
from hierseed.cli.options import (
    AsJson,
    Coded,
    Dask,
    Device,
    InputOptions,
    Overwrite,
    Precision,
    Quiet,
    Reading,
    Rejected,
    SeedFiles,
    Source,
    TaxonomyOption,
    Workers,
    engine_of,
    need_both,
    with_groups,
)

if TYPE_CHECKING:
    from hierseed.text_model import TextModel

method_option = partial(typer.Option, rich_help_panel="Method")


@with_groups
def fit(
    *,
    source: Source,
    taxonomy: TaxonomyOption,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to save the model.")
    ],
    seeds: SeedFiles = None,
    rejected: Rejected = None,
    method: Annotated[
        str,
        method_option(
            metavar="NAME",
            help="The method: anchored (the default, a mixture anchored at the seeds), "
            "hierseed (the paper's), unfit (from the seeds alone).",
        ),
    ] = "anchored",
    embedder: Annotated[
        str,
        method_option(
            metavar="NAME",
            help="The embedder; auto takes the best one installed. See: hierseed embedders.",
        ),
    ] = "auto",
    seeds_from_names: Annotated[
        bool,
        typer.Option(
            "--seeds-from-names",
            help="Leaves without a seed start from their name and description.",
        ),
    ] = False,
    inner_names: Annotated[
        bool,
        typer.Option(
            "--inner-names",
            help="Inner topics without a seed start from their name, too: for a thesaurus, where "
            "documents may belong to any concept. Implies --seeds-from-names.",
        ),
    ] = False,
    vectors: Annotated[
        Path | None,
        method_option(
            metavar="FOLDER",
            help="Folder for the vectors of the corpus; next to the model by default.",
        ),
    ] = None,
    centre: Annotated[
        bool, method_option(help="Subtract the mean of the corpus from every vector (better).")
    ] = True,
    unit: Annotated[bool, method_option(help="Scale every vector to length 1 (better).")] = True,
    start: Annotated[
        Path | None,
        method_option(
            metavar="MODEL",
            help="An earlier model, whose topics replace the seeds of topics that have none. "
            "They are matched by the edits in a JSON taxonomy, by address, code or path.",
        ),
    ] = None,
    precision: Precision = None,
    coded: Coded = None,
    setting: Annotated[
        list[str] | None,
        method_option(
            "--set",
            metavar="NAME=VALUE",
            help="A parameter of the method, such as other=no or seed_weight=5; repeatable. An "
            "unknown name lists them all; docs/method.md explains them.",
        ),
    ] = None,
    workers: Workers = None,
    dask: Dask = None,
    device: Device = "cpu",
    reading: Reading,
    inputs: InputOptions,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Learn the topics from their seeds and the whole corpus.

    Reads the corpus once to find every fault, embeds its texts (the longest step; it resumes
    where it was stopped), fits the topics, and saves a model folder for `assign`, `suggest` and
    `report`. A fit that was stopped resumes after its last finished round when the same command
    is run again, and ends with the same model.

    Example: hierseed fit docs.csv --taxonomy topics.txt --seeds seeds.csv -o model
    """
    need_both(precision, coded)
    if not seeds and not seeds_from_names and not inner_names and start is None:
        raise typer.BadParameter("give a file, or --seeds-from-names", param_hint="--seeds / -s")
    engine = engine_of(workers, dask, device)
    from hierseed.embed.prepare import Preparation
    from hierseed.estimators.parameters import get_method, parse_settings
    from hierseed.files import check_folder
    from hierseed.io.document_embedder import vectors_folder
    from hierseed.io.model_bundle import FILE
    from hierseed.pipeline import fit as fit_model

    with usage("--method"):
        parameters = get_method(method).parameters
    with usage("--set"):
        settings = parse_settings(setting or [], parameters)
    check_folder(output, marker=FILE)
    if not overwrite:
        refuse_other_model(output, source)
    started = time.perf_counter()
    with Console(quiet=quiet, json=json) as console:
        with reading.documents(source, output, console) as documents:
            model = fit_model(
                documents,
                inputs.taxonomy(taxonomy, reading),
                inputs.seeds(seeds, reading),
                embedder=embedder,
                method=method,
                engine=engine,
                progress=console.listen,
                seeds_from_names="all" if inner_names else seeds_from_names,
                rejected=replace(inputs, seed_sheet=None).seeds(rejected, reading),
                preparation=None if centre and unit else Preparation(centre=centre, unit=unit),
                vectors=vectors or vectors_folder(output),
                replace_vectors=vectors is None,
                checkpoint=checkpoint_folder(output),
                start=start,
                **settings,
            )
        if precision is not None:
            with reading.documents(source, output, console) as documents:
                found = model.set_precision(documents, coded, precision, progress=console.listen)
            console.thresholds(found)
        model.save(output)
        words = f"{quote(output)} {quote(source)}{reading.options()}"
        _report(console, model, output, words, time.perf_counter() - started)


def checkpoint_folder(model: Path) -> Path:
    """The folder where `fit` saves finished rounds until the model is saved."""
    return model.with_name(f"{model.name}.checkpoint")


def _report(console: Console, model: TextModel, output: Path, words: str, seconds: float) -> None:
    from hierseed.io.documents import Counts
    from hierseed.report.accuracy import expected_to_dict

    counts, estimator = Counts(model.taxonomy_), model.estimator
    counts.add(estimator.labels_)
    console.counts(counts)
    if 2 * counts.placed < counts.documents:
        console.note(
            "most documents are in none. More seeds show how wide a topic is (four of each are a "
            "good start); --method anchored --set other=no places every document"
        )
    console.fact("Model", str(output), "green")
    console.next(
        f"hierseed assign {words} -o placed.csv", f"hierseed report {words} -o report.html"
    )
    if console.json:
        more = {"rounds": estimator.n_iter_, "seconds": round(seconds, 3)}
        console.result({"model": output, **counts.to_dict(), **more, **expected_to_dict(estimator)})
