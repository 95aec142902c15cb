"""Twin of `core.pivot`: which pivot topics each document belongs to."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from hierseed.core.distance import LEVEL, squared_distances, squared_norms
from hierseed.core.hierseed.model import Model


def assigned(D: Tensor, x2: Tensor, model: Model) -> Tensor:
    """All topics that reach a document; of two siblings the nearer keeps it, or eccentricity says.

    D: squared distances of documents to all pivot topics; `x2`: their squared lengths.
    """
    vectors, group = model.vectors[model.pivots], model.tree.parent[model.pivots]
    scale = LEVEL * (x2 + float(squared_norms(vectors).max(initial=0.0)))
    own, eccentricity = model.radii[model.pivots], model.eccentricity[model.pivots]
    within = torch.as_tensor(own**2, device=D.device) >= D
    kept = within.clone()
    for parent in np.unique(group):
        members = np.flatnonzero(group == parent)
        nearer = members[np.isnan(eccentricity[members])]
        if len(nearer):
            among = torch.where(within[:, members], D[:, members], torch.inf)
            level = among <= (among.amin(dim=1) + scale)[:, None]
            first = torch.as_tensor(members, device=D.device)[level.to(torch.uint8).argmax(dim=1)]
            kept[:, nearer] &= first[:, None] == torch.as_tensor(nearer, device=D.device)
        for topic in members[~np.isnan(eccentricity[members])]:
            rivals = members[members != topic]
            gap = np.sqrt(squared_distances(vectors[[topic]], vectors[rivals]))[0]
            overlap = own[topic] + own[rivals] - gap
            bound = gap - own[rivals] + eccentricity[topic] * overlap
            fits = D[:, [topic]].sqrt() <= torch.as_tensor(bound, device=D.device)
            kept[:, topic] &= (fits | ~within[:, rivals]).all(dim=1)
    return kept
