"""hierseed.fit: inputs of every kind give the same model, and all faults are raised at once."""

import doctest
import importlib
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from worlds import make_world

import hierseed
from hierseed import AnchoredHierSeed, InputError, SeedError, Taxonomy, TextModel, fit
from hierseed.core.mixture.accuracy import Share
from hierseed.embed import embed_corpus, get_embedder
from hierseed.engines.choose import Engine
from hierseed.errors import CorpusError, HierSeedError, ParameterError
from hierseed.io.corpus import Corpus
from hierseed.pipeline import report_results
from hierseed.progress import Fact, Note, Step
from hierseed.report.gather import results_of

PATHS = ["Animals > Cats", "Animals > Dogs", "Food > Bread", "Food > Soup"]
WORDS = {
    "Cats": ["cat", "kitten", "purring", "whiskers", "tomcat", "feline"],
    "Dogs": ["dog", "puppy", "barking", "leash", "kennel", "hound"],
    "Bread": ["bread", "flour", "yeast", "oven", "loaf", "crust"],
    "Soup": ["soup", "broth", "bowl", "vegetables", "spoon", "simmering"],
}
TEXTS = {
    f"{name}-{i}": f"the {words[i % 6]} and the {words[(i + 1 + i // 6) % 6]}, number {i}"
    for name, words in WORDS.items()
    for i in range(12)
}
IDS = list(TEXTS)
SEEDS = {path: [f"{path.split()[-1]}-{i}" for i in (0, 1, 2)] for path in PATHS}
FRAME = pd.DataFrame({"id": IDS, "text": TEXTS.values()})
SEED_FRAME = pd.DataFrame(
    [(id, path) for path, ids in SEEDS.items() for id in ids], columns=["id", "topic"]
)


def run(
    documents: Any = TEXTS, taxonomy: Any = PATHS, seeds: Any = SEEDS, **more: Any
) -> TextModel:
    return fit(documents, taxonomy, seeds, **({"embedder": "wordllama:64"} | more))


@pytest.fixture(scope="module")
def model() -> TextModel:
    return run()


def same(one: TextModel, two: TextModel) -> None:
    np.testing.assert_array_equal(one.estimator.labels_, two.estimator.labels_)
    np.testing.assert_array_equal(one.estimator.vectors_, two.estimator.vectors_)
    assert sorted(one.seeds.topics.values()) == sorted(two.seeds.topics.values())


@pytest.mark.parametrize("kind", ["list", "frame", "index", "csv", "corpus", "matrix"])
def test_documents_of_every_kind_give_the_same_model(
    model: TextModel, tmp_path: Path, kind: str
) -> None:
    FRAME.to_csv(tmp_path / "docs.csv", index=False)
    other = FRAME.rename(columns={"id": "key", "text": "body"})
    other.to_csv(tmp_path / "other.csv", index=False)
    vectors = get_embedder("wordllama:64").encode(list(TEXTS.values()))
    rows = {path: [IDS.index(id) for id in ids] for path, ids in SEEDS.items()}
    given = {
        "list": (list(TEXTS.values()), rows),
        "frame": (FRAME, SEEDS),
        "index": (FRAME.set_index("id"), SEEDS),
        "csv": (tmp_path / "docs.csv", SEEDS),
        "corpus": (Corpus(tmp_path / "other.csv", id="key", text="body"), SEEDS),
        "matrix": (vectors, rows),
    }
    documents, seeds = given[kind]
    same(run(documents, seeds=seeds), model)


def test_a_vector_store_and_a_folder_for_vectors_give_the_same_model(tmp_path: Path) -> None:
    embed_corpus(TEXTS.items(), get_embedder("wordllama:64"), tmp_path / "v", dtype="float16")
    stored = run(tmp_path / "v")
    same(run(vectors=tmp_path / "made"), stored)
    assert stored.embedder.name == "wordllama:64"
    assert stored.assign(["a kitten"]).n_documents == 1


