"""fit and check: from files to a model, or to a list of what to mend."""

import json
from collections.abc import Callable
from dataclasses import asdict

import numpy as np
import pytest
from cli_project import FIT, Project
from typer.testing import Result

from hierseed import load
from hierseed.estimators.parameters import METHODS

Run = Callable[..., Result]


def test_fit_says_what_it_does_and_saves_a_model(model: Project) -> None:
    saved = load(model / "model")
    assert saved.embedder.name == "wordllama:64"
    assert saved.about["documents"] == 48
    assert len(saved.seeds) == 12
    assert model.names() == [
        "docs.csv", "docs.jsonl", "model", "model.vectors", "seeds.csv", "topics.txt",
    ]  # fmt: skip


def test_fit_reports_every_step(project: Project, hierseed: Run) -> None:
    done = hierseed("fit", "docs.csv", *FIT, "-o", "model")
    for part in [
        "topics.txt, 6 topics: 2 on level 1, 4 on level 2", "seeds.csv, 12 seeds",
        "docs.csv, 48 documents", "wordllama:64; about", "Embedded   48 documents", "Fitted",
        "of 48 documents",
    ]:  # fmt: skip
        assert part in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("method", METHODS)
def test_every_method_fits(project: Project, hierseed: Run, method: str) -> None:
    done = hierseed("fit", "docs.csv", *FIT, "-o", "model", "--method", method, "--json", "-q")
    assert done.exit_code == 0
    assert done.stderr == ""
    facts = json.loads(done.stdout)
    assert facts["documents"] == 48
    saved = load(project / "model")
    assert facts["coverage"] == pytest.approx(saved.estimator.coverage_)
    assert ("expected_accuracy" in facts) == (method == "anchored")
    if method == "anchored":
        topics = facts["expected_accuracy"]["topics"]
        assert topics == {path: asdict(one) for path, one in saved.expected_accuracy().items()}
        assert len(facts["expected_accuracy"]["levels"]) == 2


def test_the_same_corpus_in_any_format_gives_the_same_model(
    project: Project, hierseed: Run
) -> None:
    for source in ("docs.csv", "docs.jsonl"):
        hierseed("fit", source, *FIT, "-o", f"model-{source}", "--vectors", f"v-{source}")
    one, two = (
        load(project / f"model-{source}").estimator for source in ("docs.csv", "docs.jsonl")
    )
    np.testing.assert_array_equal(one.vectors_, two.vectors_)
    np.testing.assert_array_equal(one.labels_, two.labels_)


def test_a_second_fit_takes_the_vectors_it_finds(model: Project, hierseed: Run) -> None:
    done = hierseed("fit", "docs.csv", *FIT, "-o", "model")
    assert "48 documents, found in model.vectors" in done.stderr
    (model / "docs.csv").write_text((model / "docs.csv").read_text().replace("kitten", "lion"))
    done = hierseed("fit", "docs.csv", *FIT, "-o", "model")
    assert "holds other vectors and is replaced" in done.stderr
    more = ("--vectors", "model.vectors", "--overwrite")
    done = hierseed("fit", "docs.jsonl", *FIT, "-o", "model", *more)
    assert done.exit_code == 1
    assert "was made from another corpus" in done.stderr


def test_fit_on_vectors_alone(model: Project, hierseed: Run) -> None:
    done = hierseed("fit", "model.vectors", *FIT[:4], "-o", "again")
    assert done.exit_code == 0, done.stderr
    np.testing.assert_array_equal(
        load(model / "model").estimator.vectors_, load(model / "again").estimator.vectors_
    )
    assert load(model / "again").embedder.name == "wordllama:64"


