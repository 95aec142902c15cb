import json

import pytest

from hierseed.embed import choose_embedder, get_embedder, load_embedder, save_embedder
from hierseed.embed.choose import KINDS
from hierseed.embed.embedder import fingerprint
from hierseed.errors import EmbeddingError
from hierseed.files import model_folder, with_checksum


def test_unknown_names_are_answered_with_the_nearest():
    with pytest.raises(EmbeddingError, match="did you mean 'wordllama'"):
        get_embedder("wordlama")
    with pytest.raises(EmbeddingError, match=r"needs a \.npy"):
        get_embedder("precomputed")
    for spec in ("tfidf:many", "wordllama:0"):
        with pytest.raises(EmbeddingError, match="names no dimension"):
            get_embedder(spec)
    with pytest.raises(EmbeddingError, match="64, 128, 256 dimensions, not 100"):
        get_embedder("wordllama:100")


def test_auto_takes_wordllama_where_nothing_better_was_fetched(monkeypatch, tmp_path):
    monkeypatch.setenv("HIERSEED_HOME", str(tmp_path))
    embedder, why = choose_embedder()
    assert embedder.name == "wordllama"
    assert why.startswith("wordllama: ")
    assert get_embedder("auto").fingerprint == embedder.fingerprint


def test_auto_joins_what_is_learned_where_there_is_a_corpus(monkeypatch, tmp_path):
    monkeypatch.setenv("HIERSEED_HOME", str(tmp_path))
    embedder, why = choose_embedder(["The court heard an appeal."] * 30)
    assert embedder.name == "wordllama+lsa"
    assert "joined with what is learned from the corpus" in why


def test_auto_learns_from_a_corpus_that_is_not_english():
    german = "Der Minister hat das Gesetz nicht unterschrieben, und die Partei ist mit dem Plan "
    texts = [f"{german} auch {number} für sich zufrieden." for number in range(30)]
    embedder, why = choose_embedder(texts)
    assert embedder.name.endswith("+lsa")
    assert "learned from the corpus, which looks like German: seeds say how much of" in why
    assert "geset" in embedder.learned.fit(texts)._terms.words  # read by groups of letters
    embedder, why = choose_embedder(["法院判决上诉人败诉，维持原判。"] * 30)
    assert embedder.name == "lsa:200"
    assert why == "lsa: it learns from the corpus, which looks like Chinese or Japanese"


def test_auto_lets_a_student_read_a_large_corpus(minilm, monkeypatch, tmp_path):
    texts = ["The court heard an appeal."] * 30
    assert choose_embedder(texts, n_documents=100_000)[0].name == "minilm+lsa"
    embedder, why = choose_embedder(texts, n_documents=100_001)
    assert embedder.name == "minilm+student+lsa"
    assert "imitated by a student, since there are 100,001 documents (minilm+lsa reads all" in why
    monkeypatch.setenv("HIERSEED_HOME", str(tmp_path))  # without MiniLM there is no teacher
    assert choose_embedder(texts, n_documents=100_001)[0].name == "wordllama+lsa"


def test_endings_may_come_in_any_order(minilm):
    assert get_embedder("minilm+lsa+windows").name == "minilm+windows+lsa"


def test_models_live_where_the_user_says(monkeypatch, tmp_path):
    monkeypatch.setenv("HIERSEED_HOME", str(tmp_path))
    assert model_folder("x") == tmp_path / "models" / "x"
    monkeypatch.delenv("HIERSEED_HOME")
    assert model_folder("x").parts[-3:] == ("hierseed", "models", "x")


def test_a_saved_embedder_with_other_weights_is_refused(tmp_path):
    embedder = get_embedder("wordllama")
    save_embedder(embedder, tmp_path)
    assert load_embedder(tmp_path).fingerprint == embedder.fingerprint
    header = json.loads((tmp_path / "embedder.json").read_text())
    header["fingerprint"] = "0123456789abcdef"
    del header["sha256"]
    (tmp_path / "embedder.json").write_text(json.dumps(with_checksum(header)))
    with pytest.raises(EmbeddingError, match=rf"{embedder.fingerprint}.*0123456789abcdef"):
        load_embedder(tmp_path)
    with pytest.raises(EmbeddingError, match=r"no embedder\.json"):
        load_embedder(tmp_path / "nowhere")


def test_every_kind_fills_its_line():
    for name, kind in KINDS.items():
        assert name == kind.name
        assert all([kind.about, kind.dimension, kind.speed, kind.source])
        assert isinstance(kind.lacking(), str)


def test_a_fingerprint_separates_its_parts():
    assert fingerprint("ab", "c") != fingerprint("a", "bc")
    assert fingerprint(b"ab") == fingerprint("ab")
