"""Imports point downwards: the table of ARCHITECTURE.md, held over the syntax trees."""

import ast
import re
from pathlib import Path

import pytest

import hierseed

ORDER = [
    {"errors", "files", "lazy_object", "open_gpu", "parametrized", "threads"},
    {"progress"},
    {"core", "embed"},
    {"topics", "taxonomy", "assignments", "engines"},
    {"estimators", "evaluate"},
    {"io", "suggestions", "model_selection"},
    {"report"},
    {"proposals"},
    {"placed", "plots"},
    {"views"},
    {"text_model"},
    {"pipeline"},
    {"demo"},
    {"app"},
    {"service"},
    {"cli", "__main__"},
]
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
DOORS = {  # the only imports upwards, inside functions, because people expect these methods there
    ("taxonomy", "io"),
    ("estimators", "io"),
}
PACKAGE = Path(hierseed.__file__).parent
ARCHITECTURE = (Path(__file__).parents[1] / "ARCHITECTURE.md").read_text()


def unit(path):
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return parts[0]


def imported(tree):
    """Names under hierseed that a syntax tree imports, and whether at the top level."""
    top = set(map(id, tree.body))
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = [node.module]
            if node.module == "hierseed":
                names = [f"hierseed.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "hierseed" and len(parts) > 1:
                yield parts[1], id(node) in top


def test_imports_point_downwards():
    faults = []
    for path in sorted(PACKAGE.rglob("*.py")):
        own = unit(path)
        if own == "__init__":
            continue
        assert own in RANK, f"{own} has no place in the order: add it here and in ARCHITECTURE.md"
        for other, at_top in imported(ast.parse(path.read_text())):
            if other in {"__version__", own}:
                continue
            other = {"Taxonomy": "taxonomy", "HierSeed": "estimators"}.get(other, other)
            door = (own, other) in DOORS and not at_top
            if RANK[other] > RANK[own] and not door:
                faults.append(f"{path.relative_to(PACKAGE)} imports {other}")
    assert not faults, "\n".join(faults)


def test_a_module_has_500_lines_at_most():
    lengths = {path: len(path.read_text().splitlines()) for path in PACKAGE.rglob("*.py")}
    assert not [f"{path.name}: {n}" for path, n in lengths.items() if n > 500]


def test_core_knows_no_files_and_no_names():
    for path in sorted((PACKAGE / "core").rglob("*.py")):
        names = {name for name, _ in imported(ast.parse(path.read_text()))}
        assert names <= {"core", "errors", "threads"}, path.name


def test_the_product_does_not_need_its_benchmark():
    for path in sorted(PACKAGE.rglob("*.py")):
        assert "hierseed_bench" not in path.read_text(), path.name


def test_the_table_of_ranks_in_the_architecture_is_this_one():
    table = ARCHITECTURE.split("| rank | units |")[1].split("\n\n")[0]
    ranks = re.findall(r"^\| (\d+) \| (.*) \|$", table, flags=re.MULTILINE)
    assert [set(re.findall(r"\w+", units)) for _, units in ranks] == ORDER
    assert [int(rank) for rank, _ in ranks] == list(range(len(ORDER)))


@pytest.mark.parametrize("method", ["mixture", "hierseed"])
def test_every_module_of_a_method_has_a_line_in_the_architecture(method):
    table = ARCHITECTURE.split(f"| module of `core/{method}` |")[1].split("\n\n")[0]
    listed = re.findall(r"`(\w+)`", "\n".join(row.split("|")[1] for row in table.splitlines()[2:]))
    modules = {path.stem for path in (PACKAGE / "core" / method).glob("*.py")} - {"__init__"}
    assert sorted(listed) == sorted(modules)