def test_a_npy_file_takes_seeds_by_row(project: Project, hierseed: Run) -> None:
    rng = np.random.default_rng(0)
    np.save(project / "v.npy", np.repeat(np.eye(4), 10, axis=0) + rng.normal(0, 0.1, (40, 4)))
    paths = (project / "topics.txt").read_text().split("\n")
    rows = [f"{10 * k + i},{paths[k]}" for k in range(4) for i in range(3)]
    (project / "rows.csv").write_text("\n".join(["id,topic", *rows]))
    done = hierseed("fit", "v.npy", "-t", "topics.txt", "-s", "rows.csv", "-o", "model")
    assert done.exit_code == 0, done.stderr
    (project / "rows.csv").write_text("text,topic\na cat,Cats\n")
    done = hierseed("fit", "v.npy", "-t", "topics.txt", "-s", "rows.csv", "-o", "model")
    assert done.exit_code == 1
    assert "the embedder of the vectors is not known" in done.stderr


def test_seeds_of_their_own_text_and_from_names(project: Project, hierseed: Run) -> None:
    (project / "seeds.csv").write_text("text,topic\na purring kitten,Cats\na barking hound,Dogs\n")
    done = hierseed("fit", "docs.csv", *FIT, "-o", "model", "--method", "hierseed")
    assert done.exit_code == 1
    assert "no seed for 2 of 4 leaves" in done.stderr
    assert "model.vectors" not in project.names()  # said before the long step
    done = hierseed("fit", "docs.csv", *FIT, "-o", "model", "--method", "anchored")
    assert done.exit_code == 0
    assert "Note       2 leaves have no seed and get no documents" in done.stderr
    done = hierseed("fit", "docs.csv", *FIT, "-o", "model", "--seeds-from-names")
    assert done.exit_code == 0, done.stderr
    assert "used as seeds of 2 topics" in done.stderr


def test_what_one_seed_a_topic_cannot_show_is_called_unknown(
    project: Project, hierseed: Run
) -> None:
    seeds = [f"{name}-0,{name}" for name in ("cats", "dogs", "bread", "soup")]
    (project / "seeds.csv").write_text("\n".join(["id,topic", *seeds]) + "\n")
    done = hierseed("fit", "docs.csv", *FIT, "-o", "model")
    assert "Belong     unknown" in done.stderr
    assert "Accuracy   unknown: no seed can be held out" in done.stderr
    checked = hierseed("check", *FIT[:4], "--corpus", "docs.csv")
    assert "4 seeds in all: at the default false_alarm of 0.05 it takes 19" in checked.stderr
    more = [f"{name}-{i},{name}" for name in ("cats", "dogs", "bread", "soup") for i in range(5)]
    (project / "seeds.csv").write_text("\n".join(["id,topic", *more]) + "\n")
    assert "seeds in all" not in hierseed("check", *FIT[:4], "--corpus", "docs.csv").stderr
    done = hierseed("fit", "docs.csv", *FIT, "-o", "model", "--overwrite")
    assert "Accuracy   expected: level 1" in done.stderr


def test_rows_left_out_are_saved_next_to_the_model(project: Project, hierseed: Run) -> None:
    with (project / "docs.csv").open("a") as file:
        file.write("extra,\n")
    done = hierseed("fit", "docs.csv", *FIT, "-o", "model")
    assert done.exit_code == 1
    assert "docs.csv:50: empty text (id 'extra')" in done.stderr
    done = hierseed("fit", "docs.csv", *FIT, "-o", "model", "--on-error", "skip")
    assert done.exit_code == 0
    assert "extra" in (project / "model.skipped.csv").read_text()


def test_a_corpus_of_one_document(project: Project, hierseed: Run) -> None:
    (project / "one.csv").write_text("id,text\ncats-0,the cat\n")
    (project / "seeds.csv").write_text("id,topic\ncats-0,Cats\n")
    done = hierseed("fit", "one.csv", *FIT, "-o", "model", "--seeds-from-names")
    assert done.exit_code == 1
    assert "one.csv has one document" in done.stderr


def test_settings_reach_the_method(project: Project, hierseed: Run) -> None:
    method = ("--method", "hierseed", "--set", "alpha=1.3", "--set", "other=below")
    assert hierseed("fit", "docs.csv", *FIT, "-o", "model", *method).exit_code == 0
    assert load(project / "model").estimator.alpha == 1.3
    assert load(project / "model").estimator.other == "below"
    done = hierseed("fit", "docs.csv", *FIT, "-o", "m", "--method", "hierseed", "--set", "alfa=1")
    assert done.exit_code == 2
    assert "Did you mean 'alpha'?" in " ".join(done.stderr.replace("│", "").split())
    assert hierseed("fit", "docs.csv", *FIT, "-o", "m", "--method", "magic").exit_code == 2


