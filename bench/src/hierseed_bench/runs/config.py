"""The configuration of one run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from hashlib import sha256
from typing import Any

from hierseed_bench.competitors.catalogue import METHODS

MIN_DOCS = 15


@dataclass(frozen=True)
class RunConfig:
    """Data, method, seeds and everything else that the scores depend on.

    Parameters
    ----------
    seeds : seed documents a topic at most
    draw : which draw of the seeds; also the random state of the method
    min_docs : topics with fewer documents are dropped first
    limit : documents used at most, 0 for all
    skew : exponent of Zipf's law for topic sizes, 0 to leave them
    leave_out : share of leaves that the taxonomy is made to lack
    vectors : "minilm" (in the folder of the data), an embedder's name, or an .npy file; the
        suffix `+lsa` joins vectors learned from the training part
    prepare : centre by the mean of the training part and scale to unit length
    parameters : given to the method, as (name, value) pairs
    tag : a word for tables that compare settings of one method
    """

    data: str
    method: str
    seeds: int = 4
    draw: int = 0
    min_docs: int = MIN_DOCS
    limit: int = 0
    skew: float = 0.0
    leave_out: float = 0.0
    vectors: str = "minilm"
    prepare: bool = True
    parameters: tuple[tuple[str, Any], ...] = field(default=())
    tag: str = ""

    @property
    def key(self) -> str:
        """A digest of the settings without the tag."""
        parts = self.to_dict()
        del parts["tag"]
        text = json.dumps(parts, sort_keys=True)
        return sha256(text.encode()).hexdigest()[:16]

    @property
    def shape(self) -> tuple[Any, ...]:
        """What the data set and its vectors depend on: runs that share it share the reading.

        A method that reads texts gets no vectors, so none are read or made for it.
        """
        reads_texts = self.method in METHODS and METHODS[self.method].reads == "texts"
        return (
            self.data,
            "" if reads_texts else self.vectors,
            self.min_docs,
            self.limit,
            self.skew,
            self.leave_out,
        )

    @property
    def texts_shape(self) -> tuple[Any, ...]:
        """The shape without vectors: all that scores depend on."""
        data, _, *rest = self.shape
        return (data, "", *rest)

    def to_dict(self) -> dict[str, Any]:
        """Plain types, ready for JSON."""
        return asdict(self) | {"parameters": dict(self.parameters)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> RunConfig:
        """Read back what `to_dict` gave."""
        known = {f.name: record[f.name] for f in fields(cls) if f.name in record}
        known["parameters"] = tuple(sorted(known.get("parameters", {}).items()))
        return cls(**known)

    def __str__(self) -> str:
        more = "".join(f" {name}={value}" for name, value in self.parameters)
        return f"{self.data} {self.method}{more} seeds={self.seeds} draw={self.draw}"
