"""What the systems share: padded trees, words, vectors, the training loop, checkpoints."""

import numpy as np
import pytest

from hierseed.core.tree import Tree
from hierseed.errors import EmbeddingError, ModelError, SeedError
from hierseed_bench.competitors.systems import Examples
from hierseed_bench.competitors.systems.paths import PaddedTree, product_argmax
from hierseed_bench.competitors.systems.text import (
    PADDING,
    UNKNOWN,
    Vocabulary,
    content_words,
    keras_words,
    kim_words,
)

torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra 'neural')")

from hierseed_bench.competitors.systems import checkpoint as checkpoints  # noqa: E402
from hierseed_bench.competitors.systems.skipgram import SkipGram, pairs  # noqa: E402
from hierseed_bench.competitors.systems.training import Schedule, shuffled, train  # noqa: E402
from hierseed_bench.competitors.systems.wordvectors import (  # noqa: E402
    GloveFile,
    RandomVectors,
    initial_vectors,
    vector_source,
)

UNEVEN = Tree([-1, 0, 0, -1, 3, 4, 4, -1])  # 0 > {1, 2}, 3 > 4 > {5, 6}, 7


def test_every_leaf_of_a_padded_tree_lies_at_the_last_level():
    padded = PaddedTree(UNEVEN)
    assert (padded.padded.level[padded.leaves] == 3).all()
    assert len(padded.leaves) == 5
    assert len(padded) == 8 + 2 + 2  # 1 and 2 lack one level, 7 lacks two
    assert padded.topics(padded.leaves).tolist() == [
        UNEVEN.ancestors[padded.topic[leaf]].tolist() for leaf in padded.leaves
    ]


def test_a_label_gives_its_stand_ins_and_an_inner_label_nothing_below():
    padded = PaddedTree(UNEVEN)
    shallow, inner = padded.gold(np.array([7, 3]))
    assert shallow[0] == 7
    assert (padded.topic[shallow] == 7).all()
    assert inner.tolist() == [3, -1, -1]
    assert padded.sets(np.array([7, 3])).sum(axis=1).tolist() == [3, 1]
    assert padded.topics(padded.gold(np.array([7]))[:, -1]).tolist() == [[7, -1, -1]]


def test_product_argmax_is_the_best_of_all_paths():
    padded, rng = PaddedTree(UNEVEN), np.random.default_rng(0)
    widths = [len(padded.padded.at_level(level)) for level in (1, 2, 3)]
    logs = [np.log(rng.random((50, width))) for width in widths]
    found = product_argmax(padded, logs)
    for row, leaf in enumerate(found):
        scores = {
            int(path[-1]): sum(logs[k][row, padded.place[node]] for k, node in enumerate(path))
            for path in padded.paths
        }
        assert leaf == max(scores, key=scores.__getitem__)


def test_words_are_cut_as_each_system_wants_them():
    text = "Don't stop (the U.S. Code's 3rd part)! \"A\\B\""
    assert " ".join(kim_words(text)) == "do n't stop ( the u s code 's 3rd part ) ! a b"
    assert " ".join(content_words(text)) == "n't stop code 's 3rd"
    assert " ".join(keras_words(text)) == "dont stop the u s codes 3rd part ab"


def test_a_vocabulary_ranks_by_count_and_pads_on_the_right():
    vocabulary = Vocabulary.build([["b", "a", "b"], ["a", "c"]], size=2)
    assert vocabulary.words[2:] == ["a", "b"]
    rows, lengths = vocabulary.matrix([["a", "c", "b"], []], 2, keep_last=True)
    assert rows.tolist() == [[UNKNOWN, 3], [UNKNOWN, PADDING]]
    assert lengths.tolist() == [2, 1]


def test_pairs_lie_within_a_window_and_a_document():
    numbers, document = np.arange(12), np.repeat([0, 1], 6)
    centres, contexts = pairs(numbers, document, np.ones(12), 3, np.random.default_rng(0))
    assert (np.abs(centres - contexts) <= 3).all()
    assert (document[centres] == document[contexts]).all()
    neighbours = set(zip(centres.tolist(), contexts.tolist()))
    assert {(i, i + 1) for i in range(5)} <= neighbours


def test_skip_gram_puts_words_of_one_topic_together(corpus, tmp_path):
    source = SkipGram(dimension=16, min_count=1, sample=1.0, epochs=20, batch=256, cache=tmp_path)
    table = source.fit(corpus.texts, "cpu")
    assert all(np.array_equal(row, table[word]) for word, row in source.fit(corpus.texts).items())
    words = [word for word in table if word.startswith("b")]  # of topics at level 2
    unit = np.array([table[word] / np.linalg.norm(table[word]) for word in words])
    same = np.array([[a[:2] == b[:2] for b in words] for a in words])
    cosine = unit @ unit.T
    assert cosine[same].mean() > cosine[~same].mean() + 0.2


