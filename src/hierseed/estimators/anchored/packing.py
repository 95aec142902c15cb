"""A fitted placer as JSON and arrays, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.exact import Grid
from hierseed.core.mixture.gaussian_mixture import Mixture
from hierseed.core.mixture.membership import pack_membership, unpack_membership
from hierseed.core.mixture.placement import Placer
from hierseed.estimators.anchored.others import components_of, others_of
from hierseed.taxonomy import Taxonomy

Floats = NDArray[np.float64]

LARGEST_BITS = 1000  # 2.0**bits is a number


def pack_placer(placer: Placer) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return what it takes to place documents, as JSON and arrays."""
    mixture = placer.mixture
    header = {
        "temperature": placer.temperature,
        "several": placer.secondary,
        "promise": placer.promise,
        "bits": placer.grid.bits,
    }
    arrays = {
        "vectors": placer.vectors,
        "thresholds": placer.thresholds,
        "curve": placer.curve,
        "seeded": placer.components.topic,
        "means": mixture.means,
        "log_size": mixture.log_size,
        "direction": mixture.direction,
        "offset": mixture.offset,
    }
    membership, belonging = pack_membership(placer.membership)
    return header | {"membership": membership}, arrays | belonging


def unpack_placer(
    taxonomy: Taxonomy, header: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> Placer:
    """Return the placer that `pack_placer` packed."""
    has_seeds = np.zeros(len(taxonomy), dtype=bool)
    has_seeds[arrays["seeded"]] = True
    if abs(header["bits"]) > LARGEST_BITS:
        raise ValueError(f"vectors rounded to {header['bits']} bits")
    components = components_of(taxonomy, has_seeds)
    if min(len(arrays["curve"]), len(arrays["thresholds"])) < components.tree.height:
        raise ValueError(f"scores of fewer levels than the taxonomy's {components.tree.height}")
    mixture = Mixture(arrays["means"], arrays["log_size"], arrays["direction"], arrays["offset"])
    return Placer(
        components, mixture, header["temperature"], arrays["vectors"], arrays["thresholds"],
        arrays["curve"], Grid(header["bits"]), unpack_membership(header["membership"], arrays),
        others_of(taxonomy), header["several"],
    )  # fmt: skip
