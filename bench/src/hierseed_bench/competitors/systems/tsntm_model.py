"""The network of TSNTM: encoder, doubly recurrent cells over a tree, stick breaking."""

from __future__ import annotations

from typing import Any, NamedTuple

from hierseed_bench.competitors.systems.backend import F, nn, torch
from hierseed_bench.competitors.systems.topic_tree import TopicTree

SMALL = 1e-10


class Bags(NamedTuple):
    """Documents as bags of words: a text has few of the words, so only those are listed.

    Parameters
    ----------
    word, count, document : of every entry, documents one after the other
    start : first entry of each document
    length : words of each document
    """

    word: Any
    count: Any
    document: Any
    start: Any
    length: Any

    @classmethod
    def of(cls, rows: Any, place: Any = "cpu") -> Bags:
        """From a sparse matrix in rows (documents x words)."""
        n = rows.shape[0]
        document = torch.arange(n).repeat_interleave(
            torch.as_tensor(rows.indptr[1:] - rows.indptr[:-1])
        )
        count = torch.as_tensor(rows.data)
        length = torch.zeros(n).index_add_(0, document, count)
        word, start = (
            torch.as_tensor(part, dtype=torch.int64) for part in (rows.indices, rows.indptr[:-1])
        )
        return cls(*(part.to(place) for part in (word, count, document, start, length)))


class DoublyRecurrent(nn.Module):
    """A state per node from its parent's and its elder sibling's: one set of weights."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.start = nn.Parameter(torch.randn(size) * size**-0.5)
        self.ancestral = nn.Linear(size, size)
        self.fraternal = nn.Linear(size, size)
        self.output = nn.Linear(size, size)

    def forward(self, tree: TopicTree) -> Any:
        """States of all nodes; a first child's elder sibling counts as zero."""
        none = torch.zeros_like(self.start)
        states: list[Any] = [None] * len(tree)
        states[0] = self._cell(self.start, none)
        for wave in tree.waves:
            elders = [tree.elder(node) for node in wave]
            above = torch.stack([states[tree.parent[node]] for node in wave])
            before = torch.stack([none if e is None else states[e] for e in elders])
            for node, state in zip(wave, self._cell(above, before)):
                states[node] = state
        return torch.stack(states)

    def _cell(self, above: Any, before: Any) -> Any:
        both = torch.tanh(self.ancestral(above)) + torch.tanh(self.fraternal(before))
        return self.output(both)


