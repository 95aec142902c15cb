"""How long an embedder takes on this machine, from a trial on documents of the corpus."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from hierseed.embed.catalogue import KINDS
from hierseed.embed.choose import get_embedder, split_spec
from hierseed.embed.embedder import Embedder, is_trained
from hierseed.embed.precomputed import Precomputed
from hierseed.errors import HierSeedError

SAMPLE = 4096  # documents embedded on trial at most
ENOUGH = 0.3  # seconds of trial that are enough


@dataclass(frozen=True)
class Estimate:
    """What one embedder would take for the whole corpus."""

    name: str
    seconds: float  # embedding
    fit_seconds: float  # learning from the corpus first, where it does
    rate: float  # documents a second
    problem: str = ""  # why it could not be tried


def ready_specs() -> list[str]:
    """Embedders that are ready on this machine and need no detail, in the table's order."""
    return [name for name, kind in KINDS.items() if not kind.needs_detail and not kind.lacking()]


def estimate(
    spec: str, documents: Iterable[tuple[str, str]], n_documents: int, n_characters: int
) -> Estimate:
    """Make the embedder, let it learn where it does, and time it on a few documents."""
    try:
        kind, detail = split_spec(spec)
        lacking = kind.lacking()
        if lacking and not detail:
            return Estimate(spec, 0.0, 0.0, 0.0, f"not ready: {lacking}. {kind.source}")
        embedder = get_embedder(spec)
        head = [text for _, text in islice(documents, SAMPLE)]
        fit_seconds = 0.0
        if is_trained(embedder):
            learned = min(n_documents, getattr(embedder, "max_documents", n_documents))
            started = time.perf_counter()
            embedder.fit(head)
            fit_seconds = (time.perf_counter() - started) * learned / max(len(head), 1)
        seconds = expected_seconds(embedder, head, n_characters)
    except HierSeedError as fault:
        return Estimate(spec, 0.0, 0.0, 0.0, str(fault))
    return Estimate(embedder.name, seconds, fit_seconds, n_documents / max(seconds, 1e-9))


def expected_seconds(embedder: Embedder, texts: Iterable[str], n_characters: int) -> float:
    """Time for a corpus of so many characters, from a trial on its first texts.

    Long texts cost more than short ones, so time is scaled by characters, not by documents.
    """
    if isinstance(embedder, Precomputed):
        return 0.0
    trial = list(islice(texts, SAMPLE))
    embedder.encode(trial[:1])  # loads the weights
    size, seconds = 16, _time(embedder, trial[:16])
    while size < len(trial) and seconds < ENOUGH:  # a slow embedder is tried on few texts
        size *= 4
        seconds = _time(embedder, trial[:size])
    if seconds < 1:  # other programs disturb a short trial: take the shorter of two
        seconds = min(seconds, _time(embedder, trial[:size]))
    return seconds * n_characters / max(sum(map(len, trial[:size])), 1)


def _time(embedder: Embedder, texts: list[str]) -> float:
    started = time.perf_counter()
    embedder.encode(texts)
    return time.perf_counter() - started
