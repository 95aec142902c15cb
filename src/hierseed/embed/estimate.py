"""How long an embedder would take on this machine: tried on documents of this corpus."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from hierseed.embed.catalogue import KINDS
from hierseed.embed.choose import get_embedder, split_spec
from hierseed.embed.embedder import is_trained
from hierseed.embed.sample import sample_texts
from hierseed.errors import HierSeedError

LOOK = 2000  # documents read to draw the trial from
TRIAL = 64  # documents embedded on trial
ENOUGH = 1.0  # seconds of embedding that tell enough; a fast embedder gets more documents


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
    """Embed a few documents and scale up by their letters.

    Long texts cost more than short ones, so time goes by letters and not by documents.
    """
    try:
        kind, detail = split_spec(spec)
        lacking = kind.lacking()
        if lacking and not detail:
            return Estimate(spec, 0.0, 0.0, 0.0, f"not ready: {lacking}. {kind.source}")
        embedder = get_embedder(spec)
        head = [text for _, text in islice(documents, LOOK)]
        trial = sample_texts(head, TRIAL)
        share = n_characters / max(sum(map(len, trial)), 1)
        fit_seconds = 0.0
        if is_trained(embedder):
            learned = min(n_documents, getattr(embedder, "max_documents", n_documents))
            started = time.perf_counter()
            embedder.fit(head)
            fit_seconds = (time.perf_counter() - started) * learned / max(len(head), 1)
        embedder.encode(trial[:1])  # loads the weights
        runs, started = 0, time.perf_counter()
        while runs == 0 or time.perf_counter() - started < ENOUGH:
            embedder.encode(trial)
            runs += 1
        seconds = (time.perf_counter() - started) / runs * share
    except HierSeedError as fault:
        return Estimate(spec, 0.0, 0.0, 0.0, str(fault))
    return Estimate(embedder.name, seconds, fit_seconds, n_documents / max(seconds, 1e-9))
