"""The four classifiers on a corpus whose answer is known: what all of them must do."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra 'neural')")

from small_systems import make_small  # noqa: E402

from hierseed.errors import ModelError, SeedError  # noqa: E402
from hierseed_bench.competitors.systems.skipgram import SkipGram  # noqa: E402

NAMES = ("hdltex", "hft", "hiagm", "hilap")
SEEDS = 24  # the first documents: four of each leaf
SHORT = {"epochs": 3, "seed_epochs": 3, "save_every": 0.0}


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vectors")
    return SkipGram(dimension=16, min_count=1, sample=1.0, epochs=10, batch=256, cache=folder)


def fit(name, corpus, vectors, *, full=False, **options):
    system = make_small(name, device="cpu", vectors=vectors, **options)
    labelled = (corpus.texts, corpus.topics) if full else None
    seeds = (corpus.texts[:SEEDS], corpus.topics[:SEEDS])
    return system.fit(corpus.taxonomy, seeds, corpus.texts[SEEDS:], labelled)


@pytest.fixture(scope="module", params=NAMES)
def learned(request, corpus, vectors):
    """A system after seeds alone."""
    return fit(request.param, corpus, vectors)


def test_learns_the_answer_from_four_seeds_a_topic(learned, corpus):
    right = learned.predict(corpus.test_texts) == corpus.answer
    assert right[:, 0].mean() >= 0.9  # chance: about a third
    assert right.all(axis=1).mean() >= 0.55  # chance: a sixth
    stages = {event["stage"]: event["loss"] for event in learned.history_}
    first = {event["stage"]: event["loss"] for event in reversed(learned.history_)}
    assert all(stages[stage] < first[stage] for stage in stages if stage != "reinforced")


def test_every_answer_is_a_path_of_the_tree_down_to_a_leaf(learned, corpus):
    levels = learned.predict([*corpus.test_texts, "", "words nobody has seen"])
    tree = corpus.taxonomy.tree
    deepest = levels.max(axis=1)
    assert tree.is_leaf[deepest].all()
    assert np.array_equal(levels, tree.ancestors[deepest])


def test_an_answer_does_not_depend_on_other_documents(learned, corpus):
    some = [*corpus.test_texts[:5], "", " ".join(corpus.test_texts[:9])]
    together = learned.predict(some)
    alone = np.concatenate([learned.predict([text]) for text in some])
    assert np.array_equal(together, alone)
    assert learned.predict([]).shape == (0, 3)


def test_the_record_says_what_was_run(learned):
    told = learned.describe()
    assert told["system"] == learned.name
    assert told["device"] == "cpu"
    assert told["curves"]
    assert ("vectors" in told) == (learned.name != "hilap")  # the bow-CNN starts from none


@pytest.mark.parametrize("name", NAMES)
def test_a_killed_fit_resumes_to_what_a_whole_one_gives(name, corpus, vectors, tmp_path):
    # HiLAP's pull towards open choices falls with every update: the count must be kept too
    short = SHORT | ({"beta_every": 1} if name == "hilap" else {})
    whole = fit(name, corpus, vectors, full=True, **short)
    events = len(whole.history_)
    seen = []

    def kill(event):
        seen.append(event)
        if len(seen) == events // 2 + 1:
            raise KeyboardInterrupt

    again = {"full": True, "checkpoint": tmp_path / "kept", **short}
    with pytest.raises(KeyboardInterrupt):
        fit(name, corpus, vectors, progress=kill, **again)
    resumed = fit(name, corpus, vectors, **again)
    assert np.array_equal(resumed.predict(corpus.test_texts), whole.predict(corpus.test_texts))
    losses = [[event["loss"] for event in system.history_] for system in (whole, resumed)]
    assert losses[0] == losses[1]
    with pytest.raises(ModelError, match="other texts, labels or settings"):
        fit(name, corpus, vectors, seed=1, **again)


def test_the_seed_changes_the_training(corpus, vectors):
    first, second = (fit("hft", corpus, vectors, seed=seed, **SHORT) for seed in (0, 1))
    assert first.history_[0]["loss"] != second.history_[0]["loss"]


def test_shuffled_labels_give_chance(corpus, vectors):
    shuffled = corpus._replace(topics=np.random.default_rng(0).permutation(corpus.topics))
    system = fit("hft", shuffled, vectors, full=True)
    assert (system.predict(corpus.test_texts) == corpus.answer).all(axis=1).mean() < 0.45


def test_all_labels_are_used_and_one_in_five_validates(corpus, vectors):
    system = fit("hft", corpus, vectors, full=True, **SHORT)
    examples, held_out = system.task_.supervision(0)
    assert len(held_out) == round(len(set(zip(corpus.texts, corpus.topics))) / 5)
    assert not set(examples.texts) & set(held_out.texts)
    assert {"loss", "validation"} <= set(system.history_[0])


def test_words_of_texts_without_labels_are_known(corpus, vectors):
    system = make_small("hft", device="cpu", vectors=vectors, **SHORT)
    seeds = (corpus.texts[:SEEDS], corpus.topics[:SEEDS])
    system.fit(corpus.taxonomy, seeds, ["a word of the fitting set: zebra"])
    assert "zebra" in system.vocabulary.index


def test_seeds_of_an_inner_topic_train_the_levels_above_it(corpus, vectors):
    inner = corpus.taxonomy.index("D > E")
    texts = [*corpus.texts[:SEEDS], "quagga " * 20]
    topics = [*corpus.topics[:SEEDS], inner]
    system = make_small("hft", device="cpu", vectors=vectors, epochs=20)
    system.fit(corpus.taxonomy, (texts, topics))
    assert system.predict(["quagga " * 20])[0, 0] == corpus.taxonomy.index("D")


def test_wrong_inputs_are_reported_at_once(corpus):
    system = make_small("hft")
    with pytest.raises(ModelError, match="not fitted"):
        system.predict(["x"])
    with pytest.raises(
        SeedError, match=r"seeds with topics outside 0 … 8: 99.*2 names for 9 topics"
    ):
        system.fit(corpus.taxonomy, (["a"], [99]), names=["a", "b"])
    with pytest.raises(SeedError, match="neither seeds nor labelled"):
        system.fit(corpus.taxonomy, ([], []))
