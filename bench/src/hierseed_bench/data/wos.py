"""Web of Science (Kowsari et al. 2017): 46,985 abstracts, 7 domains, 134 areas.

Two forms are published. `X.txt`, `YL1.txt`, `YL2.txt`: one abstract a line, its domain
number, and the number of its area within the domain. `Data.xlsx` (or a CSV or tab-separated
copy): columns Y1, Y2, Domain, area, Abstract. Only the second has names.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd

from hierseed.errors import CorpusError, MissingDependency
from hierseed.taxonomy import Taxonomy
from hierseed_bench.data.dataset import Dataset
from hierseed_bench.tables.published import differences

TABLES = ("Data.xlsx", "Data.csv", "Data.tsv", "Data.txt")
COLUMNS = {"domain": "domain", "area": "area", "abstract": "text"}


def read_wos(path: Path) -> Dataset:
    """Read a table of the Data form, or a folder with either form."""
    if path.is_file():
        dataset = _from_table(path)
    else:
        table = next((path / name for name in TABLES if (path / name).is_file()), None)
        if (path / "X.txt").is_file():
            dataset = _from_lines(path)
        elif table is not None:
            dataset = _from_table(table)
        else:
            raise CorpusError(
                f"{str(path)!r} holds neither X.txt, YL1.txt, YL2.txt nor any of "
                f"{', '.join(TABLES)}. Point --path at the unpacked WOS46985 folder."
            )
    return replace(dataset, notes=(*dataset.notes, *differences("wos", dataset)))


def _from_lines(folder: Path) -> Dataset:
    texts = (folder / "X.txt").read_text(encoding="utf-8").splitlines()
    domain, area = (
        [int(value) for value in (folder / name).read_text(encoding="utf-8").split()]
        for name in ("YL1.txt", "YL2.txt")
    )
    if not len(texts) == len(domain) == len(area):
        raise CorpusError(
            f"X.txt has {len(texts):,} lines, YL1.txt {len(domain):,} numbers and YL2.txt "
            f"{len(area):,} in {str(folder)!r}; all three must agree"
        )
    paths = [(f"domain {d}", f"area {d}.{a}") for d, a in zip(domain, area)]
    return _build(texts, paths)


def _from_table(file: Path) -> Dataset:
    if file.suffix == ".xlsx":
        try:
            frame = pd.read_excel(file)
        except ImportError as fault:
            raise MissingDependency("openpyxl", "excel", "reading Data.xlsx") from fault
    else:
        frame = pd.read_csv(file, sep=None, engine="python")
    frame.columns = [str(name).strip().lower() for name in frame.columns]
    absent = [name for name in COLUMNS if name not in frame.columns]
    if absent:
        raise CorpusError(
            f"{str(file)!r} has no column {', '.join(absent)}; it has {', '.join(frame.columns)}"
        )
    parts = [frame[name].astype(str).str.strip().tolist() for name in COLUMNS]
    return _build(parts[2], list(zip(parts[0], parts[1])))


def _build(texts: list[str], paths: list[tuple[str, str]]) -> Dataset:
    taxonomy = Taxonomy.from_paths(sorted(set(paths)))
    labels = [[taxonomy.index(path)] for path in paths]
    ids = [f"wos-{row}" for row in range(len(texts))]
    return Dataset("wos", taxonomy, labels, texts, ids)
