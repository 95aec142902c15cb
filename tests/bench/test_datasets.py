"""The open form, rare topics, skewed sizes, topics left out, splits and seeds."""

import gzip
import json

import numpy as np
import pytest

from hierseed.errors import CorpusError, SeedError
from hierseed.evaluate.left_out import INSIDE
from hierseed.taxonomy import Taxonomy
from hierseed_bench.data.catalogue import OPEN, load_dataset
from hierseed_bench.data.dataset import Dataset, most_specific, subtree_counts
from hierseed_bench.data.reshape import drop_rare, leave_out, sample, skew
from hierseed_bench.data.splits import draw_seeds, train_test

TREE = {"A": {"B": {}, "C": {"D": {}}}, "E": {"F": {}, "G": {}}, "H": {}}


def make(counts: dict[str, int], seed=0) -> Dataset:
    """A data set with so many documents per path, in random order."""
    taxonomy = Taxonomy.from_paths(["A > B", "A > C > D", "E > F", "E > G", "H"])
    labels = [[taxonomy.index(path)] for path, count in counts.items() for _ in range(count)]
    order = np.random.default_rng(seed).permutation(len(labels))
    labels = [labels[i] for i in order]
    names = [f"d{i}" for i in range(len(labels))]
    vectors = np.arange(len(labels), dtype=float)[:, None]
    return Dataset("made", taxonomy, labels, names, names, vectors)


FULL = {"A > B": 40, "A > C > D": 30, "A > C": 5, "E > F": 50, "E > G": 3, "H": 20}


@pytest.fixture
def folder(tmp_path):
    documents = [
        {"id": 1, "text": "one", "labels": [["A", "B"], ["A"]], "split": "train"},
        {"id": 2, "text": "two", "labels": [["A", "C", "D"], ["H"]], "split": "test"},
    ]
    for tail in ("", "_long"):
        with gzip.open(tmp_path / f"docs{tail}.jsonl.gz", "wt") as file:
            file.writelines(json.dumps(document) + "\n" for document in documents)
    (tmp_path / "taxonomy.json").write_text(json.dumps({"tree": TREE}))
    np.save(tmp_path / "minilm.npy", np.ones((2, 3), dtype=np.float16))
    return tmp_path


def test_a_folder_is_read_with_its_vectors_and_its_split(folder):
    dataset = load_dataset(str(folder))
    assert dataset.taxonomy.paths[:4] == ("A", "A > B", "A > C", "A > C > D")
    assert dataset.labels == [[1], [3, 7]]  # "A" is implied by "A > B"
    assert dataset.ids == ["1", "2"]
    assert dataset.vectors.shape == (2, 3)
    assert [rows.tolist() for rows in train_test(dataset)] == [[0], [1]]


def test_a_variant_has_its_own_files(folder):
    dataset = load_dataset(f"{folder}:long")
    assert len(dataset) == 2
    assert dataset.vectors is None


def test_vectors_that_do_not_fit_are_refused_with_both_numbers(folder):
    np.save(folder / "minilm.npy", np.ones((3, 3)))
    with pytest.raises(CorpusError, match=r"2 labels.*3 vectors"):
        load_dataset(str(folder))


def test_a_folder_without_the_files_says_which(tmp_path):
    with pytest.raises(CorpusError, match=r"taxonomy\.json"):
        load_dataset(str(tmp_path))


@pytest.mark.parametrize("name", ["no-such-set", "wos"])
def test_unknown_names_and_missing_copies_say_what_to_do(name):
    with pytest.raises(CorpusError, match="--path"):
        load_dataset(name)


def test_most_specific_drops_doubles_and_ancestors():
    taxonomy = make(FULL).taxonomy
    a, d, h = (taxonomy.index(path) for path in ("A", "A > C > D", "H"))
    assert most_specific(taxonomy.tree, [h, d, a, d, -1]) == [d, h]


def test_rare_topics_go_and_their_documents_move_up():
    dataset = make(FULL)
    pruned = drop_rare(dataset, 15)
    assert pruned.taxonomy.paths == ("A", "A > B", "A > C", "A > C > D", "E", "E > F", "H")
    counts = subtree_counts(pruned.taxonomy.tree, pruned.labels)
    assert dict(zip(pruned.taxonomy.paths, counts.tolist()))["E"] == 53
    assert sum(topics == [pruned.taxonomy.index("E")] for topics in pruned.labels) == 3
    assert "1 of 8 topics" in pruned.notes[0]
    assert (pruned.vectors[:, 0] == [int(name[1:]) for name in pruned.ids]).all()


