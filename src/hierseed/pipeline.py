"""From texts to a model: the only place where reading, embedding, preparation and fit meet."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from hierseed.embed.embedder import Embedder
from hierseed.embed.prepare import Preparation, Prepared
from hierseed.engines.choose import Engine
from hierseed.errors import HierSeedError, SeedError
from hierseed.estimators.base import SeededEstimator
from hierseed.estimators.block_weights import learn_block_weights
from hierseed.estimators.inputs import seed_pairs
from hierseed.estimators.topic_names import learn_names
from hierseed.io.corpus import Corpus
from hierseed.io.document_embedder import make_embedder, vectorize
from hierseed.io.documents import DocumentVectors, SeedDocuments
from hierseed.io.inputs import ENOUGH_SEEDS, Inputs
from hierseed.io.model_bundle import Checkpoint
from hierseed.io.seeds import Seeds, SeedTable, name_text
from hierseed.io.taxonomies import TaxonomyFile
from hierseed.progress import Fact, Listener, Note, Step, amount, duration, warn_of_notes
from hierseed.report.accuracy import expected_of_levels, expected_of_topics, least_accurate
from hierseed.taxonomy import Taxonomy
from hierseed.text_model import TextModel, load

MAX_FINDINGS = 5  # about single topics
MAX_LOWEST = 3  # topics that are named for their expected accuracy
MANY_FOREIGN = 0.3  # share of foreign documents that deserves a note


def fit(
    documents: Any,
    taxonomy: Any,
    seeds: Any = None,
    *,
    embedder: Any = "auto",
    method: str = "anchored",
    engine: Engine | str | int | None = None,
    progress: Listener | None = None,
    seeds_from_names: bool | str = False,
    rejected: Any = None,
    preparation: Preparation | None = None,
    vectors: str | PathLike[str] | None = None,
    replace_vectors: bool = False,
    checkpoint: str | PathLike[str] | None = None,
    start: TextModel | str | PathLike[str] | None = None,
    **settings: Any,
) -> TextModel:
    """Learn topics from a taxonomy, a few seeds per topic, and the whole corpus.

    Reads all inputs and raises every fault at once, embeds the texts, prepares the vectors,
    and fits. The model embeds and prepares new documents in the same way.

    Parameters
    ----------
    documents : list of str, mapping of id to text, data frame with the columns `id` and `text`
        (pandas, polars, pyarrow, DuckDB, a Hugging Face data set), file or folder, database,
        vector store or matrix; `hierseed.io.corpus.Corpus` names columns, tables and queries
    taxonomy : Taxonomy, file, or list of paths such as `"Health > Mental health"`
    seeds : mapping of path to ids, rows or texts, data frame with the columns `topic` and `id` or
        `text`, file, or list of files
    embedder : name as `get_embedder` takes it, an embedder, or a function of a list of texts
    method : "anchored", "hierseed" or "unfit"
    engine : None or "threads", "cuda", a number of worker processes, or the address of a dask
        scheduler; the result is the same
    progress : called with each event of `hierseed.progress`; None turns notes into warnings
    seeds_from_names : leaves without a seed start from their name and description; "all": inner
        topics too, as in a thesaurus, where a document may belong to any concept
    rejected : documents that do not belong to a topic, given as seeds are, texts excepted. They
        are placed neither there nor below, and (with the default method) do not shape topics
    preparation : how vectors are prepared before the fit; None centres them and scales them to
        unit length, and learns the weight of each block of a joined representation
    vectors : folder for the vectors, so that a stopped run can resume; None keeps them in memory
    replace_vectors : replace the vectors of another corpus in that folder
    checkpoint : folder for the state after each round, so that a stopped fit can resume; `save`
        removes it
    start : an earlier model, whose topics replace the seeds of topics that have none; renamed and
        moved topics are followed by the edits of the taxonomy, by address and by code. Vectors are
        made and prepared as in that model
    **settings : parameters of the estimator

    Returns
    -------
    TextModel

    Examples
    --------
    >>> import hierseed
    >>> texts = ["the cat purrs", "a kitten naps", "the dog barks", "a puppy digs",
    ...          "bread from the oven", "flour for bread", "hot soup in a bowl", "soup and salt"]
    >>> seeds = {"Animals > Cats": [0], "Animals > Dogs": [2], "Food > Bread": [4],
    ...          "Food > Soup": [6]}
    >>> model = hierseed.fit(texts, list(seeds), seeds, embedder="wordllama", method="unfit")
    >>> model.assign(["a cat and her kitten"]).to_frame()["topic"].tolist()
    ['Animals > Cats']
    """
    listener = progress or warn_of_notes
    earlier = load(start) if isinstance(start, str | PathLike) else start
    if earlier is not None:
        preparation = earlier.preparation or preparation
        embedder = earlier.embedder if earlier.knows_embedder else embedder
    run = Engine.of(engine)
    run.check()
    inputs = Inputs(listener)
    tree = inputs.taxonomy(taxonomy)
    estimator = inputs.estimator(method, tree, settings)
    opened = inputs.documents(documents)
    if not isinstance(opened, DocumentVectors):
        inputs.embedder(embedder)
    examples = inputs.seeds(seeds, tree, opened, seeds_from_names)
    refused = inputs.rejections(rejected, tree, opened)
    if tree is not None and estimator is not None and earlier is None:
        inputs.need_seeds(method, tree, examples)
    inputs.refuse()
    assert opened is not None  # else refused
    assert estimator is not None

    made: Embedder | None
    rounds = _checkpoint(checkpoint, listener)
    with run.open(listener) as running, _mention_checkpoint(rounds):
        if isinstance(opened, Corpus):
            made = make_embedder(embedder, opened, listener, vectors)
            rows = vectorize(
                opened, made, listener, vectors, replace=replace_vectors, engine=running
            )
        else:
            made, rows = opened.embedder, opened
        y = examples.rows(rows.ids)
        learn_weights = preparation is None
        preparation = preparation or Preparation(blocks=getattr(made, "blocks", ()))
        started = time.perf_counter()
        if earlier is None or earlier.preparation is None:
            preparation.fit(running.blocks(rows.X))
        outside = _encode(examples, made)
        if preparation.blocks and learn_weights:
            n = examples.n_texts
            texts = None if outside is None else outside[:n]
            given = rows.X, estimator.taxonomy, y, texts, examples.text_topics[:n]
            found = learn_block_weights(preparation, *given)
            listener(Fact("Weights", str(found)))
            preparation = preparation.with_weights(found.weights)
        prepared = Prepared(rows.X, preparation)
        outside = None if outside is None else preparation.transform(outside)
        if examples.n_names and made is not None:
            encode = partial(_encode_names, made, preparation, estimator.taxonomy)
            outside = _move_names(outside, examples, y, prepared, estimator.taxonomy, encode)
        X = running.blocks(prepared)
        known = refused.rows(rows.ids) if len(refused) else None
        _fit(estimator, X, y, outside, examples.text_topics, rounds, listener, earlier, known)
    seconds = time.perf_counter() - started
    listener(Fact("Fitted", f"{amount(estimator.n_iter_, 'round')} in {duration(seconds)}"))
    report_results(estimator, listener)
    about = {"corpus": opened.name, "documents": len(rows.ids)}
    if isinstance(opened, Corpus) and opened.is_file:
        about["columns"] = opened.columns
    model = TextModel(
        estimator,
        preparation,
        embedder=made,
        seeds=SeedDocuments.among(examples.by_id, rows.ids, rows.X),
        rejected=SeedDocuments.among(refused.by_id, rows.ids, rows.X),
        about=about,
        vectors=rows,
        files=_files(taxonomy, seeds, rejected),
        checkpoint=rounds,
    )
    model.corpus = opened
    return model


def report_results(estimator: SeededEstimator, listener: Listener) -> None:
    """Report how many documents belong, the expected accuracy, and topics that need attention."""
    foreign = getattr(estimator, "foreign_share_", None)
    if foreign is not None:
        share = f"about {foreign.complement()} of the documents"
        unknown = "unknown: it is not estimated from so few seeds, nor with a false_alarm of 0"
        listener(Fact("Belong", share if foreign.high > 0.0 else unknown))
        if foreign.value > MANY_FOREIGN and foreign.low > 0.0:
            _note_undetected(estimator, foreign.low, listener)
    if expected := expected_of_levels(estimator):
        levels = [f"level {level} {one}" for level, one in enumerate(expected, start=1)]
        listener(Fact("Accuracy", "expected: " + ", ".join(levels)))
    elif getattr(estimator, "n_held_out_", 1) == 0:
        unknown = "unknown: no seed can be held out; give two or more seeds a topic"
        listener(Fact("Accuracy", unknown))
    if lowest := least_accurate(estimator)[:MAX_LOWEST]:
        shares, paths = expected_of_topics(estimator), estimator.taxonomy_.paths
        named = [f"{paths[topic]} {shares[topic]}" for topic in lowest]
        listener(Fact("Lowest", "expected in: " + ", ".join(named)))
    for finding in getattr(estimator, "diagnosis_", [])[:MAX_FINDINGS]:
        listener(Note(str(finding)))


def _note_undetected(estimator: SeededEstimator, least: float, listener: Listener) -> None:
    """Say why few documents are rejected although at least this share is foreign."""
    rejected = 1.0 - getattr(estimator, "coverage_", 0.0)
    if not getattr(estimator, "rejects_", True):
        listener(
            Note(
                "many documents may belong to no listed topic, and there are too few seeds to say "
                f"which: nothing is placed in None. {ENOUGH_SEEDS} seeds in all are enough at the "
                "default false_alarm of 0.05; a larger one needs fewer"
            )
        )
    elif least > MANY_FOREIGN and rejected < least / 2.0:
        listener(
            Note(
                f"at least {least:.0%} of the documents seem to belong to no listed topic, but "
                f"only {rejected:.0%} can be told apart without losing more documents of listed "
                "topics than accepted",
                "Add seeds, sort by the column `belongs`, or reject more with a larger "
                "{false_alarm}",
            )
        )


def _encode(seeds: Seeds, embedder: Embedder | None) -> Any:
    """Embed seeds that are texts outside the corpus."""
    if not seeds.texts:
        return None
    if embedder is None:
        raise SeedError(
            f"{len(seeds.texts):,} seeds are texts, and the embedder of the vectors is not known. "
            "Name seeds by document id, or give the corpus instead of vectors"
        )
    return embedder.encode(seeds.texts)


def _encode_names(
    embedder: Embedder, preparation: Preparation, taxonomy: Taxonomy, topics: list[int]
) -> Any:
    return preparation.transform(embedder.encode([name_text(taxonomy, t) for t in topics]))


def _move_names(
    outside: Any,
    seeds: Seeds,
    y: Any,
    X: Prepared,
    taxonomy: Taxonomy,
    encode: Callable[[list[int]], Any],
) -> Any:
    """Give names, which come last among texts, the vectors that documents would have."""
    n = seeds.n_texts
    rows, topics = seed_pairs(y, len(X), taxonomy)
    vectors = np.concatenate([X[rows], outside[:n]]) if len(rows) else outside[:n]
    every = [*topics.tolist(), *seeds.text_topics[:n]]
    known = sorted(set(every))
    names = np.concatenate([outside[n:], encode(known)]) if known else outside[n:]
    topics_of = [*seeds.text_topics[n:], *known]
    found = learn_names(names, topics_of, vectors, [[topic] for topic in every])
    return np.concatenate([outside[:n], found.vectors[: seeds.n_names].astype(np.float32)])


def _checkpoint(folder: str | PathLike[str] | None, listener: Listener) -> Checkpoint | None:
    if folder is None:
        return None
    return Checkpoint(folder, say=lambda text: listener(Fact("Resumed", text)))


@contextmanager
def _mention_checkpoint(rounds: Checkpoint | None) -> Iterator[None]:
    """Add to an error of the engine that finished rounds are kept."""
    try:
        yield
    except HierSeedError as fault:
        if rounds is not None and rounds.rounds and isinstance(fault, ConnectionError):
            fault.message += (
                f" The same command resumes after round {rounds.rounds}, which is kept in "
                f"{rounds.folder}"
            )
        raise


def _fit(
    estimator: SeededEstimator,
    X: Any,
    y: Any,
    X_seeds: Any,
    y_seeds: list[int],
    rounds: Checkpoint | None,
    listener: Listener,
    earlier: TextModel | None = None,
    rejected: Any = None,
) -> None:
    most = getattr(estimator, "max_iter", None)
    listener(Step("Fitting", 0, most, "rounds at most"))
    estimator.fit(
        X,
        y,
        X_seeds=X_seeds,
        y_seeds=y_seeds if X_seeds is not None else None,
        start=earlier.estimator if earlier else None,
        rejected=rejected,
        progress=lambda event: listener(Step("Fitting", event["round"], most, "rounds at most")),
        checkpoint=rounds,
    )


def _files(*inputs: Any) -> list[Path]:
    """The files among the inputs, which no later output may replace."""
    every = [one for some in inputs for one in (some if isinstance(some, list) else [some])]
    paths = [one.path if isinstance(one, SeedTable | TaxonomyFile) else one for one in every]
    return [Path(one).absolute() for one in paths if isinstance(one, str | PathLike)]
