"""Save the rounds of a fit in a folder, and continue from there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hierseed.core.blocks import Blocks

if TYPE_CHECKING:
    from hierseed.estimators.base import SeededEstimator


def rounds_on_disk(
    estimator: SeededEstimator, checkpoint: Any, state: type, blocks: Blocks, *given: Any
) -> dict[str, Any]:
    """Arguments of the core's loop that save its rounds and resume from them.

    Parameters
    ----------
    checkpoint : a folder, a `Checkpoint`, or None
    state : class of the core's state
    given : the seeds, as the loop takes them
    """
    if checkpoint is None:
        return {}
    from hierseed import __version__
    from hierseed.io.checkpoint import Checkpoint, digest, digest_of_documents

    if not isinstance(checkpoint, Checkpoint):
        checkpoint = Checkpoint(checkpoint)
    taxonomy = estimator.taxonomy
    fit = {
        "version": __version__,
        "method": type(estimator).__name__,
        "taxonomy": digest(taxonomy.paths, taxonomy.tree.parent, taxonomy.is_other),
        "seeds": digest(*given),
        "documents": digest_of_documents(blocks),
    } | {
        name: np.asarray(value).tolist()
        for name, value in estimator.get_params(deep=False).items()
        if name not in ("taxonomy", "n_jobs")
    }
    return {"resume": checkpoint.open(state, fit), "keep": checkpoint.keep}
