"""What is found in the files of a fit: `check` tells it, `fit` refuses to begin with a fault."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hierseed.cli.console import Console, amount
from hierseed.cli.faults import explain
from hierseed.errors import CorpusError, HierSeedError, name_some

if TYPE_CHECKING:
    from hierseed.cli.source import Documents
    from hierseed.io.corpus import Corpus
    from hierseed.io.faults import Fault
    from hierseed.io.seeds import Seeds
    from hierseed.taxonomy import Taxonomy


class Findings:
    """Facts, said at once; faults that stop a fit, and things to know, said at the end."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.facts: dict[str, str] = {}
        self.faults: list[str] = []
        self.notes: list[str] = []

    def fact(self, label: str, text: str) -> None:
        """Say and keep a fact."""
        self.facts[label] = text
        self.console.fact(label, text)

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Keep a fault of the user for the end, and go on with the next file."""
        try:
            yield
        except HierSeedError as fault:
            self.faults.append(str(fault))
        except OSError as fault:
            self.faults.append(explain(fault))

    def refuse(self) -> None:
        """Say what is to be known, and raise with every fault."""
        for note in self.notes:
            self.console.note(note)
        if len(self.faults) == 1:
            raise HierSeedError(self.faults[0])
        if self.faults:
            listed = "".join(f"\n  - {fault}" for fault in self.faults)
            raise HierSeedError(f"{len(self.faults):,} things to mend first:{listed}")

    def taxonomy(self, file: Path) -> Taxonomy | None:
        """Read the topics."""
        from hierseed.taxonomy import Taxonomy

        with self.collecting():
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always", UserWarning)
                tree = Taxonomy.read(file)
            self.notes += [str(warning.message) for warning in told]
            levels = range(1, tree.tree.height + 1)
            each = ", ".join(f"{len(tree.tree.at_level(k)):,} on level {k}" for k in levels)
            self.fact("Taxonomy", f"{file.name}, {amount(len(tree), 'topic')}: {each}")
            return tree
        return None

    def seeds(
        self,
        files: Sequence[Path],
        tree: Taxonomy | None,
        on_skip: Callable[[Fault], object] | None = None,
    ) -> Seeds:
        """Read the seeds of all files together; without a taxonomy only their form is seen.

        `on_skip` takes the rows that can't be used; without it they are faults.
        """
        from hierseed.io.seeds import Seeds, open_seeds, read_seeds

        found, blank = Seeds(), 0
        for file in files:
            with self.collecting():
                if tree is None:
                    open_seeds(file)
                    continue
                more = read_seeds(file, tree, strict=False, on_skip=on_skip)
                found.add(more)
                blank += more.blank
                if not on_skip:
                    self.faults += more.faults.told()
                elif more.faults:
                    self._left_out(file, len(more.faults), more.faults.describe())
        if blank:
            self.notes.append(f"{amount(blank, 'row')} of the seeds without a topic: passed over")
        for name, others in found.shared.items():
            self.notes.append(
                f"the seeds' topic {name!r} is taken as the topic of level 1, and stands at "
                f"{name_some(others)} too: write the whole path where one of these is meant"
            )
        if tree is not None and files:
            seeded = f"{int((found.counts(len(tree)) > 0).sum()):,} of {amount(len(tree), 'topic')}"
            names = ", ".join(file.name for file in files)
            self.fact("Seeds", f"{names}, {amount(len(found), 'seed')} for {seeded}")
            if not len(found) and not self.faults:
                self.faults.append(f"{names} has no seeds. Give rows of id,topic or text,topic")
        return found

    def bare(self, tree: Taxonomy, seeds: Seeds, names: bool) -> None:
        """Note topics with no seeds or few."""
        if lacking := [tree.paths[topic] for topic in seeds.without(tree)]:
            instead = "start from their name" if names else "get no documents"
            self.notes.append(
                f"{amount(len(lacking), 'topic')} at the end of a branch without a seed, which "
                f"{instead}: {name_some(lacking)}"
            )
        counts = seeds.counts(len(tree))
        if few := [tree.paths[topic] for topic in range(len(tree)) if 0 < counts[topic] < 3]:
            self.notes.append(
                f"fewer than 3 seeds for {amount(len(few), 'topic')}: {name_some(few)}"
            )

    def embedder(self, spec: str) -> None:
        """See that there is such an embedder, and that it is ready."""
        from hierseed.embed.choose import split_spec

        if spec != "auto":
            with self.collecting():
                kind, detail = split_spec(spec)
                if kind.lacking():
                    kind.make(detail)  # says how to get it

    def source(self, path: Path, seeds: Seeds, **reading: Any) -> Corpus | Documents | None:
        """Read the corpus once, or open vectors that stand for it; look for the seeds in it."""
        from hierseed.cli.source import open_stored
        from hierseed.io.corpus import Corpus
        from hierseed.io.vectors import is_vectors

        with self.collecting():
            if is_vectors(path):
                documents = open_stored(path, self.fact)
                self._many(path, len(documents.ids))
                ids = set(documents.ids)
                seeds.match(ids.__contains__, len(ids), documents.ids[:3])
                return documents
            corpus = Corpus(path, **reading)
            with self.console.bar("Reading") as bar:
                survey = corpus.survey(bar.to)
            self.fact("Corpus", corpus.describe())
            if survey.faults and corpus.on_error == "stop":
                self.faults += survey.faults.told()
                self.notes.append("rows that can't be used: fit --on-error skip leaves them out")
            elif survey.faults:
                self._left_out(path, len(survey.faults), survey.faults.describe())
            self._many(path, survey.n_documents)
            seeds.match(survey.holds, survey.n_documents, survey.first_ids)
            return corpus
        return None

    def _many(self, path: Path, n: int) -> None:
        if n == 0:
            raise CorpusError(f"{path} has no document that can be used")
        if n == 1:
            self.faults.append(
                f"{path} has one document, and topics are learned from many. Fit on a larger "
                "corpus; `hierseed assign` then places single documents"
            )

    def _left_out(self, path: Path, count: int, what: str) -> None:
        self.notes.append(f"{amount(count, 'row')} of {path.name} left out:{what}")
