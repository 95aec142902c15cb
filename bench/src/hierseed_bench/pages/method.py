"""Tables of docs/method_experiments.md: the default method and others, its parts, constants."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from itertools import product

import numpy as np

from hierseed_bench.repository import RESULTS, read_result
from hierseed_bench.runs.plan import CHOSEN_ON, DRAWS, METHOD_SETS, SIMPLE, one_topic
from hierseed_bench.runs.plan_systems import SHORTER
from hierseed_bench.runs.records import Record, Records
from hierseed_bench.tables.cells import seconds
from hierseed_bench.tables.markdown import Table, grid

YARDSTICK = "ridge-all-labels"
VARIANTS = {"anchored", "anchored-names", "projected"}  # the default method with one more part
MORE = ("nearest-topic", "top-down", "constrained-kmeans", "bertopic", "setfit")  # four seeds


def _name(data: str, skew: float) -> str:
    return f"{data} skewed" if skew else data


SETS = tuple(_name(*each) for each in METHOD_SETS)


@cache
def _plain() -> dict[tuple[str, str, int], dict[int, Record]]:
    """Runs with one topic a document by set, method and seeds, then by draw."""
    found: dict[tuple[str, str, int], dict[int, Record]] = {}
    wanted = {"leave_out": 0, "limit": 0, "prepare": True, "vectors": "minilm"}
    for record in Records(RESULTS / "runs").find(**wanted):
        s = record["setting"]
        given = dict(one_topic(s["data"], s["method"]))
        plain = s["parameters"] == given or s["tag"] == SHORTER
        if plain and s["draw"] < DRAWS and (s["data"], s["skew"]) in METHOD_SETS:
            at = (_name(s["data"], s["skew"]), s["method"], s["seeds"])
            found.setdefault(at, {})[s["draw"]] = record
    return found


def draws(name: str, method: str, k: int, measure: str) -> dict[int, float]:
    """Score of each draw."""
    found = _plain().get((name, method, 4 if method == YARDSTICK else k), {})
    return {draw: r["scores"]["all"]["mean"][measure] for draw, r in found.items()}


def best_other(name: str, k: int, measure: str) -> str:
    """Of the other methods without all labels, the one with the highest mean."""
    others = {m for at, m, seeds in _plain() if (at, seeds) == (name, k)}
    means = {
        m: np.mean([*draws(name, m, k, measure).values()])
        for m in sorted(others - VARIANTS - {YARDSTICK})
    }
    return max(means, key=lambda m: means[m]) if means else "-"


def lead(name: str, k: int, measure: str) -> list[float]:
    """Ours less the best other method's, for each draw that both have."""
    ours = draws(name, "anchored", k, measure)
    theirs = draws(name, best_other(name, k, measure), k, measure)
    return [ours[draw] - theirs[draw] for draw in sorted(ours.keys() & theirs.keys())]


def results() -> str:
    """B-cubed F1 with four seeds: ours, HierSeed, the best other method, all labels."""
    k, measure = 4, "bcubed_f1"

    def row(label: str, method: str | None) -> tuple[str, ...]:
        found = [draws(n, method or best_other(n, k, measure), k, measure) for n in SETS]
        return (label, *(_mean(each.values(), False) for each in found))

    return grid(
        ("", *SETS),
        (
            row("Anchored HierSeed", "anchored"),
            row("HierSeed", "hierseed"),
            row("best other method", None),
            ("which one", *(best_other(name, k, measure) for name in SETS)),
            ("ahead of it by", *(_mean(lead(name, k, measure), sign=True) for name in SETS)),
            row("ridge with all labels", YARDSTICK),
        ),
    )


def compare() -> list[Table]:
    """Return every method with 1, 2, 4 and 8 seeds, in both measures."""
    made = []
    for (title, measure), k in product(
        {"B-cubed F1": "bcubed_f1", "V-measure": "v_measure"}.items(), (4, 1, 2, 8)
    ):
        rows = [
            (m, *(_mean(draws(name, m, k, measure).values()) for name in SETS))
            for m in ("anchored", *SIMPLE, *MORE, YARDSTICK)
        ]
        rows.append(("best other", *(best_other(name, k, measure) for name in SETS)))
        leads = [lead(name, k, measure) for name in SETS]
        rows.append(("ahead of it by", *(_mean(each, sign=True) for each in leads)))
        chosen = ", ".join(_name(*each) for each in CHOSEN_ON)
        about = (
            f"{k} seeds a topic, up to {DRAWS} draws, protocol `all`, one topic a document; `-`: "
            f"not run. Constants were chosen on {chosen}."
        )
        made.append(Table(f"{title}, {k} seeds", about, ("method", *SETS), tuple(rows)))
    return made