@pytest.mark.parametrize("kind", ["taxonomy", "file"])
def test_taxonomies_of_every_kind_give_the_same_model(
    model: TextModel, tmp_path: Path, kind: str
) -> None:
    tree = Taxonomy.from_paths(PATHS)
    tree.write(tmp_path / "topics.txt")
    same(run(taxonomy={"taxonomy": tree, "file": tmp_path / "topics.txt"}[kind]), model)


@pytest.mark.parametrize("kind", ["frame", "file", "files", "last names"])
def test_seeds_of_every_kind_give_the_same_model(
    model: TextModel, tmp_path: Path, kind: str
) -> None:
    for name, part in [("s", SEED_FRAME), ("a", SEED_FRAME[:5]), ("b", SEED_FRAME[5:])]:
        part.to_csv(tmp_path / f"{name}.csv", index=False)
    given = {
        "frame": SEED_FRAME,
        "file": tmp_path / "s.csv",
        "files": [tmp_path / "a.csv", tmp_path / "b.csv"],
        "last names": {path.split()[-1]: ids for path, ids in SEEDS.items()},
    }
    same(run(seeds=given[kind]), model)


def test_seeds_may_be_texts_of_their_own() -> None:
    seeds = {path: [f"all about {path.split()[-1].lower()} and more"] for path in PATHS}
    found = run(seeds=seeds)
    assert not found.assign(TEXTS).is_seed.any()
    assert found.estimator.coverage_ == 1


def test_every_fault_is_raised_at_once() -> None:
    with pytest.raises(InputError) as raised:
        fit(
            {"a": "text", "b": "", "c": "more"},
            ["A", "B"],
            pd.DataFrame({"id": ["a", "x"], "topic": ["A", "C"]}),
            embedder="wordlama",
            seed_wait=3,
        )
    told = str(raised.value)
    for part in ("seed_weight", "wordllama", "empty text", "no topic 'C'"):
        assert part in told
    assert len(raised.value.faults) == 4


@pytest.mark.parametrize(
    ("given", "kind", "told"),
    [
        ({"documents": 7}, CorpusError, "can't be a int"),
        ({"documents": []}, CorpusError, "no document"),
        ({"documents": ["one text"]}, CorpusError, "one document"),
        ({"documents": pd.DataFrame({"id": [1], "body": ["x"]})}, CorpusError, "text=…"),
        ({"seeds": {"Cats": ["nobody"]}}, SeedError, "'nobody'"),
        ({"seeds": {"Cats": [999]}}, SeedError, "'999'"),
        ({"seeds": None}, SeedError, "no seeds"),
        ({"method": "magic"}, ParameterError, "anchored"),
        ({"engine": "abacus"}, ParameterError, "engine"),
        ({"method": "hierseed", "seeds": {"Cats": IDS[:1]}}, SeedError, "seeds_from_names"),
    ],
)
def test_a_wrong_input_is_refused_by_name(given: dict[str, Any], kind: type, told: str) -> None:
    with pytest.raises(kind, match=told):
        run(**given)


def test_progress_hears_facts_and_steps_and_notes_are_warnings_without_it() -> None:
    events: list[Any] = []
    blank = pd.concat([SEED_FRAME, pd.DataFrame({"id": ["Cats-5"], "topic": [None]})])
    run(seeds=blank, progress=events.append)
    assert [event.label for event in events if isinstance(event, Fact)][:3] == [
        "Taxonomy",
        "Corpus",
        "Seeds",
    ]
    assert any(isinstance(event, Step) and event.name == "Fitting" for event in events)
    assert any(isinstance(event, Note) and "without a topic" in event.text for event in events)
    with pytest.warns(UserWarning, match="without a topic"):
        run(seeds=blank)