def test_documents_without_a_kept_ancestor_leave():
    pruned = drop_rare(make(FULL), 21)
    assert "H" not in pruned.taxonomy.paths
    assert len(pruned) == 148 - 20
    assert "20 had none and left" in pruned.notes[0]


def test_skewed_sizes_follow_the_law_and_keep_the_least():
    dataset = make(dict.fromkeys(FULL, 100))
    kept = skew(dataset, 1.0, least=18)
    own = sorted(np.unique([topics[0] for topics in kept.labels], return_counts=True)[1].tolist())
    assert own == [18, 20, 25, 33, 50, 100]
    assert len(skew(dataset, 0.0)) == len(dataset)


def test_left_out_topics_leave_their_documents_with_a_home():
    dataset = make(FULL)
    result = leave_out(dataset, 0.3, seed=1)
    reduced = result.dataset
    assert len(reduced) == len(dataset)
    out = result.home != INSIDE
    for row in range(len(dataset)):
        old = dataset.taxonomy.paths[dataset.labels[row][0]]
        if not out[row]:
            assert reduced.taxonomy.paths[reduced.labels[row][0]] == old
        elif result.home[row] == -1:
            assert reduced.labels[row] == []
            assert old.split(" > ")[0] not in reduced.taxonomy.paths
        else:
            home = reduced.taxonomy.paths[result.home[row]]
            assert reduced.labels[row] == [result.home[row]]
            assert old.startswith(home + " > ")
    assert 0 < out.sum() < len(dataset)
    assert (result.home[out] == -1).any()
    split = draw_seeds(reduced, 4, 0, barred=out)
    assert not out[split.seeds].any()


def test_a_sample_keeps_order_and_rows():
    part = sample(make(FULL), 50)
    numbers = [int(name[1:]) for name in part.ids]
    assert numbers == sorted(numbers)
    assert part.vectors[:, 0].tolist() == numbers
    assert len(part) == 50


# ------------------------------------------------------------------ seeds


def test_seeds_fitting_and_test_are_apart_and_whole():
    dataset = drop_rare(make(FULL), 15)
    split = draw_seeds(dataset, 4, draw=0)
    every = np.concatenate([split.seeds, split.fitting, split.test])
    assert sorted(every.tolist()) == list(range(len(dataset)))
    assert len(split.test) == round(0.2 * len(dataset))
    served = [topic for topics in split.seed_topics for topic in topics]
    tree = dataset.taxonomy.tree
    for topic in np.flatnonzero(tree.is_leaf):
        assert served.count(topic) == 4
    inner = dataset.taxonomy.index("E")  # its own documents are those of the dropped leaf
    assert 0 < served.count(inner) <= 3
    for row, topics in zip(split.seeds, split.seed_topics):
        assert set(topics) <= set(dataset.labels[row])


def test_fewer_seeds_are_among_more_and_draws_differ():
    dataset = drop_rare(make(FULL), 15)
    few, many = draw_seeds(dataset, 2, 3), draw_seeds(dataset, 6, 3)
    assert set(few.seeds) < set(many.seeds)
    assert few.test.tolist() == many.test.tolist()
    assert set(draw_seeds(dataset, 2, 4).seeds) != set(few.seeds)
    again = draw_seeds(dataset, 2, 3)
    assert again.seeds.tolist() == few.seeds.tolist()


def test_a_document_of_several_topics_serves_each_at_most_k_times():
    taxonomy = Taxonomy.from_paths(["A", "B"])
    names = [str(i) for i in range(40)]
    dataset = Dataset("two", taxonomy, [[0, 1]] * 40, names, names)
    split = draw_seeds(dataset, 3, 0)
    assert split.seed_topics == ((0, 1),) * 3


def test_a_leaf_without_training_documents_is_named():
    dataset = make({"A > B": 10, "H": 10})
    with pytest.raises(SeedError, match="A > C > D"):
        draw_seeds(dataset, 2, 0)


def test_the_shared_sets_have_the_sizes_they_state(shared_data):
    sizes = {}
    for name, folder in OPEN.items():
        place, _, variant = folder.partition(":")
        path = f"{shared_data / place}:{variant}" if variant else str(shared_data / place)
        dataset = load_dataset(path)
        assert dataset.vectors is not None
        levels = drop_rare(dataset, 15).statistics()["topics_per_level"]
        sizes[name] = (len(dataset), levels)
    assert sizes["20newsgroups"] == (18609, [6, 20])
    assert sizes["arxiv"] == (34488, [10, 116])
    assert sizes["cap"] == (8443, [20, 111])
    assert sizes["us_code"] == (3045, [19, 61, 35, 16, 4])