def test_unknown_words_are_drawn_and_padding_is_zero(tmp_path):
    file = tmp_path / "glove.txt"
    file.write_text("a 1 2\nb 3 4\n")
    rows, known = initial_vectors(Vocabulary(["a", "z"]), GloveFile(file), [], 0, "cpu")
    assert rows[0].tolist() == [0, 0]
    assert rows[2].tolist() == [1, 2]
    assert (np.abs(rows[[1, 3]]) <= 0.25).all()
    assert known == 0.5
    file.write_text("a 1 2\nb 3\n")
    with pytest.raises(EmbeddingError, match="line 2: 1 numbers where the first line has 2"):
        GloveFile(file).fit([])


def make(seed=0):
    torch.manual_seed(seed)
    model = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Dropout(0.1))
    x = torch.randn(40, 3)
    y = x @ torch.tensor([[1.0], [-2.0], [0.5]])
    optimiser = torch.optim.Adam(model.parameters(), 0.05)
    return model, optimiser, lambda rows: ((model(x[rows]) - y[rows]) ** 2).mean()


def test_training_lowers_the_loss_and_stops_when_validation_does():
    model, optimiser, loss = make()
    scores = iter([0.1, 0.5, 0.3, 0.2, 0.9])
    history = train(
        "one", model, optimiser, loss, 40, Schedule(9, 8, patience=2), validate=lambda: next(scores)
    )
    assert [event["validation"] for event in history] == [0.1, 0.5, 0.3, 0.2]
    assert history[-1]["loss"] < history[0]["loss"]


def test_the_best_weights_are_kept():
    model, optimiser, loss = make()
    seen = []

    def validate():
        seen.append(model[0].weight.detach().clone())
        return [1.0, 2.0, 0.0][len(seen) - 1]

    train("one", model, optimiser, loss, 40, Schedule(3, 8), validate=validate)
    assert torch.equal(model[0].weight, seen[1])


@pytest.mark.parametrize("sort", [False, True])
def test_an_epoch_sees_every_row_once_and_sorts_rows_of_like_length_together(sort):
    lengths = torch.randint(1, 500, (1030,))
    batches = shuffled(1030, 8, lengths if sort else None)
    assert sorted(torch.cat(batches).tolist()) == list(range(1030))
    assert all(len(batch) <= 8 for batch in batches)
    spread = np.mean([(lengths[b].max() - lengths[b].min()).item() for b in batches])
    assert (spread < 50) == sort
    first = [int(lengths[batch].max()) for batch in batches]
    assert first != sorted(first)


@pytest.mark.parametrize("killed_after", [1, 3])
def test_a_killed_training_resumes_to_the_same_weights(tmp_path, killed_after):
    whole, optimiser, loss = make()
    expected = train("one", whole, optimiser, loss, 40, Schedule(5, 8), seed=3)

    def kill(event):
        if event["epoch"] == killed_after:
            raise KeyboardInterrupt

    model, optimiser, loss = make()
    schedule, kept = Schedule(5, 8, save_every=0), checkpoints.Checkpoint(tmp_path, "key")
    with pytest.raises(KeyboardInterrupt):
        train("one", model, optimiser, loss, 40, schedule, seed=3, checkpoint=kept, report=kill)
    model, optimiser, loss = make(seed=0)
    torch.nn.init.zeros_(model[0].weight)
    history = train("one", model, optimiser, loss, 40, schedule, seed=3, checkpoint=kept)
    assert torch.equal(model[0].weight, whole[0].weight)
    assert [e["loss"] for e in history] == [e["loss"] for e in expected]
    again = train("one", model, optimiser, loss, 40, schedule, seed=3, checkpoint=kept)
    assert len(again) == 5


def test_a_foreign_or_damaged_checkpoint_is_refused(tmp_path):
    checkpoints.Checkpoint(tmp_path, "a").save("one", {"x": torch.ones(2)})
    assert checkpoints.Checkpoint(tmp_path, "a").load("one")["x"].tolist() == [1, 1]
    assert checkpoints.Checkpoint(tmp_path, "a").load("two") is None
    with pytest.raises(ModelError, match="other texts, labels or settings"):
        checkpoints.Checkpoint(tmp_path, "b").load("one")
    (tmp_path / "one.pt").write_bytes(b"not a checkpoint")
    with pytest.raises(ModelError, match="can't be read"):
        checkpoints.Checkpoint(tmp_path, "a").load("one")
    assert [file.name for file in tmp_path.iterdir()] == ["one.pt"]


def test_examples_spread_lists_of_topics_and_drop_doubles():
    examples = Examples.of(["x", "y", "x"], [[1, 2], [3], [1]])
    assert examples.texts == ["x", "x", "y"]
    assert examples.topics.tolist() == [1, 2, 3]
    with pytest.raises(SeedError, match="2 texts but 1 labels"):
        Examples.of(["x", "y"], [1])


def test_a_source_of_vectors_is_found_by_its_name(tmp_path):
    assert vector_source(None).name.startswith("skip-gram 100d")
    assert vector_source("random").name == "random"
    with pytest.raises(EmbeddingError, match="no word vectors 'glove:nowhere'"):
        vector_source("glove:nowhere")
    (tmp_path / "g.txt").write_text("a 1 2 3\n")
    assert vector_source(f"glove:{tmp_path / 'g.txt'}").dimension == 3


def test_random_vectors_know_no_word():
    rows, known = initial_vectors(Vocabulary(["a"]), RandomVectors(4), [], 0, "cpu")
    assert rows.shape == (3, 4)
    assert known == 0
