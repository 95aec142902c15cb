"""Detect texts that are not in English, and their language: some embedders know only English."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from itertools import islice

SAMPLE = 1000  # texts looked at
BEGINNING = 1000  # letters of each
ENOUGH = 200  # words or letters needed for a decision
SHARE = 0.08  # of all words that are a language's own; prose has 0.15 and more
RIVAL = 3  # times as many as English ones
DISTINCT = 6  # of its words at least are met
NAMED = 1.5  # times as many as of any other language, to be called by its name

# The commonest words. Languages are compared by sums, so words that two share do no harm.
# No single letters, which are numbering and code, and no English word that is Dutch or German too.
WORDS = {
    "English": "the and to that for it with by this are from have which has not been were their",
    "German": "der und das von zu ist mit des dem nicht auf eine für als auch sich ein im den die",
    "French": "le la les de des et un une du que est pour dans qui au par sur ne pas ce",
    "Spanish": "el la los las de que en un una por con para del se es al lo su como",
    "Portuguese": "os as de que em um uma por com para do da dos se ao não mais",
    "Italian": "il lo la gli le di che un una per con del della nel non si sono dei",
    "Dutch": "de het een van en dat niet zijn op te voor met die er aan ook als bij naar uit",
    "Swedish": "och att det som en på är av för med den till inte ett om har de från var kan",
    "Danish or Norwegian": "og at det som en på er af av for med den til ikke et om har de fra var",
    "Polish": "na do się nie to że jest jak ale po co tak za od przez dla",
    "Czech": "na se že je do to ve za by pro si po jako ale od",
    "Hungarian": "az és hogy nem egy is ez meg csak mint de ha van vagy már volt még el szerint",
    "Finnish": "ja on ei se että oli hän mutta ovat myös kun tai joka niin kuin sen mukaan vain",
    "Turkish": "ve bir bu için ile da de çok olarak olan gibi daha ne ama kadar sonra ise var en",
    "Romanian": "de și în la cu pe că nu un din pentru este care mai sau al ale prin",
    "Indonesian": "yang dan di untuk dengan ini pada dari dalam tidak itu adalah akan juga oleh ke",
}
SETS = {language: frozenset(words.split()) for language, words in WORDS.items()}
ENGLISH = {"wordllama", "minilm", "mpnet", "glove"}  # the embedders that know no other
WORD = re.compile(r"[^\W\d_]+")


def language_note(embedder: str, texts: Iterable[str]) -> str:
    """Return a note if the embedder of this name was not made for the language of the texts.

    Empty where it is joined with `lsa`: seeds then say how much of it counts.
    """
    if embedder.endswith("+lsa"):
        return ""
    name = embedder.partition("+")[0].partition(":")[0]
    if name not in ENGLISH or embedder.startswith("glove:"):
        return ""
    found = foreign_language(texts)
    return found and (
        f"the texts look like {found}, and {name} was made from English. The embedder lsa "
        "learns from the corpus itself, sentence-transformers:X takes a multilingual model"
    )


def foreign_language(texts: Iterable[str]) -> str:
    """Language or script of the texts; "" for English, or if it is not clear.

    Detected by the commonest words of a language, if there are many of them and hardly any English
    ones: for lists of keywords, and for languages that are not listed here, it is empty.
    """
    beginnings = [text[:BEGINNING] for text in islice(texts, SAMPLE)]
    return _script(beginnings) or _language(beginnings)


def foreign_script(texts: Iterable[str]) -> str:
    """Name of the script of most letters, where it is not Latin."""
    return _script([text[:BEGINNING] for text in islice(texts, SAMPLE)])


def _script(texts: list[str]) -> str:
    """The script of most letters, where it is not Latin."""
    letters = Counter("".join(texts))
    scripts: Counter[str] = Counter()
    for letter, count in letters.items():
        if letter.isalpha():
            scripts[unicodedata.name(letter, "").partition(" ")[0].partition("-")[0]] += count
    total, latin = scripts.total(), scripts.pop("LATIN", 0)
    if total < ENOUGH or 2 * latin >= total:
        return ""
    script = scripts.most_common(1)[0][0]
    return {"CJK": "Chinese or Japanese", "HIRAGANA": "Japanese"}.get(script, script.capitalize())


def _language(texts: list[str]) -> str:
    """The language of the commonest words, where they are many and not English."""
    words = Counter(word for text in texts for word in WORD.findall(text.lower()))
    total = words.total()
    found = {name: sum(words[word] for word in known) for name, known in SETS.items()}
    best, second = sorted(found, key=lambda name: -found[name])[:2]
    most = found[best]
    met = sum(word in words for word in SETS[best])
    if total < ENOUGH or met < DISTINCT or most < max(SHARE * total, RIVAL * found["English"]):
        return ""
    return best if most >= NAMED * found[second] else "another language than English"