class TreeTopics(nn.Module):
    """Counts of words -> a mix over the nodes of a tree -> counts of words.

    Parameters
    ----------
    flatness : topics are divided by its (1 / depth)th power before the softmax, root depth 1
    """

    def __init__(self, words: int, hidden: int, latent: int, levels: int, flatness: float) -> None:
        super().__init__()
        self.flatness = flatness
        self.encoder = nn.Parameter(nn.init.xavier_uniform_(torch.empty(words, hidden)))
        self.encoder_bias = nn.Parameter(torch.zeros(hidden))
        self.mean = nn.Linear(hidden, latent)
        self.log_variance = nn.Linear(hidden, latent)
        self.paths = DoublyRecurrent(latent)
        self.depth_start = nn.Parameter(torch.randn(latent) * latent**-0.5)
        self.depths = nn.Linear(latent, latent)
        self.levels = levels
        self.states = DoublyRecurrent(hidden)
        self.topic = nn.Linear(hidden, hidden)
        self.words = nn.Parameter(nn.init.xavier_uniform_(torch.empty(words, hidden)))
        nn.init.xavier_uniform_(self.mean.weight)
        nn.init.zeros_(self.mean.bias)
        nn.init.zeros_(self.log_variance.weight)
        nn.init.zeros_(self.log_variance.bias)
        self._shapes: dict[str, Any] = {}

    def encode(self, bags: Bags) -> tuple[Any, Any]:
        """Mean and log variance of a document's latent vector."""
        total = F.embedding_bag(
            bags.word, self.encoder, bags.start, mode="sum", per_sample_weights=bags.count
        )
        hidden = torch.tanh(total + self.encoder_bias)
        return self.mean(hidden), self.log_variance(hidden)

    def log_paths(self, z: Any, tree: TopicTree) -> Any:
        """Log share of each node in the ways down; siblings share what their parent has."""
        taken, left, _, _ = self._shape(tree)
        score = z @ self.paths(tree).T
        return F.logsigmoid(score) @ taken + F.logsigmoid(-score) @ left

    def log_depths(self, z: Any) -> Any:
        """Log share of each level; the last takes the rest."""
        states, state = [], self.depth_start
        for _ in range(self.levels):
            state = torch.tanh(self.depths(state))
            states.append(state)
        score = z @ torch.stack(states).T
        rest = F.logsigmoid(-score).cumsum(dim=1) - F.logsigmoid(-score)
        return rest + torch.cat([F.logsigmoid(score[:, :-1]), torch.zeros_like(score[:, :1])], 1)

    def shares(self, z: Any, tree: TopicTree) -> Any:
        """Weight of every topic in a document: way down times level; sums to one."""
        _, _, _, depth = self._shape(tree)
        return (self.log_paths(z, tree) + self.log_depths(z)[:, depth]).exp()

    def leaf_shares(self, bags: Bags, tree: TopicTree) -> Any:
        """Log share of each node in the ways down, without noise."""
        return self.log_paths(self.encode(bags)[0], tree)

    def topics(self, tree: TopicTree) -> Any:
        """A vector per topic."""
        return self.topic(torch.tanh(self.states(tree)))

    def word_shares(self, topics: Any, tree: TopicTree) -> Any:
        """Distribution over words of every topic."""
        _, _, _, depth = self._shape(tree)
        heat = self.flatness ** (1.0 / (depth + 1.0))
        return (topics @ self.words.T / heat[:, None]).softmax(dim=1)

    def sibling_likeness(self, topics: Any, tree: TopicTree) -> Any:
        """Mean squared cosine between the ways from a parent to two of its children."""
        _, _, siblings, _ = self._shape(tree)
        away = F.normalize(topics - topics[torch.tensor([0, *tree.parent[1:]])], dim=1, eps=1e-8)
        wanted = torch.eye(len(tree), device=topics.device)
        return (((away @ away.T - wanted) ** 2) * siblings).sum() / siblings.sum()

    def explain(self, bags: Bags, tree: TopicTree, topics: Any = None) -> tuple[Any, Any, Any]:
        """Loss of the words, divergence from the prior, and weights of the topics per document."""
        mean, log_variance = self.encode(bags)
        z = mean
        if self.training:
            z = mean + (log_variance / 2).exp() * torch.randn_like(mean)
        theta = self.shares(z, tree)
        beta = self.word_shares(self.topics(tree) if topics is None else topics, tree)
        chance = (theta[bags.document] * beta.T[bags.word]).sum(dim=1)
        nll = torch.zeros_like(bags.length)
        nll = nll.index_add(0, bags.document, -bags.count * (chance + SMALL).log())
        kl = 0.5 * (log_variance.exp() + mean**2 - 1 - log_variance).sum(dim=1)
        return nll, kl, theta

    def loss(self, bags: Bags, tree: TopicTree, diversity: float) -> Any:
        """The training loss."""
        topics = self.topics(tree)
        nll, kl, _ = self.explain(bags, tree, topics)
        return (nll + kl).mean() + diversity * self.sibling_likeness(topics, tree)

    def _shape(self, tree: TopicTree) -> tuple[Any, Any, Any, Any]:
        """The tree's matrices on the device, made once a tree."""
        if self._shapes.get("tree") is not tree:
            place = self.words.device
            parts = (*tree.sticks, tree.siblings)
            matrices = [torch.as_tensor(part).to(place) for part in parts]
            depth = torch.tensor(tree.depth, device=place)
            self._shapes = {"tree": tree, "parts": (*matrices, depth)}
        parts_: tuple[Any, Any, Any, Any] = self._shapes["parts"]
        return parts_
