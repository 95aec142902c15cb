"""`hierseed embed`: from a corpus to a folder of vectors, or an estimate of the time."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from hierseed.cli.console import Console
from hierseed.cli.options import (
    AsJson,
    Dask,
    Quiet,
    Reading,
    Workers,
    engine_of,
    engine_option,
    with_groups,
)
from hierseed.progress import duration

if TYPE_CHECKING:
    from hierseed.io.documents import DocumentVectors


@with_groups
def embed(
    *,
    corpus: Annotated[
        Path,
        typer.Argument(
            metavar="CORPUS",
            help="The documents: a .csv, .tsv, .jsonl, .parquet or .xlsx file (text ones also as "
            ".gz), or a folder of .txt files.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Where to save the vectors."),
    ] = None,
    embedder: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="The embedder, as NAME or NAME:detail; auto takes the best one "
            "installed. See: hierseed embedders.",
        ),
    ] = "auto",
    estimate: Annotated[
        bool,
        typer.Option(
            "--estimate", help="Time every installed embedder on a few documents, and stop."
        ),
    ] = False,
    windows: Annotated[
        bool,
        typer.Option("--windows", help="Embed long texts in windows instead of truncating them."),
    ] = False,
    append: Annotated[
        bool, typer.Option("--append", help="Add the documents to the vectors in the folder.")
    ] = False,
    half: Annotated[
        bool, typer.Option("--half/--full", help="float16 or float32 vectors on disk.")
    ] = True,
    reading: Reading,
    workers: Workers = None,
    dask: Dask = None,
    device: Annotated[
        Literal["auto", "cpu", "cuda"],
        engine_option(
            help="Where transformers compute: auto takes a GPU where torch finds one. A GPU "
            "computes in half precision."
        ),
    ] = "auto",
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Embed the texts of a corpus; resumes where it was stopped.

    The folder can replace the corpus in `fit`, `assign`, `suggest` and `report`. Stop it at
    any time and run the same command again: what was done is kept, and the result is the same.

    Example: hierseed embed docs.csv -o vectors
    """
    from hierseed.embed.choose import kept_embedder
    from hierseed.embed.mean_pooling import on_device
    from hierseed.io.document_embedder import make_embedder, vectorize

    if output is None and not estimate:
        raise typer.BadParameter("name a folder for the vectors", param_hint="--output / -o")
    kept = None if estimate else output
    engine = engine_of(workers, dask)
    engine.check()
    # workers start now, and import what they need while the corpus is read
    with Console(quiet=quiet, json=json) as console, engine.open(console.listen) as running:
        with reading.corpus(corpus, kept, console) as documents:
            documents.read(console.listen)
            documents.refuse_faults()
        console.fact("Corpus", documents.describe())
        if output is None or estimate:
            _estimate(documents, embedder, console)
            return
        spec = f"{embedder}+windows" if windows else embedder
        with on_device(None if device == "auto" else device):
            chosen = kept_embedder(output, spec) or make_embedder(spec, documents, console.listen)
        _mention_device(console, chosen, device)
        dtype = "float16" if half else "float32"
        started = time.perf_counter()
        made = vectorize(
            documents, chosen, console.listen, output,
            dtype=dtype, append=append, engine=running,
        )  # fmt: skip
        _report(console, made, output, time.perf_counter() - started)


def _mention_device(console: Console, embedder: Any, asked: str) -> None:
    """Say where a transformer computes, or that a GPU was asked for and is not used."""
    inner = embedder
    while not hasattr(inner, "device") and hasattr(inner, "inner"):
        inner = inner.inner
    used = getattr(inner, "device", "cpu")
    if used != "cpu":
        console.fact("Device", used)
    elif asked == "cuda":
        console.note(
            f"{embedder.name} is computed on the processor: it is no transformer of torch, or "
            "torch finds no CUDA device. See: hierseed embedders"
        )


def _report(console: Console, made: DocumentVectors, output: Path, seconds: float) -> None:
    store = made.store
    assert store is not None
    console.fact("Vectors", f"{output}: {store!r}", "green")
    if console.json:
        console.result(
            {
                "vectors": output, "documents": store.shape[0], "dimension": store.shape[1],
                "dtype": str(store.dtype), "embedder": store.embedder_name,
                "fingerprint": store.fingerprint, "corpus": store.corpus, "cut": made.n_cut,
                "kept": made.n_reused, "seconds": round(seconds, 3),
            }
        )  # fmt: skip


def _estimate(documents: Any, spec: str, console: Console) -> None:
    """Time every installed embedder, or the one named, on a few documents of the corpus."""
    from dataclasses import asdict

    from hierseed.embed.corpus import estimate, ready_specs

    size = documents.survey()
    estimates = []
    for name in ready_specs() if spec == "auto" else [spec]:
        with console.bar("Trying", None, name):
            estimates.append(estimate(name, documents, size.n_documents, size.n_characters))
    if console.json:
        console.result([asdict(one) for one in estimates])
        return
    width = max(len(one.name) for one in estimates)
    for one in estimates:
        learns = f"learning {duration(one.fit_seconds)}, " if one.fit_seconds else ""
        time = f"{learns}embedding {duration(one.seconds)} ({one.rate:,.0f} a second)"
        console.out.print(f"{one.name:<{width}}  {time if not one.problem else one.problem}")