@pytest.mark.parametrize(
    "setting", ["precision=half", "several=yes", "seed_weight=-5", "max_iter=0"]
)
def test_settings_are_refused_before_the_long_step(
    project: Project, hierseed: Run, setting: str
) -> None:
    done = hierseed("fit", "docs.csv", *FIT, "-o", "model", "--set", setting)
    assert done.exit_code == 1
    assert f"{setting.split('=')[0]} of AnchoredHierSeed must be " in done.stderr
    assert not (project / "model.vectors").exists()


def test_vectors_kept_elsewhere_are_found_again(project: Project, hierseed: Run) -> None:
    (project / "store").mkdir()
    options = ("--vectors", "store/vectors", "-o", "model")
    assert hierseed("fit", "docs.csv", *FIT, *options).exit_code == 0
    for command in ("assign", "report"):
        done = hierseed(
            command, "model", "docs.csv", "-o", f"out.{'csv' if command == 'assign' else 'html'}"
        )
        assert done.exit_code == 0, done.stderr
        assert "Vectors" in done.stderr
        assert "Embedded" not in done.stderr
    assert not list(project.folder.glob("model*vectors"))


def test_most_documents_in_none_gets_a_note(project: Project, hierseed: Run) -> None:
    narrow = ("--method", "unfit", "--set", "other=no", "--set", "child_factor=0.01")
    done = hierseed("fit", "docs.csv", *FIT, *narrow, "-o", "model")
    assert done.exit_code == 0, done.stderr
    assert "most documents are in none" in done.stderr
    done = hierseed("fit", "docs.csv", *FIT, "-o", "model")
    assert "most documents are in none" not in done.stderr
    assert "Belong" in done.stderr  # the share of documents that belong is told instead


def test_check_finds_nothing_in_a_good_project(project: Project, hierseed: Run) -> None:
    done = hierseed("check", *FIT[:4], "--corpus", "docs.csv")
    assert done.exit_code == 0
    assert "ready for hierseed fit" in done.stderr


def test_check_reports_every_fault_of_every_file_at_once(project: Project, hierseed: Run) -> None:
    with (project / "docs.csv").open("a") as file:
        file.write('cats-0,again\nlast,"open\n')
    with (project / "seeds.csv").open("a") as file:
        file.write("ghost,Cats\ncats-5,Cat\n")
    (project / "topics.txt").write_text((project / "topics.txt").read_text() + "Food > Cheese\n")
    done = hierseed("check", *FIT[:4], "-c", "docs.csv", "--json", "-q")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert not found["ready"]
    text = "\n".join(found["faults"])
    assert len(found["faults"]) == 4
    assert found["notes"][0].endswith("without a seed, which get no documents: 'Food > Cheese'")
    for part in [
        "docs.csv:50: id occurs twice ('cats-0' is already on line 2)",
        "docs.csv:51: unclosed quote",
        "seeds.csv:15: no topic 'Cat'; did you mean 'Animals > Cats'?",
        "1 of 13 seed documents are not in the corpus of 48: 'ghost'",
    ]:
        assert part in text
    for fault in found["faults"]:
        assert fault in done.stderr  # said even when quiet


def test_check_of_parts(project: Project, hierseed: Run) -> None:
    assert hierseed("check", "-t", "topics.txt").exit_code == 0
    assert hierseed("check", "-c", "docs.csv").exit_code == 0
    assert hierseed("check").exit_code == 2
    assert hierseed("check", "-s", "seeds.csv").exit_code == 2
    (project / "topics.txt").write_text("A\n\tB\nA\n")
    assert hierseed("check", "-t", "absent.txt", "-c", "absent.csv").exit_code == 1
