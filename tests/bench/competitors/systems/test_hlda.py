"""hLDA on a tree of words that is known."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

pytest.importorskip("tomotopy", reason="tomotopy is not installed (extra 'hlda')")

from small_systems import make_small

from hierseed.errors import ModelError
from hierseed.taxonomy import Taxonomy
from hierseed_bench.competitors.systems import make_system
from hierseed_bench.competitors.systems.hlda import path_of, words_of


@pytest.fixture(scope="module")
def planted():
    """Root, 3 middle topics, 9 leaves, ten words of its own each; a document mixes its path."""
    rng = np.random.default_rng(0)
    taxonomy = Taxonomy.from_paths([f"m{i} > l{j}" for i in range(3) for j in range(3)])
    letters = str.maketrans("0123456789", "abcdefghij")
    leaves, texts = rng.integers(0, 9, 300), []
    for leaf in leaves:
        path = ("root", f"mid{leaf // 3}", f"leaf{leaf}")
        drawn = rng.choice(3, 60, p=rng.dirichlet([2, 2, 2]))
        texts.append(" ".join(f"{path[d]}x{rng.integers(10)}" for d in drawn).translate(letters))
    return taxonomy, texts, leaves


def fit(planted, **options):
    taxonomy, texts, _ = planted
    system = make_small("hlda", **options)
    return system.fit(taxonomy, ([texts[0]], [0]), texts[1:])


@pytest.fixture(scope="module")
def learned(planted):
    return fit(planted, sweeps=300)


def test_finds_the_leaves_that_were_planted(planted, learned):
    found = learned.predict(planted[1])
    assert adjusted_rand_score(planted[2], found[:, 1]) >= 0.75
    losses = [event["loss"] for event in learned.history_]
    assert losses[-1] < losses[0]


def test_the_priors_of_the_library_do_not(planted):
    collapsed = fit(planted, alpha=0.1, gamma=0.1, eta=0.01)
    assert adjusted_rand_score(planted[2], collapsed.predict(planted[1])[:, 1]) < 0.5


def test_paths_are_nested(planted, learned):
    found = learned.predict(planted[1])
    assert all(learned.model.parent_topic(int(b)) == a for a, b in found)
    for document in learned.model.docs:
        path = path_of(document)
        assert [learned.model.parent_topic(int(k)) for k in path[1:]] == path[:-1].tolist()
    assert learned.describe()["clusters"] == [
        len({int(path_of(d)[level]) for d in learned.model.docs}) for level in (1, 2)
    ]


def test_a_text_without_known_words_has_no_cluster(learned):
    found = learned.predict(["", "12 34", "zebra quagga", learned.task_.fitting[0]])
    assert (found[:3] == -1).all()
    assert (found[3] >= 0).all()
    assert learned.predict([]).shape == (0, 2)


def test_the_same_seed_gives_the_same_paths(planted):
    first, again, other = (fit(planted, sweeps=30, seed=seed) for seed in (3, 3, 4))
    paths = [[path_of(d).tolist() for d in s.model.docs] for s in (first, again, other)]
    assert paths[0] == paths[1] != paths[2]
    assert np.array_equal(first.predict(planted[1]), again.predict(planted[1]))


def test_the_tree_is_as_deep_as_the_taxonomy(planted):
    deep = Taxonomy.from_paths(["a > b > c > d"])
    system = make_small("hlda", sweeps=5).fit(deep, (planted[1][:1], [0]), planted[1])
    assert system.predict(planted[1][:3]).shape == (3, 4)


def test_a_killed_fit_resumes(planted, tmp_path):
    def kill(event):
        if event["epoch"] == 40:
            raise KeyboardInterrupt

    again = {"checkpoint": tmp_path, "sweeps": 60, "report_every": 20, "save_every": 0.0}
    with pytest.raises(KeyboardInterrupt):
        fit(planted, progress=kill, **again)
    resumed = fit(planted, **again)
    assert [event["epoch"] for event in resumed.history_] == [40, 60]  # 20 were saved
    with pytest.raises(ModelError, match="other texts, labels or settings"):
        fit(planted, seed=5, **again)


def test_no_words_at_all_is_reported(planted):
    with pytest.raises(ModelError, match="no word is left"):
        make_system("hlda").fit(planted[0], (["a b"], [0]), ["1 2 3"])


def test_stop_words_and_short_ones_go():
    assert words_of("The CAT said: it's 12 mats, x-rays!") == ["cat", "mats", "rays"]
