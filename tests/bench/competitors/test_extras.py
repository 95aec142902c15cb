"""BERTopic and SetFit, the real packages on made documents; skipped where they are absent."""

import numpy as np
import pytest

from hierseed.errors import MissingDependency
from hierseed.evaluate import score
from hierseed.taxonomy import Taxonomy
from hierseed_bench.competitors import Documents, Task
from hierseed_bench.competitors.catalogue import make_method
from hierseed_bench.competitors.encoder import (
    DENSE,
    LAYERS,
    NORMS,
    OUTSIDE,
    by_torch,
    local_minilm,
)

TAXONOMY = Taxonomy.from_paths(["A > B", "A > C", "D > E", "D > F"])
LEAVES = np.array([1, 2, 4, 5])
WORDS = {1: "apple pear", 2: "goal ball", 4: "law court", 5: "star moon"}


def documents(topics, rng):
    """Vectors around one point a leaf, texts of two words a leaf."""
    points = np.random.default_rng(5).normal(size=(6, 16))
    X = points[topics] + 0.15 * rng.normal(size=(len(topics), 16))
    texts = [" ".join(rng.permutation(WORDS[topic].split() * 3)) for topic in topics]
    return Documents(X.astype(np.float32), texts)


def made(per_leaf):
    rng = np.random.default_rng(0)
    seeds, fitting, test = np.repeat(LEAVES, 4), np.repeat(LEAVES, per_leaf), np.repeat(LEAVES, 10)
    task = Task(
        TAXONOMY,
        documents(seeds, rng),
        [[int(topic)] for topic in seeds],
        documents(fitting, rng),
    )
    return task, documents(test, rng), test


@pytest.mark.filterwarnings("ignore")  # numba, umap and hdbscan speak of their own futures
def test_bertopic_finds_leaves_and_names_them_by_the_seeds():
    pytest.importorskip("bertopic", reason="needs the extra bertopic")
    task, test, gold = made(60)
    method = make_method("bertopic").fit(task)
    result = score(TAXONOMY, method.predict(test), gold)
    assert [level.accuracy for level in result.all.levels] == pytest.approx([1, 1], abs=0.1)
    again = make_method("bertopic").fit(task).predict(test)
    assert (again == method.predict(test)).all()


@pytest.fixture
def tiny(tmp_path):
    """A sentence encoder of one thin layer that nobody has trained."""
    pytest.importorskip("setfit", reason="needs the extra setfit")
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *" ".join(WORDS.values()).split()]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = BertConfig(vocab_size=len(words), intermediate_size=32, **sizes)
    BertModel(config).save_pretrained(tmp_path / "bert")
    BertTokenizerFast(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path / "bert")
    parts = [Transformer(str(tmp_path / "bert"), max_seq_length=32), Pooling(32)]
    SentenceTransformer(modules=parts, device="cpu").save(str(tmp_path / "tiny"))
    return str(tmp_path / "tiny")


@pytest.mark.filterwarnings("ignore")
def test_setfit_learns_leaves_from_the_seeds_texts(tiny):
    task, test, gold = made(0)
    method = make_method("setfit", model=tiny, max_steps=5).fit(task)
    notes = {"steps": 5, "pairs_a_step": 16, "max_tokens": 128, "device": method.notes["device"]}
    assert method.notes == notes
    blind = Documents(np.zeros((len(test), 1)), test.texts)  # it reads texts, not vectors
    result = score(TAXONOMY, method.predict(blind), gold)
    assert [level.accuracy for level in result.all.levels] == pytest.approx([1, 1], abs=0.1)


@pytest.mark.parametrize(("method", "package"), [("setfit", "setfit"), ("bertopic", "bertopic")])
def test_without_the_package_the_install_line_is_printed(method, package, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(MissingDependency, match=rf"pip install 'hierseed-bench\[{package}\]'"):
        make_method(method).fit(made(20)[0])


# ------------------------------------------------------------------ MiniLM for SetFit


def test_every_weight_of_the_wheel_goes_to_one_place():
    """Names as the wheel has them; a product's matrix is turned, nothing is used twice."""
    names = list(OUTSIDE.values())
    for layer in range(LAYERS):
        names += [f"model.layers.{layer}.{n}.MatMul.weight" for n in DENSE.values()]
        names += [f"model.layers.{layer}.{n}.Add.bias" for n in DENSE.values()]
        names += [
            f"model.layers.{layer}.{n}.{p}" for n in NORMS.values() for p in ("weight", "bias")
        ]
    assert len(names) == len(set(names)) == 101  # as many as the graph stores
    weights = {name: np.array([[i, 0]]) for i, name in enumerate(names)}
    found = by_torch(weights)
    assert sorted(int(array.flat[0]) for array in found.values()) == list(range(101))
    turned = {name for name, array in found.items() if array.shape == (2, 1)}
    dense = {f"encoder.layer.{k}.{n}.weight" for k in range(LAYERS) for n in DENSE}
    assert turned == dense


def test_the_tuned_encoder_starts_as_the_minilm_of_the_other_rows(
    shared_data, fetched_home, monkeypatch
):
    pytest.importorskip("sentence_transformers", reason="needs sentence-transformers")
    monkeypatch.setenv("HIERSEED_HOME", str(fetched_home))
    from hierseed.embed.sentence_transformers import SentenceTransformers
    from hierseed_bench.data.catalogue import load_dataset

    dataset = load_dataset("20newsgroups", shared_data / "20newsgroups")
    embedder = SentenceTransformers(str(local_minilm()), device="cpu")
    ours = embedder.encode(list(dataset.texts[:4]))
    kept = np.asarray(dataset.vectors[:4], dtype=np.float32)
    kept /= np.linalg.norm(kept, axis=1, keepdims=True)
    assert (ours * kept).sum(axis=1) == pytest.approx(1.0, abs=1e-3)
