"""Documents made up by a language model: the paper's way, where `pseudo` writes bags of words.

A sentence starts with the word nearest to a direction of its class, and the model continues word by
word. Words beyond the most frequent ones are one word to it; where it says that word, any of them
is written. The original's cells have ReLU; the fast kernels know tanh alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hierseed_bench.competitors.systems.backend import F, nn, seeded, torch
from hierseed_bench.competitors.systems.pseudo import Floats
from hierseed_bench.competitors.systems.text import SPECIAL

FIRST = len(SPECIAL)  # number of the most frequent word


class LanguageModel(nn.Module):
    """Fixed word vectors -> two layers of LSTM -> the next word.

    Its words are the `common` most frequent ones, counted from 0, and one for all others.
    """

    def __init__(self, table: Any, common: int, hidden: int) -> None:
        super().__init__()
        self.common = min(common, len(table) - FIRST)
        rare = table[FIRST + self.common :]
        other = rare.mean(dim=0) if len(rare) else torch.zeros_like(table[0])
        self.table = [torch.cat([table[FIRST : FIRST + self.common], other[None]])]
        self.recurrent = nn.LSTM(table.shape[1], hidden, num_layers=2, batch_first=True)
        self.output = nn.Linear(hidden, self.common + 1)

    def known(self, words: Any) -> Any:
        """Word numbers of the vocabulary as this model counts them; padding becomes -1."""
        own = (words.long() - FIRST).clamp(max=self.common)
        unknown = words == FIRST - 1
        return own.clamp(min=-1).masked_fill(unknown, self.common)

    def forward(self, words: Any, state: Any = None) -> tuple[Any, Any]:
        """Scores of the next word after each, and the next state."""
        states, state = self.recurrent(self.table[0][words.clamp(min=0)], state)
        return self.output(states), state

    def loss(self, sentences: Any) -> Any:
        """Mean surprise at every word but the first, padding left out."""
        scores, _ = self(sentences[:, :-1])
        return F.cross_entropy(scores.flatten(0, 1), sentences[:, 1:].flatten(), ignore_index=-1)


def cut(words: Any, lengths: Any, size: int) -> Any:
    """Rows of words cut into sentences of one size, the last of each text padded."""
    gap = -words.shape[1] % size
    sentences = F.pad(words, (0, gap)).reshape(-1, size)
    starts = torch.arange(0, words.shape[1] + gap, size)
    kept = (starts + 1 < lengths[:, None]).flatten()  # with one word to read and one to predict
    return sentences[kept.to(words.device)]


@dataclass(frozen=True)
class SentenceWriter:
    """Writes sentences around a direction.

    Parameters
    ----------
    table : unit vectors of the vocabulary, on the device
    model : trained
    length, sentence : words of a document and of each of its sentences
    """

    table: Any
    model: LanguageModel
    length: int
    sentence: int

    def write(self, directions: Floats, seed: tuple[int, ...]) -> Any:
        """Word numbers, one row per direction."""
        place, model = self.table.device, self.model
        near = torch.as_tensor(directions, dtype=torch.float32, device=place) @ self.table.T
        near[:, :FIRST] = -torch.inf
        first = near.argmax(dim=1)
        rare = max(len(self.table) - FIRST - model.common, 1)
        with seeded(*seed):  # chance on the CPU, so that every device writes the same
            chance = torch.rand(self.length, len(first), 1)
            others = torch.randint(rare, (self.length, len(first))) + FIRST + model.common
        words, state = [], None
        with torch.no_grad():
            for step in range(self.length):
                if step % self.sentence == 0:
                    word, state = first, None
                else:
                    scores, state = model(model.known(word)[:, None], state)
                    edges = scores[:, 0].softmax(dim=1).cumsum(dim=1)
                    drawn = torch.searchsorted(edges, chance[step].to(place))[:, 0]
                    drawn = drawn.clamp(max=min(model.common, len(self.table) - FIRST - 1))
                    other = others[step].to(place)
                    word = torch.where(drawn == model.common, other, drawn + FIRST)
                words.append(word)
        return torch.stack(words, dim=1)
