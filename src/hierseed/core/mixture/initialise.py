"""Where the rounds begin: on a sample, from the seeds, with round clouds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierseed.core.mixture.components import Components
from hierseed.core.mixture.em import Problem, Settings, advance, pose, start
from hierseed.core.mixture.gaussian_mixture import Mixture
from hierseed.core.mixture.sample import Sample
from hierseed.core.mixture.seeds import Seeds
from hierseed.core.mixture.stray import mean_stray
from hierseed.core.mixture.variance_components import learn_variance_components

Floats = NDArray[np.float64]

ROUNDS = 3


@dataclass(frozen=True)
class Initialisation:
    """The problem on the sample, and the mixture to go on from."""

    problem: Problem
    mixture: Mixture


def initialise(
    sample: Sample, components: Components, seeds: Seeds, settings: Settings, centre: Floats
) -> Initialisation:
    """Fit the mixture to a sample."""
    scale = learn_variance_components(
        components, seeds, mean_stray(sample, seeds), settings.tree_weight
    )
    problem = pose(components, seeds, sample.corpus, scale, settings, centre, sample.copies)
    mixture, _ = advance(problem, sample, start(problem), ROUNDS)
    return Initialisation(problem, mixture)