def test_a_fit_resumes_from_its_checkpoint_and_save_removes_it(
    model: TextModel, tmp_path: Path
) -> None:
    def stop(event: Any) -> None:
        if isinstance(event, Step) and event.name == "Fitting" and event.done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(checkpoint=tmp_path / "rounds", progress=stop)
    events: list[Any] = []
    again = run(checkpoint=tmp_path / "rounds", progress=events.append)
    assert any(isinstance(event, Fact) and event.label == "Resumed" for event in events)
    same(again, model)
    again.save(tmp_path / "model")
    assert not (tmp_path / "rounds").exists()


def test_worker_processes_give_the_same_model(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
    one = run(vectors=tmp_path / "v")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same(run(vectors=tmp_path / "v", engine=2), one)


@pytest.mark.parametrize(("coverage", "told"), [(0.95, True), (0.5, False)])
def test_foreign_documents_that_are_not_rejected_are_noted(coverage: float, told: bool) -> None:
    estimator = SimpleNamespace(
        foreign_share_=Share(0.6, 0.4, 0.7), coverage_=coverage, rejects_=True
    )
    heard: list[Any] = []
    report_results(estimator, heard.append)  # type: ignore[arg-type]
    notes = [event.worded() for event in heard if isinstance(event, Note)]
    assert bool(notes) == told
    if told:
        assert "at least 40%" in notes[0]
        assert "5% can be told apart" in notes[0]
        assert "false_alarm" in notes[0]


@pytest.mark.parametrize("seeds", [1, 8])
def test_a_share_that_is_not_estimated_is_unknown(seeds: int) -> None:
    """Of few topics with one seed each none can be left out: nothing says that all belong."""
    taxonomy, X, y, _ = make_world("one level", per_leaf=40, width=12, seeds=seeds)
    estimator = AnchoredHierSeed(taxonomy).fit(X, y)
    heard: list[Any] = []
    report_results(estimator, heard.append)
    (told,) = [event.text for event in heard if isinstance(event, Fact) and event.label == "Belong"]
    assert told.startswith("unknown" if seeds == 1 else "about ")
    assert (results_of(estimator)["belong"] is None) == (seeds == 1)


def test_an_engine_is_read_from_a_short_spelling() -> None:
    assert Engine.of(None) == Engine.of("threads") == Engine()
    assert Engine.of(3) == Engine(workers=3)
    assert Engine.of("cuda:1") == Engine(device="cuda:1")
    assert Engine.of("tcp://host:8786") == Engine(address="tcp://host:8786")


# ---------------------------------------------------------------- the public names

EXPORTED = [
    "AnchoredHierSeed", "Assignments", "CorpusError", "EmbeddingError", "HierSeed",
    "HierSeedError", "HierSeedWarning", "InputError", "MissingDependency", "ModelError",
    "ParameterError", "ProjectError", "SeedError", "Taxonomy", "TaxonomyError", "TextModel",
    "UnfitHierSeed", "fit", "get_embedder", "load", "suggest",
]  # fmt: skip


def test_the_package_exports_these_names_and_shows_no_other() -> None:
    assert sorted(hierseed.__all__) == EXPORTED
    assert sorted(dir(hierseed)) == sorted([*EXPORTED, "__version__"])
    for name in EXPORTED:
        assert getattr(hierseed, name).__module__.startswith("hierseed.")
    with pytest.raises(AttributeError, match="no attribute 'Any'"):
        hierseed.Any  # noqa: B018


def test_every_error_is_exported() -> None:
    own = [kind for kind in HierSeedError.__subclasses__() if kind.__module__ == "hierseed.errors"]
    assert {kind.__name__ for kind in own} <= set(EXPORTED)


@pytest.mark.parametrize(
    "name", ["fit", "load", "TextModel", "Taxonomy", "Assignments", "get_embedder", "suggest"]
)
def test_the_example_of_a_public_name_runs(name: str) -> None:
    given = getattr(hierseed, name)
    home = importlib.import_module(given.__module__)
    tests = [t for t in doctest.DocTestFinder(recurse=False).find(given, name, home) if t.examples]
    assert tests, f"{name} has no example"
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for one in tests:
        runner.run(one)
    assert runner.failures == 0
