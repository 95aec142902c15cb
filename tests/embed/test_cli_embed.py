"""`hierseed embed` and `hierseed embedders`, as a shell would run them."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from hierseed.cli.app import make_app
from hierseed.embed import VectorStore, get_embedder
from hierseed.embed.choose import KINDS


@pytest.fixture
def hierseed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HIERSEED_HOME", str(tmp_path / "home"))

    def run(command, *args):
        app = make_app({command})
        result = CliRunner().invoke(app, [command, *map(str, args)], prog_name="hierseed")
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture
def docs(tmp_path, corpus):
    lines = [json.dumps({"id": f"d{i}", "text": text}) for i, text in enumerate(corpus)]
    (tmp_path / "docs.jsonl").write_text("\n".join(lines) + "\n")
    return corpus


def test_embed_writes_the_vectors_of_the_best_one_here(hierseed, docs):
    done = hierseed("embed", "docs.jsonl", "-o", "v", "--full")
    assert done.exit_code == 0, done.stderr
    assert "wordllama+lsa: the best of" in done.stderr
    assert "joined with what is learned from the corpus" in done.stderr
    assert "hierseed embedders get" not in done.stdout
    store = VectorStore("v")
    learned = get_embedder("wordllama+lsa").fit(docs)
    np.testing.assert_array_equal(np.asarray(store), learned.encode(docs))
    assert store.ids[0] == "d0"


def test_embed_again_keeps_what_is_there(hierseed, docs):
    options = ("docs.jsonl", "-o", "v", "--embedder", "wordllama:64", "--json")
    first = json.loads(hierseed("embed", *options).stdout)
    again = json.loads(hierseed("embed", *options).stdout)
    assert (first["kept"], again["kept"]) == (0, len(docs))
    assert first["dtype"] == "float16"
    assert again["corpus"] == first["corpus"]
    assert first["embedder"] == "wordllama:64"


@pytest.mark.parametrize("embedder", ["tfidf:8", "auto"])
def test_embed_keeps_what_an_embedder_learned(embedder, hierseed, docs, tmp_path):
    assert hierseed("embed", "docs.jsonl", "-o", "v", "--embedder", embedder).exit_code == 0
    lines = (tmp_path / "docs.jsonl").read_text()
    (tmp_path / "docs.jsonl").write_text(lines + json.dumps({"id": "new", "text": "an appeal"}))
    done = hierseed("embed", "docs.jsonl", "-o", "v", "--embedder", embedder)
    assert done.exit_code == 0, done.stderr
    assert "learns from the corpus" not in done.stderr
    assert len(VectorStore("v")) == len(docs) + 1


def test_append_adds_another_file(hierseed, docs, tmp_path):
    (tmp_path / "more.csv").write_text("id,text\nx,a goal\n")
    hierseed("embed", "docs.jsonl", "-o", "v", "--embedder", "wordllama:64")
    refused = hierseed("embed", "more.csv", "-o", "v", "--embedder", "wordllama:64")
    assert refused.exit_code == 1
    assert "was made from another corpus: its row 0 is 'd0'" in refused.stderr
    done = hierseed("embed", "more.csv", "-o", "v", "--embedder", "wordllama:64", "--append")
    assert done.exit_code == 0, done.stderr
    assert VectorStore("v").ids[-1] == "x"


def test_faults_are_reported_in_one_line(hierseed, docs):
    hierseed("embed", "docs.jsonl", "-o", "v", "--embedder", "wordllama:64")
    for embedder, code, message in (
        ("tfidf:8", 1, "holds vectors of wordllama:64 ("),
        ("wordlama", 1, "did you mean 'wordllama'?"),
        ("minilm", 1, "hierseed embedders get minilm"),
    ):
        done = hierseed("embed", "docs.jsonl", "-o", "v", "--embedder", embedder)
        assert done.exit_code == code
        assert message in done.stderr
        assert "Traceback" not in done.stderr
    assert hierseed("embed", "docs.jsonl").exit_code == 2


def test_truncation_is_reported(hierseed, fetched_home, tmp_path, monkeypatch):
    monkeypatch.setenv("HIERSEED_HOME", str(fetched_home))
    (tmp_path / "long.csv").write_text("id,text\na," + "word " * 400 + "\nb,short\n")
    done = hierseed("embed", "long.csv", "-o", "v")
    assert "1 text longer than 256 tokens: only the beginning is embedded" in done.stderr
    done = hierseed("embed", "long.csv", "-o", "w", "--windows")
    assert "longer than" not in done.stderr
    same = hierseed("embed", "long.csv", "-o", "w", "--windows", "--embedder", "minilm+lsa")
    assert "2 documents, found in w" in same.stderr
    assert VectorStore("w").embedder_name == "minilm+windows+lsa"


def test_an_estimate_names_what_is_ready_and_embeds_nothing(hierseed, docs, tmp_path, monkeypatch):
    monkeypatch.setattr("hierseed.embed.corpus.TRIAL", 0.0)
    monkeypatch.setattr("hierseed.embed.corpus.ready_specs", lambda: ["wordllama", "tfidf"])
    told = json.loads(hierseed("embed", "docs.jsonl", "--estimate", "--json").stdout)
    assert [one["name"] for one in told] == ["wordllama", "tfidf:200"]
    assert all(one["seconds"] > 0 and not one["problem"] for one in told)
    assert told[1]["fit_seconds"] > 0
    shown = hierseed("embed", "docs.jsonl", "--estimate").stdout
    assert "learning" in shown
    assert "a second" in shown
    missing = hierseed("embed", "docs.jsonl", "--estimate", "--embedder", "minilm").stdout
    assert "not ready" in missing
    assert [path.name for path in tmp_path.iterdir()] == ["docs.jsonl"]


def test_the_list_says_what_is_here_and_how_to_get_the_others(hierseed):
    shown = hierseed("embedders").stdout
    assert all(name in shown for name in KINDS)
    assert "what auto takes" in shown
    assert "hierseed embedders get minilm (83 MB)" in shown
    told = json.loads(hierseed("embedders", "--json").stdout)
    assert [one["name"] for one in told] == list(KINDS)
    assert hierseed("embedders", "get").exit_code == 2
    refused = hierseed("embedders", "get", "roberta")
    assert refused.exit_code == 1
    assert "can be fetched: minilm, mpnet, glove" in refused.stderr


def test_a_gpu_that_is_not_used_is_mentioned(hierseed, docs):
    done = hierseed("embed", "docs.jsonl", "-o", "v", "--embedder", "wordllama", "--device", "cuda")
    assert done.exit_code == 0, done.stderr
    assert "wordllama is computed on the processor" in " ".join(done.stderr.split())
    assert "processor" not in hierseed("embed", "docs.jsonl", "-o", "w").stderr
