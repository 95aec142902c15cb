"""The loop of HierSeed (paper: Algorithm 1), line by line as in the paper."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.arrays import Floats
from hierseed.core.blocks import Blocks
from hierseed.core.exact import Grid
from hierseed.core.hierseed.empty_topics import widen
from hierseed.core.hierseed.model import Model, pivots
from hierseed.core.hierseed.objective import Objective, objective
from hierseed.core.hierseed.other import other_vector, parents_for_other
from hierseed.core.hierseed.pivot import radii
from hierseed.core.hierseed.refine import refine
from hierseed.core.hierseed.sphere import Tolerance, spheres_above_pivot, spheres_of_level
from hierseed.core.hierseed.vectors import Spheres, bottom_up
from hierseed.core.tree import Tree

TO_THE_END = 10_000  # Lloyd iterations that no k-means of a level needs

PAPER: dict[str, Any] = {
    "stop_rule": "within",  # Eq. 4 alone
    "tol": 0.0,  # "while Equation 4 is minimized"
    "refine_max_iter": TO_THE_END,  # Voronoi iterations, without a limit
    "refine_tol": 0.0,
    "sphere": "deviation",  # "statistics (mean and standard deviation) of all errors"
    "sphere_triples": "all",  # "for all combination of three points"
    "overlap": "fitting",  # inference by Eq. 3 alone
    "only_child": "zero",  # twice the distance of the furthest child, which is 0
}
VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "paper": PAPER,
    "paper-nyt": PAPER | {"les_weight": 0.0},  # appendix D: weight 4 on WOS and RCV1, 0 on NYT
}


Progress = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Settings:
    """The parameters of HierSeed, checked by the estimator, which has their defaults."""

    pivot_level: int
    self_weight: float
    self_weight_step: float
    les_weight: float
    sphere: str
    child_factor: float
    sibling_factor: float
    alpha: float
    eccentricity: float | Sequence[float] | None
    other: bool | str
    other_spelling: str
    max_iter: int
    tol: float
    refine_max_iter: int  # each round runs it again
    refine_tol: float
    stop_rule: str
    sphere_triples: str
    overlap: str
    only_child: str

    @property
    def tolerance(self) -> Tolerance:
        """Which triples of children make a sphere."""
        return Tolerance(self.sphere, all_triples=self.sphere_triples == "all")


@dataclass
class Fitted:
    """The result of the loop."""

    model: Model
    objective: Objective | None
    history: list[dict[str, Any]] = field(default_factory=list)
    empty: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))


@dataclass(frozen=True)
class State:
    """State of the loop after a round.

    `best` has the history of all rounds. A round that is not the best is the last, so no other
    model is needed.
    """

    best: Fitted
    done: bool


def fit(
    blocks: Blocks,
    tree: Tree,
    vectors: Floats,
    *,
    settings: Settings,
    largest: float,
    extended: Collection[int] = (),
    progress: Progress | None = None,
    resume: State | None = None,
    save: Callable[[State], None] | None = None,
) -> Fitted:
    """Repeat the rounds while the objective falls; keep the best.

    `vectors` start the topics (line 1). `largest` bounds the length of a document's vector.
    Topics in `extended` (-1: the root) get no Other; an earlier fit decided about theirs.
    `save` is called with the state after each round; `resume` is a state to continue from.
    """
    grid = Grid.holding(blocks.n, largest)
    grid2 = Grid.holding(blocks.n, largest**2)
    result: Fitted | None = None
    previous: Model | None = None
    spheres: Spheres | None = None
    history: list[dict[str, Any]] = []
    if resume:
        result, previous = resume.best, resume.best.model
        history = list(resume.best.history)
    done = resume is not None and resume.done
    while not done:
        began = time.perf_counter()
        if previous:
            tree, vectors = previous.tree, previous.vectors
            spheres = partial(spheres_of_level, blocks, previous, settings.tolerance, largest)
        model, empty = at_pivot(
            blocks, tree, vectors, spheres, settings, largest=largest,
            extended=extended, earlier=len(history),
        )  # fmt: skip
        model = refine(
            blocks, model, grid, max_iter=settings.refine_max_iter, tol=settings.refine_tol
        )
        now = objective(blocks, model, grid, grid2, previous)
        previous = model
        cost = now.of(settings.stop_rule)
        best = result.objective.of(settings.stop_rule) if result and result.objective else None
        falls = best is None or cost < best
        history.append(
            {
                "round": len(history) + 1,
                "objective": now.total,
                "within": now.within,
                "coverage": now.covered / max(now.n, 1),
                "moved": now.moved,
                "seconds": time.perf_counter() - began,
                "kept": falls,
            }
        )
        if falls or result is None:
            result = Fitted(model, now, history, empty)
        converged = best is not None and cost >= best * (1 - settings.tol)
        done = converged or len(history) == settings.max_iter
        if save:
            save(State(replace(result, history=list(history)), done))
        if progress:
            progress(history[-1])
    assert result is not None  # the first round always lowers the objective
    if settings.overlap == "fitting":
        result = replace(result, model=result.model.without_overlap_rule())
    return replace(result, history=history)


def unfit(
    blocks: Blocks,
    tree: Tree,
    vectors: Floats,
    *,
    settings: Settings,
    largest: float,
    extended: Collection[int] = (),
) -> Fitted:
    """Unfit-HierSeed: one pass down to the pivot, no rounds; `blocks` are the seeds alone."""
    model, empty = at_pivot(
        blocks, tree, vectors, None, settings, largest=largest, extended=extended
    )
    return Fitted(model, None, [], empty)


def at_pivot(
    blocks: Blocks,
    tree: Tree,
    vectors: Floats,
    spheres: Spheres | None,
    settings: Settings,
    *,
    largest: float,
    extended: Collection[int] = (),
    earlier: int = 0,
) -> tuple[Model, NDArray[np.intp]]:
    """Lines 3 to 8: bottom-up, Other in the first round, radii. `earlier`: rounds before."""
    vectors = bottom_up(
        tree, vectors, spheres, pivot_level=settings.pivot_level,
        self_weight=settings.self_weight + earlier * settings.self_weight_step,
        les_weight=settings.les_weight,
    )  # fmt: skip
    if not earlier and settings.other:
        tree, vectors = add_others(blocks, tree, vectors, settings, largest, extended)
    radius = radii(
        tree, vectors, pivots(tree, settings.pivot_level),
        child_factor=settings.child_factor, sibling_factor=settings.sibling_factor,
        zero_allowed=settings.only_child == "zero",
    )  # fmt: skip
    eccentricity = _per_topic(settings.eccentricity, len(tree))
    model = Model(tree, settings.pivot_level, vectors, radius, eccentricity)
    return widen(blocks, model, settings.alpha)


def add_others(
    blocks: Blocks,
    tree: Tree,
    vectors: Floats,
    settings: Settings,
    largest: float,
    extended: Collection[int],
) -> tuple[Tree, Floats]:
    """Append an Other child to each topic that its children surround unevenly."""
    level = settings.pivot_level
    parents = parents_for_other(tree, level, at_pivot=settings.other is True)
    parents = [topic for topic in parents if topic not in extended]
    centres: dict[int, Floats] = {}
    if any(t < 0 or tree.level[t] < level for t in parents):
        model = Model(tree, level, vectors, np.zeros(0), np.zeros(0))
        centres = spheres_above_pivot(blocks, model, settings.tolerance, largest)
    parent, rows = list(tree.parent), [vectors]
    for topic in parents:
        children = vectors[tree.children(topic)]
        below = topic >= 0 and tree.level[topic] >= level
        centre = vectors[topic] if below else centres.get(topic, children.mean(axis=0))
        vector = other_vector(centre, children, settings.other_spelling)
        if vector is not None:
            parent.append(np.intp(topic))
            rows.append(vector[None])
    return Tree(np.array(parent, dtype=np.intp)), np.concatenate(rows)


def _per_topic(eccentricity: float | Sequence[float] | None, n: int) -> Floats:
    """One eccentricity per topic; NaN, the default, for Other topics added later."""
    result = np.full(n, np.nan)
    if eccentricity is None:
        return result
    values = np.asarray(eccentricity, dtype=np.float64)
    result[: len(values) if values.ndim else n] = values
    return result
