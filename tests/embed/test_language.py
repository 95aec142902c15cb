"""Which language texts are in, told only where it is plain."""

import gzip
import json
from itertools import islice
from pathlib import Path

import pytest

from hierseed.embed.language import foreign_language, language_note

SENTENCES = {
    "German": "Der Bundestag hat das Gesetz über die Renten mit den Stimmen der Koalition "
    "beschlossen, und die Opposition ist damit nicht zufrieden",
    "French": "Le gouvernement a présenté le projet de loi sur les retraites, qui est dans les "
    "mains des députés et ne plaît pas à une partie de la gauche",
    "Spanish": "El gobierno presentó la ley de las pensiones, que se discute en el congreso con "
    "los votos de una parte de la oposición y por la tarde",
    "Italian": "Il governo ha presentato la legge sulle pensioni, che è nelle mani della camera e "
    "non piace a una parte della sinistra per il costo",
    "Dutch": "De regering heeft het plan voor de pensioenen naar de kamer gestuurd en dat is niet "
    "naar de zin van een deel van de oppositie",
    "Cyrillic": "Правительство внесло закон о пенсиях в парламент, и это не нравится оппозиции",
    "Greek": "Η κυβέρνηση κατέθεσε τον νόμο για τις συντάξεις στη βουλή των Ελλήνων",
    "Chinese or Japanese": "政府向议会提交了养老金法案反对派对此表示不满并要求重新讨论",
}
ENGLISH = (
    "The government has sent the law on pensions to parliament, and a part of it is not content"
)


@pytest.mark.parametrize("language", SENTENCES)
def test_plain_prose_is_reported(language: str) -> None:
    texts = [f"{SENTENCES[language]} {i}" for i in range(40)]
    assert foreign_language(texts) == language
    assert foreign_language(iter([*texts, *[ENGLISH] * 4])) == language  # a few English ones


@pytest.mark.parametrize(
    "texts",
    [
        [],
        [ENGLISH] * 40,
        [SENTENCES["German"]],  # too few words
        [ENGLISH, SENTENCES["German"]] * 40,  # half and half: an English embedder knows half
        ["pension reform parliament vote", "Müller-Lüdenscheidt GmbH & Co. KG"] * 80,  # keywords
        ["x = [i for i in range(10)]; print(x)", "SELECT de, la FROM t WHERE a = 1"] * 80,
        ["1234 5678", "…", ""] * 100,
    ],
)
def test_no_guess_where_it_is_not_plain(texts: list[str]) -> None:
    assert foreign_language(texts) == ""


def test_only_an_embedder_made_for_english_is_warned_of() -> None:
    texts = [SENTENCES["German"]] * 40
    for name in ("wordllama", "wordllama:64", "minilm", "minilm+windows", "mpnet", "glove"):
        assert "look like German" in language_note(name, texts)
        assert language_note(name, [ENGLISH] * 40) == ""
    for name in ("tfidf:200", "fasttext:300", "glove:german.txt", "sentence-transformers:x"):
        assert language_note(name, texts) == ""


def test_english_corpora_are_never_called_foreign(shared_data: Path) -> None:
    for file in sorted(shared_data.glob("*/docs.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            texts = [json.loads(line)["text"] for line in islice(lines, 2000)]
        for start in range(0, len(texts), 50):
            assert foreign_language(texts[start : start + 50]) == "", (file, start)
