"""The small project that the tests of the command line work on."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path

FIT = ("--taxonomy", "topics.txt", "--seeds", "seeds.csv", "--embedder", "wordllama:64")
WORDS = {
    "Animals > Cats": ["cat", "kitten", "purring", "whiskers", "tomcat", "feline"],
    "Animals > Dogs": ["dog", "puppy", "barking", "leash", "kennel", "hound"],
    "Food > Bread": ["bread", "flour", "yeast", "oven", "loaf", "crust"],
    "Food > Soup": ["soup", "broth", "bowl", "vegetables", "spoon", "simmering"],
}
EACH = 12


@dataclass
class Project:
    folder: Path

    def __truediv__(self, name: str) -> Path:
        return self.folder / name

    @property
    def documents(self) -> list[tuple[str, str]]:
        return [
            (f"{path.split()[-1].lower()}-{i}", self._text(words, i))
            for path, words in WORDS.items()
            for i in range(EACH)
        ]

    def _text(self, words: list[str], i: int) -> str:
        return f"the {words[i % 6]} and the {words[(i + 1 + i // 6) % 6]}, number {i}"

    def names(self) -> list[str]:
        return sorted(item.name for item in self.folder.iterdir())


def heed_ctrl_c() -> None:
    """In a child about to start: shells have whatever runs in the background ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