def time() -> str:
    """Least processor seconds of a fit over the draws, on one thread."""
    rows = []
    for name in SETS:
        both = [_plain().get((name, method, 4), {}) for method in ("anchored", "hierseed")]
        if not all(both):
            continue
        least = [min(s for r in each.values() if (s := seconds(r)) is not None) for each in both]
        size = next(iter(both[0].values()))["sizes"]["fitting"]
        ratio = f"{least[0] / least[1]:.2f}"
        rows.append((name, f"{size:,}", *(f"{value:.2f}" for value in least), ratio))
    return grid(("data", "documents", "AnchoredHierSeed", "HierSeed", "ratio"), rows)


def ablations() -> Table:
    """Each row takes one part away."""
    rows = read_result("method/ablations")
    names = [name for name in SETS if any(r["data"] == name for r in rows)]
    body = []
    for change in dict.fromkeys(r["without"] for r in rows):
        mine = [r for r in rows if r["without"] == change]
        cells = [[r["bcubed_f1"] for r in mine if r["data"] == name] for name in names]
        body.append((change, *map(_mean, cells)))
    about = "B-cubed F1, mean over levels, protocol `all`, 4 seeds; each row takes one thing away."
    return Table("Ablations of the default method", about, ("without", *names), tuple(body))


def calibration() -> Table:
    """Mean gap between score and share that is right."""
    rows = read_result("method/calibration")
    body = []
    for method, k, level in sorted({(r["method"], r["seeds"], r["level"]) for r in rows}):
        same = [r for r in rows if (r["method"], r["seeds"], r["level"]) == (method, k, level)]
        cells = [[r["error"] for r in same if r["data"] == name] for name in SETS]
        body.append((method, str(k), str(level), *map(_mean, cells)))
    about = "Mean gap between score and share that is right, in ten bands; 0 is honest."
    return Table("Calibration error", about, ("method", "seeds", "level", *SETS), tuple(body))


def precision() -> str:
    """The share that is right of what `precision=0.9` would keep, and the share kept."""
    return grid(("seeds", "level", *SETS), _precision(read_result("method/calibration"), 0.9))


def _precision(rows: list[Record], asked: float) -> Iterator[tuple[str, ...]]:
    for k, level in product((1, 4), (1, 2, 3)):
        cells = []
        for name in SETS:
            held = []
            for row in rows:
                at = (row["method"], row["data"], row["seeds"], row["level"])
                if at == ("AnchoredHierSeed", name, k, level):
                    count, score, right = (
                        np.array(row[part], float)[::-1] for part in ("counts", "score", "accuracy")
                    )
                    kept, expected = np.cumsum(count), np.cumsum(count * score)
                    fine = np.flatnonzero((kept > 0) & (expected >= asked * kept))
                    if len(fine):
                        upto = fine[-1] + 1
                        right_of_kept = count[:upto] @ right[:upto] / kept[upto - 1]
                        held.append((right_of_kept, kept[upto - 1] / kept[-1]))
            accuracy, share = np.mean(held, axis=0) if held else (np.nan, 0.0)
            cells.append(f"{accuracy:.2f} ({share:.0%})" if share >= 0.01 else "-")
        yield (str(k), str(level), *cells)


def _mean(values: Iterable[float], spread: bool = True, sign: bool = False) -> str:
    found = list(values)
    if not found:
        return "-"
    text = f"{np.mean(found):{'+' if sign else ''}.3f}"
    return f"{text} ± {np.std(found, ddof=1):.3f}" if spread and len(found) > 1 else text


CONSTANTS = {  # those that a result depends on; the others are for speed and rounding
    "components": ("USUAL", "TRUST"),
    "sample": ("SAMPLE",),
    "neighbours": ("REFERENCES", "NEIGHBOURS", "WIDTH", "WHITENING", "OWN", "DROP"),
    "left_out": ("MOST",),
    "belonging": ("LEAST_SEEDS", "ROUNDS", "TAIL", "SIGNIFICANT", "CLEAR", "NOWHERE", "LEAST"),
    "em": ("START", "PULL", "SIZE_PRIOR", "ROUNDS"),
    "calibration": ("ROUNDS", "NARROW", "PLENTY", "USUAL", "LONE", "BELIEF"),
    "accuracy": ("PRIOR", "LEAST_SLOPE", "SPREAD"),
    "placement": ("SAMPLE",),
}  # fmt: skip


def constants() -> Table:
    """Return module, name, value and comment of each constant."""
    rows = []
    for part, names in CONSTANTS.items():
        module = import_module(f"hierseed.core.mixture.{part}")
        source = inspect.getsource(module)
        for name in names:
            comment = re.search(rf"^{name}\b[^#\n]*=[^#\n]*#\s*(.+)$", source, re.MULTILINE)
            value = str(getattr(module, name))
            rows.append((part, f"`{name}`", value, comment[1] if comment else ""))
    about = "Constants of `hierseed.core.mixture` that a result depends on, with their comments."
    return Table("Constants", about, ("module", "name", "value", "meaning"), tuple(rows))


TABLES: dict[str, Callable[[], str | Table | list[Table]]] = {
    "method-results": results,
    "method-precision": precision,
    "method-time": time,
    "method-compare": compare,
    "method-ablations": ablations,
    "method-calibration": calibration,
    "method-constants": constants,
}
