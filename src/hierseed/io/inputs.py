"""Read the inputs of a fit, and raise all their faults at once.

`hierseed.fit` refuses to start with a fault; `hierseed check` only reads.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from hierseed.embed.choose import split_spec
from hierseed.errors import (
    CorpusError,
    HierSeedError,
    InputError,
    SeedError,
    explain_os_error,
    name_some,
)
from hierseed.estimators.base import SeededEstimator
from hierseed.estimators.inputs import check_taxonomy
from hierseed.estimators.parameters import METHODS, check_names, get_method
from hierseed.io.corpus import Corpus
from hierseed.io.documents import Documents, DocumentVectors, RowNumbers, open_documents
from hierseed.io.records import Records
from hierseed.io.records.frames import open_frame
from hierseed.io.records.rows import Fault, Faults
from hierseed.io.seeds import Seeds, SeedTable, open_seeds, read_seeds, seeds_from_mapping
from hierseed.io.taxonomies import TaxonomyFile
from hierseed.progress import Fact, Listener, Note, amount
from hierseed.taxonomy import Taxonomy

FEW = 3  # a topic with fewer seeds gets a note
ENOUGH_SEEDS = 19  # in all, for a false alarm rate of 0.05
ALL = "all"  # names of inner topics are seeds too


class Inputs:
    """Reads taxonomy, seeds and documents; reports facts at once, collects faults and notes.

    Attributes
    ----------
    facts : what was read, by label
    faults : what stops a fit
    notes : what is worth knowing
    """

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self.facts: dict[str, str] = {}
        self.faults: list[HierSeedError] = []
        self.notes: list[Note] = []

    def fact(self, label: str, text: str) -> None:
        """Report and keep a fact."""
        self.facts[label] = text
        self._listener(Fact(label, text))

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Collect a fault, so that the next input is read too."""
        try:
            yield
        except InputError as several:
            self.faults += several.faults
        except HierSeedError as fault:
            self.faults.append(fault.with_traceback(None))  # its frames may hold open files
        except OSError as fault:
            self.faults.append(HierSeedError(explain_os_error(fault)))

    def refuse(self) -> None:
        """Report the notes, and raise all faults."""
        for note in self.notes:
            self._listener(note)
        if len(self.faults) == 1:
            raise self.faults[0]
        if self.faults:
            raise InputError(self.faults)

    def taxonomy(
        self, source: Taxonomy | TaxonomyFile | str | PathLike[str] | Sequence[Any]
    ) -> Taxonomy | None:
        """Read the topics from a file, or take paths or a Taxonomy."""
        with self.collecting():
            if isinstance(source, str | PathLike):
                source = TaxonomyFile(Path(source))
            if isinstance(source, TaxonomyFile):
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always", UserWarning)
                    taxonomy = source.read()
                self.notes += [Note.of(warning.message) for warning in caught]
            elif isinstance(source, Taxonomy):
                taxonomy = source
            else:
                taxonomy = Taxonomy.from_paths(list(source))
            check_taxonomy(taxonomy)
            levels = range(1, taxonomy.tree.height + 1)
            each = ", ".join(f"{len(taxonomy.tree.at_level(k)):,} on level {k}" for k in levels)
            name = f"{source.path.name}, " if isinstance(source, TaxonomyFile) else ""
            self.fact("Taxonomy", f"{name}{amount(len(taxonomy), 'topic')}: {each}")
            return taxonomy
        return None

    def estimator(
        self, method: str, taxonomy: Taxonomy | None, settings: Mapping[str, Any]
    ) -> SeededEstimator | None:
        """Make the estimator, with its parameters checked."""
        with self.collecting():
            kind = get_method(method)
            check_names(settings, kind.parameters)
            if taxonomy is not None:
                estimator = kind.estimator(taxonomy, **settings)
                estimator.check_parameters()
                return estimator
        return None

    def seeds(
        self,
        source: Any,
        taxonomy: Taxonomy | None,
        documents: Documents | None = None,
        from_names: bool | str = False,
    ) -> Seeds:
        """Read the seeds, and look for them in the documents.

        Invalid rows are skipped if the corpus skips its own. Without a taxonomy only columns are
        checked. `from_names`: leaves without a seed start from their name; with "all", inner
        topics too.
        """
        found, names = self._read_seeds(source, taxonomy, documents, "the seeds")
        if source is not None:
            self._report_seeds(found, names, taxonomy)
        if from_names and taxonomy is not None:
            added = found.add_names(taxonomy, inner=from_names == ALL)
            self.fact("Names", f"used as seeds of {amount(added, 'topic')}")
        if documents is not None:
            self._match(found, documents)
        return found

    def rejections(
        self, source: Any, taxonomy: Taxonomy | None, documents: Documents | None = None
    ) -> Seeds:
        """Read which documents were rejected for which topics, as seeds are read."""
        found, names = self._read_seeds(source, taxonomy, documents, "the rejections")
        if found.texts:
            count = amount(len(found.texts), "row")
            self.faults.append(SeedError(f"{names}: {count} without an id. Name documents by id"))
        elif len(found):
            self.fact("Rejected", f"{names}, {amount(len(found.by_id), 'document')}")
        if documents is not None:
            self._match(found, documents, "rejection")
        return found

    def _read_seeds(
        self, source: Any, taxonomy: Taxonomy | None, documents: Documents | None, names: str
    ) -> tuple[Seeds, str]:
        """Read documents with their topics; also return a name of the source for messages."""
        on_skip = None
        if isinstance(documents, Corpus) and documents.on_error == "skip":
            on_skip = documents.on_skip or (lambda fault: None)
        found, called = Seeds(), names
        if isinstance(source, Seeds):
            found = source
        elif isinstance(source, Mapping) and not hasattr(source, "column_names"):  # DatasetDict
            with self.collecting():
                if taxonomy is not None and documents is not None:
                    found = _from_mapping(source, taxonomy, documents)
        elif source is not None:
            tables: list[SeedTable | Records] = []
            with self.collecting():
                tables = _tables(source)
            names = ", ".join(table.path.name for table in tables) or names
            holds = None if documents is None else _holds(documents)
            for table in tables:
                with self.collecting():
                    self._read_table(table, taxonomy, found, on_skip, holds, called)
        return found, names

    def _read_table(
        self,
        table: SeedTable | Records,
        taxonomy: Taxonomy | None,
        found: Seeds,
        on_skip: Callable[[Fault], object] | None,
        holds: Callable[[str], bool] | None,
        called: str,
    ) -> None:
        if taxonomy is None:
            open_seeds(table, called, holds=holds)
            return
        more = read_seeds(
            table, taxonomy, strict=False, on_skip=on_skip, called=called, holds=holds
        )
        found.add(more)
        found.blank += more.blank
        if not on_skip:
            self.faults += more.faults.errors(SeedError)
        elif more.faults:
            self._note_skipped(table.path.name, more.faults)

    def _report_seeds(self, found: Seeds, names: str, taxonomy: Taxonomy | None) -> None:
        if found.blank:
            self._note(f"{amount(found.blank, 'row')} of the seeds without a topic: ignored")
        for name, others in found.shared.items():
            self._note(
                f"the seeds' topic {name!r} is read as the topic of level 1; {name_some(others)} "
                "has the same name: write the whole path where it is meant"
            )
        if taxonomy is not None:
            seeded = int((found.counts(len(taxonomy)) > 0).sum())
            of = f"{seeded:,} of {amount(len(taxonomy), 'topic')}"
            self.fact("Seeds", f"{names}, {amount(len(found), 'seed')} for {of}")
            if not len(found) and not self.faults:
                self.faults.append(
                    SeedError(f"no seeds in {names}. Give rows of id,topic or text,topic")
                )

    def need_seeds(self, method: str, taxonomy: Taxonomy, seeds: Seeds) -> None:
        """Collect the faults of too few seeds, before the long step."""
        with self.collecting():
            bare = [taxonomy.paths[topic] for topic in seeds.without(taxonomy)]
            if not len(seeds) and not self.faults:
                raise SeedError("there are no seeds. Give rows of id,topic or text,topic")
            if bare and METHODS[method].needs_all_seeds:
                raise SeedError(
                    f"no seed for {len(bare):,} of {int(taxonomy.tree.is_leaf.sum()):,} leaves, "
                    f"and {method} needs one for each: {name_some(bare)}.",
                    "Give each at least one, use {seeds_from_names:True}, or {method:anchored}",
                )

    def few_seeds(self, taxonomy: Taxonomy, seeds: Seeds, names: bool) -> None:
        """Note topics with no seeds or few; with `names`, topics without seeds use their name."""
        if lacking := [taxonomy.paths[topic] for topic in seeds.without(taxonomy)]:
            instead = "start from their name" if names else "get no documents"
            count = amount(len(lacking), "leaf", "leaves")
            self._note(f"{count} without a seed, which {instead}: {name_some(lacking)}")
        counts = seeds.counts(len(taxonomy))
        few = [path for path, count in zip(taxonomy.paths, counts) if 0 < count < FEW]
        if few:
            self._note(f"fewer than {FEW} seeds for {amount(len(few), 'topic')}: {name_some(few)}")
        if 0 < (total := int(sum(counts))) < ENOUGH_SEEDS:
            self._note(
                f"{amount(total, 'seed')} in all: at the default false_alarm of 0.05 it takes "
                f"{ENOUGH_SEEDS} to say which documents belong to no listed topic"
            )

    def embedder(self, spec: Any) -> None:
        """Check that an embedder named by a text is ready."""
        if isinstance(spec, str) and spec != "auto":
            with self.collecting():
                kind, detail = split_spec(spec)
                if kind.lacking():
                    kind.make(detail)  # raises with instructions to install it

    def documents(self, source: Any) -> Documents | None:
        """Open the documents; a corpus is read once from end to end."""
        with self.collecting():
            documents = open_documents(source)
            if isinstance(documents, DocumentVectors):
                self.fact("Vectors", documents.describe())
                self._check_size(documents.name, documents.X.shape[0])
                return documents
            survey = documents.read(self._listener)
            self.fact("Corpus", documents.describe())
            if survey.faults and documents.on_error == "stop":
                self.faults += survey.faults.errors(CorpusError)
                more = "Correct the rows, or leave them out with {on_error:skip}"
                self.faults[-1].advice = ". ".join(filter(None, [self.faults[-1].advice, more]))
            elif survey.faults:
                self._note_skipped(documents.name, survey.faults)
            self._check_size(str(documents.path), survey.n_documents)
            return documents
        return None

    def _match(self, seeds: Seeds, documents: Documents, kind: str = "seed") -> None:
        """Find the document of every seed."""
        with self.collecting():
            if isinstance(documents, DocumentVectors):
                ids = documents.ids
                found = seeds.match(_holds(documents), len(ids), ids[:3], kind=kind)
            else:
                survey, skip = documents.survey(), documents.on_error == "skip"
                found = seeds.match(
                    survey.holds, survey.n_documents, survey.first_ids, skip=skip, kind=kind
                )
            self.notes += map(Note, found)

    def _check_size(self, name: str, n: int) -> None:
        if n == 0:
            raise CorpusError(f"{name} has no document that can be used. Give at least one text")
        if n == 1:
            raise CorpusError(
                f"{name} has one document, and topics are learned from many. Fit on a larger "
                "corpus, then assign single documents with the model"
            )

    def _note(self, text: str) -> None:
        self.notes.append(Note(text))

    def _note_skipped(self, name: str, faults: Faults) -> None:
        self.notes.append(faults.note(f"{amount(len(faults), 'row')} of {name}"))


