"""A student learns to foresee the vectors of a teacher that reads only some documents."""

import random

import numpy as np
import pytest

from hierseed.embed import get_embedder, load_embedder, save_embedder
from hierseed.embed.joined import Joined
from hierseed.embed.lsa import Lsa
from hierseed.embed.student import Student
from hierseed.embed.wordllama import WordLlama
from hierseed.errors import EmbeddingError


class LinearTeacher:
    """Vectors that are a linear map of wordllama's, and a count of the texts that were read."""

    name, fingerprint, dimension = "onnx:linear", "0" * 16, 3

    def __init__(self):
        self.read = 0
        self._map = np.random.default_rng(0).normal(size=(256, 3)).astype(np.float32)

    def encode(self, texts):
        self.read += len(texts)
        vectors = WordLlama().encode(texts)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return vectors @ self._map


@pytest.fixture(scope="module")
def texts():
    draw = random.Random(0)
    words = [
        "court",
        "goal",
        "appeal",
        "striker",
        "judge",
        "season",
        "player",
        "law",
        "ball",
        "verdict",
        "team",
        "trial",
    ]
    return [" ".join(draw.choices(words, k=12)) for _ in range(1500)]


@pytest.fixture(scope="module")
def student(texts):
    return Student(LinearTeacher()).fit(texts)


def test_a_linear_teacher_is_foreseen(student, texts):
    new = ["the judge and the striker", "a goal in the last trial", "verdict on the ball"]
    found, wanted = student.encode(texts + new), LinearTeacher().encode(texts + new)
    left = ((found - wanted) ** 2).sum() / ((wanted - wanted.mean(axis=0)) ** 2).sum()
    assert left < 0.02
    assert student.curve_[-1][1] > 0.98


def test_reading_stops_where_more_documents_gain_little(student, texts):
    sizes = [size for size, _ in student.curve_]
    assert sizes[0] == 500
    words = len(student.learned.words)
    assert student.teacher.read == words + 250 + sizes[-1] < len(texts)
    assert "after 500" in student.describe()


def test_the_order_of_documents_changes_no_bit(student, texts):
    shuffled = texts[::-1]
    other = Student(LinearTeacher()).fit(shuffled)
    assert other.fingerprint == student.fingerprint


def test_a_text_alone_has_the_vector_it_has_among_others(student, texts):
    alone = np.concatenate([student.encode([text]) for text in texts[:5]])
    np.testing.assert_array_equal(student.encode(texts)[:5], alone)


def test_a_student_is_loaded_without_its_teacher(texts, tmp_path, minilm):
    student = get_embedder("minilm+student").fit(texts[:60])
    save_embedder(student, tmp_path)
    loaded = load_embedder(tmp_path)
    assert loaded.name == "minilm+student"
    assert loaded.teacher is None
    np.testing.assert_array_equal(loaded.encode(texts[:5]), student.encode(texts[:5]))
    with pytest.raises(EmbeddingError, match="has no teacher to learn from"):
        loaded.fit(texts)


def test_a_student_is_joined_as_others_are(student, tmp_path, texts):
    both = Joined(student, Lsa(5).fit(texts))
    assert both.blocks == (3, 5)
    save_embedder(both, tmp_path)
    loaded = load_embedder(tmp_path)
    np.testing.assert_array_equal(loaded.encode(texts[:5]), both.encode(texts[:5]))


class SlowTeacher(LinearTeacher):
    """Stops once, after so many texts, as a person does."""

    def __init__(self, patience):
        super().__init__()
        self.patience = patience

    def encode(self, texts):
        if self.read + len(texts) > self.patience:
            raise KeyboardInterrupt
        return super().encode(texts)


def test_a_stopped_student_resumes(student, texts, tmp_path, monkeypatch):
    monkeypatch.setenv("HIERSEED_HOME", str(tmp_path))
    first = SlowTeacher(600)
    with pytest.raises(KeyboardInterrupt):
        Student(first).fit(texts)
    second = LinearTeacher()
    found = Student(second).fit(texts)
    assert first.read + second.read == student.teacher.read
    assert found.fingerprint == student.fingerprint
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []


def test_the_teacher_reads_single_words_too():
    names = ["oak", "elm", "ash", "fir", "yew", "box", "bay", "fig", "pear", "plum", "lime"]
    texts = [f"{one} {other}" for one in names for other in names if one != other]
    student = Student(LinearTeacher()).fit(texts)
    at = student.learned.words.index("pear")
    found, wanted = student._words[at], LinearTeacher().encode(["pear"])[0]
    assert found @ wanted > 0.999 * np.linalg.norm(found) * np.linalg.norm(wanted) > 0


def test_a_corpus_of_few_texts_is_refused():
    with pytest.raises(EmbeddingError, match="2 different texts are too few"):
        Student(LinearTeacher()).fit(["a", "b", "b"])
