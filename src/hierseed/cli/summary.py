"""How documents were placed, in two facts and a chart: what fit and assign say at the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hierseed.cli.console import Console, amount

if TYPE_CHECKING:
    from hierseed.taxonomy import Taxonomy


@dataclass
class Summary:
    """Documents counted by where they went; added to chunk by chunk."""

    taxonomy: Taxonomy
    documents: int = 0
    placed: int = 0
    in_other: int = 0
    by_topic: dict[int, int] = field(default_factory=dict)  # level 1; -1 is None

    def add(self, labels: Any) -> None:
        """Count documents by the deepest topic of each."""
        import numpy as np

        placed = labels[labels >= 0]
        self.documents += len(labels)
        self.placed += len(placed)
        self.in_other += int(self.taxonomy.is_other[placed].sum())
        first = self.taxonomy.tree.ancestors[labels][:, 0]
        for topic, count in zip(*np.unique(first, return_counts=True)):
            self.by_topic[int(topic)] = self.by_topic.get(int(topic), 0) + int(count)

    def facts(self) -> dict[str, Any]:
        """Return the counts for `--json`."""
        topics = {self._name(topic): count for topic, count in sorted(self.by_topic.items())}
        return {
            "documents": self.documents,
            "placed": self.placed,
            "in_other": self.in_other,
            "coverage": self.placed / self.documents,
            "topics": topics,
        }

    def tell(self, console: Console) -> None:
        """Print what became of the documents."""
        console.chart("Topics", {self._name(t): count for t, count in self.by_topic.items()})
        share = self.placed / self.documents
        console.fact(
            "Placed",
            f"{self.placed:,} of {amount(self.documents, 'document')} ({share:.1%}), "
            f"{self.in_other:,} of them in an Other topic; "
            f"{self.documents - self.placed:,} in none",
        )

    def _name(self, topic: int) -> str:
        return self.taxonomy.names[topic] if topic >= 0 else "None"
