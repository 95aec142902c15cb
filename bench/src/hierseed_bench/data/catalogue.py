"""Find a data set by name: the open sets in a data root, or the paper's from the user's path."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from hierseed.errors import CorpusError
from hierseed_bench.data.dataset import Dataset
from hierseed_bench.data.folder import read_folder
from hierseed_bench.data.nyt import read_nyt
from hierseed_bench.data.rcv1 import read_rcv1
from hierseed_bench.data.wos import read_wos

ROOT_VARIABLE = "HIERSEED_DATA"
DEFAULT_ROOT = Path("..") / "shared" / "data"

OPEN = {  # name -> folder in the data root, with its variant where it has several
    "20newsgroups": "20newsgroups",
    "arxiv": "arxiv",
    "cap": "cap_sotu:passages",
    "arxiv_acm": "arxiv_acm",
    "us_code": "us_code",
    "wos_partial": "wos_partial",
}
PAPER: dict[str, Callable[[Path], Dataset]] = {  # need the user's own copy
    "wos": read_wos,
    "rcv1": read_rcv1,
    "nyt": read_nyt,
}


DEMO = "demo"  # needs nothing: the docstrings of Python's own library


def data_root() -> Path:
    """Return the folder of the open sets: $HIERSEED_DATA, else ../shared/data."""
    return Path(os.environ.get(ROOT_VARIABLE) or DEFAULT_ROOT)


def load_dataset(name: str, path: Path | None = None) -> Dataset:
    """Read a data set by its known name, or any folder of the same form.

    Parameters
    ----------
    name : a name of OPEN or PAPER, `demo`, or a folder, with `:variant` where it has several
    path : the user's copy, for the sets of the paper
    """
    if name == DEMO:
        return read_demo()
    if name in PAPER:
        if path is None:
            raise CorpusError(
                f"the data set {name!r} is not free to pass on. Give your own copy with --path."
            )
        if not path.exists():
            raise CorpusError(f"no file or folder {str(path)!r} for the data set {name!r}")
        return PAPER[name](path)
    place = path if path is not None and name in OPEN else None
    folder, _, variant = OPEN.get(name, name).partition(":")
    if place is None:
        at_root = data_root() / folder
        place = at_root if name in OPEN or at_root.is_dir() else Path(folder)
    if not place.is_dir():
        raise CorpusError(
            f"no data set {name!r}: {str(place)!r} is not a folder. Known names are "
            f"{', '.join([*OPEN, DEMO, *PAPER])}; set their folder with {ROOT_VARIABLE} or "
            "--path."
        )
    return read_folder(place, variant, name if name in OPEN else "")


def read_demo() -> Dataset:
    """Read the demo's corpus as a data set like the others."""
    from hierseed.demo.corpus import load_corpus

    corpus = load_corpus(min_documents=1)
    labels = [[int(topic)] for topic in corpus.gold]
    return Dataset(DEMO, corpus.taxonomy, labels, corpus.texts, corpus.ids)