def _tables(source: Any) -> list[SeedTable | Records]:
    """Files of seeds, or data frames."""
    if isinstance(source, str | PathLike):
        return [SeedTable(Path(source))]
    if isinstance(source, SeedTable):
        return [source]
    if isinstance(source, list | tuple):
        return [table for one in source for table in _tables(one)]
    if (frame := open_frame("seeds", source)) is not None:
        return [frame]
    raise SeedError(
        f"seeds can't be a {type(source).__name__}. Give a mapping of topic to ids or texts, a "
        "data frame, or files"
    )


def _holds(documents: Documents) -> Callable[[str], bool]:
    """Return a function that tests whether a document has an id."""
    if isinstance(documents, DocumentVectors):
        return _among(documents.ids)
    return documents.survey().holds


def _among(ids: Sequence[str]) -> Callable[[str], bool]:
    return ids.__contains__ if isinstance(ids, RowNumbers) else set(ids).__contains__


def _from_mapping(source: Mapping[Any, Any], taxonomy: Taxonomy, documents: Documents) -> Seeds:
    if isinstance(documents, DocumentVectors):
        stored = documents.ids
        return seeds_from_mapping(source, taxonomy, _among(stored), lambda: stored)
    corpus = documents
    every = lambda: [document.id for document in corpus]  # noqa: E731 - read only where rows are source
    return seeds_from_mapping(source, taxonomy, corpus.survey().holds, every)
