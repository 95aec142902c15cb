"""HiLAP's reader (regions as bags of words) and its policy over the topics."""

from __future__ import annotations

from typing import Any, NamedTuple

from hierseed_bench.competitors.systems.backend import F, nn, torch
from hierseed_bench.competitors.systems.regions import SEGMENTS, Batch
from hierseed_bench.competitors.systems.text import PADDING
from hierseed_bench.competitors.systems.walk import Map


class Read(NamedTuple):
    """A batch after reading: its features, and their part of the policy's hidden layer."""

    document: Any
    hidden: Any


class Policy(nn.Module):
    """Document and current topic in, a score for every node out.

    Parameters
    ----------
    words : size of the vocabulary
    read : numbers of the words that training texts have. The others are skipped: weight
        decay takes any vector without a gradient to zero, this fast with Adam's steps
    """

    def __init__(self, words: int, read: Any, config: Any, map_: Map) -> None:
        super().__init__()
        nodes = len(map_.children)
        size = SEGMENTS * config.width
        place = torch.zeros(words, dtype=torch.int32)
        place[read] = torch.arange(1, len(read) + 1, dtype=torch.int32)
        place[PADDING] = PADDING
        self.register_buffer("place", place, persistent=False)
        self.words = nn.EmbeddingBag(len(read) + 1, config.width, mode="sum", padding_idx=PADDING)
        nn.init.uniform_(self.words.weight, -(words**-0.5), words**-0.5)
        with torch.no_grad():
            self.words.weight[0] = 0.0
        self.bias = nn.Parameter(torch.zeros(config.width))
        self.dropout = nn.Dropout(config.dropout)
        self.flat = nn.Linear(size, map_.root)
        self.topics = nn.Embedding(nodes, config.label)
        self.topic_bias = nn.Parameter(torch.zeros(nodes))
        # one layer over [document ; topic], split so that the document's part is done once
        self.from_document = nn.Linear(size, config.hidden)
        self.from_topic = nn.Linear(config.label, config.hidden, bias=False)
        self.state = nn.Linear(config.hidden, config.label)
        self.updates = 0

    def read(self, batch: Batch) -> Read:
        """Regions -> segments -> features of a length below 1."""
        n, regions, size = batch.words.shape
        numbers = self.place[batch.words.reshape(n * regions, size)]
        bags = self.words(numbers).reshape(n, regions, -1)
        segments = batch.shares @ F.relu(bags + self.bias)
        document = self.dropout(segments.flatten(1))
        document = document / (1 + document.square().sum(dim=1, keepdim=True)).sqrt()
        return Read(document, self.from_document(document))

    def score(self, read: Read, here: Any) -> Any:
        """Score of every node as the next one from the nodes `here`."""
        hidden = F.relu(read.hidden + self.from_topic(self.topics(here)))
        return F.relu(self.state(hidden)) @ self.topics.weight.T + self.topic_bias

    def get_extra_state(self) -> int:
        """Updates so far, kept with the weights: the pull towards open choices depends on it."""
        return self.updates

    def set_extra_state(self, state: int) -> None:
        """Continue counting from there."""
        self.updates = state
