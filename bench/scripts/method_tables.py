"""Tables of results/method and docs/method.md, and the figure, from what bench_method.py left."""

import json
import re
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
from bench_method import ABLATIONS, CEILING, CHEAP, CHOSEN_ON, DEAR, DRAWS, HOME, SETS, everything
from machine import RESULTS

from hierseed_bench.tables.cells import Table

PAGE = RESULTS.parent / "docs" / "method.md"
RIVALS = (*CHEAP, *DEAR)
MEASURES = {"B-cubed F1": "bcubed_f1", "V-measure": "v_measure"}
PLAIN = {"leave_out": 0.0, "parameters": {}, "limit": 0, "prepare": True, "vectors": "minilm"}
METHODS = ("AnchoredHierSeed", "HierSeed")
CATCH = ("home", "home_other", "none", "elsewhere_other", "listed", "false_alarm")


def mean_and_spread(values):
    if not values:
        return "-"
    spread = f" ± {np.std(values, ddof=1):.3f}" if len(values) > 1 else ""
    return f"{np.mean(values):.3f}{spread}"


class Scores:
    """Scores of plain runs, by set, method, seeds and draw."""

    def __init__(self, records, measure):
        names = {where: name for name, where in SETS.items()}
        self.of = {}
        for r in records:
            s = r["setting"]
            name = names.get((s["data"], s["skew"]))
            if name and all(s[key] == value for key, value in PLAIN.items()):
                draws = self.of.setdefault((name, s["method"], s["seeds"]), {})
                draws[s["draw"]] = r["scores"]["all"]["mean"][measure]

    def draws(self, name, method, k):
        """Score of each draw that the tables report."""
        found = self.of.get((name, method, 4 if method == CEILING else k), {})
        return {draw: value for draw, value in found.items() if draw < DRAWS}

    def lead(self, name, k, rival):
        """Ours minus theirs, for each draw that both have."""
        ours, theirs = self.draws(name, "anchored", k), self.draws(name, rival, k)
        return [ours[draw] - theirs[draw] for draw in sorted(ours.keys() & theirs.keys())]

    def best(self, name, k):
        """The rival with the highest mean, None where nothing was run."""
        means = {m: np.mean([*v.values()]) for m in RIVALS if (v := self.draws(name, m, k))}
        return max(means, key=means.get) if means else None

    def share(self, k):
        """Ours over the ridge classifier with all labels, mean over sets."""
        both = [(self.draws(name, "anchored", k), self.draws(name, CEILING, k)) for name in SETS]
        parts = [np.mean([*a.values()]) / np.mean([*b.values()]) for a, b in both if a and b]
        return np.mean(parts or [0])


def signed(values):
    """Mean difference, and its spread over draws."""
    if not values:
        return "-"
    spread = f" ± {np.std(values, ddof=1):.3f}" if len(values) > 1 else ""
    return f"{np.mean(values):+.3f}{spread}"


def compare(records):
    pages = []
    for (title, measure), k in product(MEASURES.items(), (4, 1, 2, 8)):
        scores = Scores(records, measure)
        rows = [
            (m, *(mean_and_spread([*scores.draws(name, m, k).values()]) for name in SETS))
            for m in ("anchored", *RIVALS, CEILING)
        ]
        best = {name: scores.best(name, k) for name in SETS}
        lead = {name: scores.lead(name, k, best[name]) for name in SETS}
        rows.append(("best rival", *(best[name] or "-" for name in SETS)))
        rows.append(("ahead of it by", *(signed(lead[name]) for name in SETS)))
        behind = [name for name in SETS if lead[name] and not _is_ahead(lead[name])]
        about = (
            f"{k} seeds a topic, up to {DRAWS} draws of them, protocol `all`; `-`: not run. "
            "`ahead of it by`: mean and spread of the difference, draw by draw. "
            f"Constants were chosen on {', '.join(CHOSEN_ON)}. "
            f"Mean share of the ridge classifier with all labels: {scores.share(k):.1%}. "
            f"Not ahead by more than the spread on: {', '.join(behind) or 'none'}."
        )
        pages.append(Table(f"{title}, {k} seeds", about, ("method", *SETS), tuple(rows)).markdown())
    (HOME / "compare.md").write_text("\n".join(pages))


def _is_ahead(lead):
    return np.mean(lead) > (np.std(lead, ddof=1) if len(lead) > 1 else 0.0)


def results(records):
    """The table of docs/method.md."""
    scores = Scores(records, "bcubed_f1")

    def row(label, method):
        def cell(name):
            found = scores.draws(name, method or scores.best(name, 4), 4)
            return f"{np.mean([*found.values()]):.3f}".lstrip("0") if found else "-"

        return (label, *map(cell, SETS))

    rows = [
        row("Anchored HierSeed", "anchored"),
        row("HierSeed", "hierseed"),
        row("best of the eight", None),
        ("which one", *(scores.best(name, 4) or "-" for name in SETS)),
        ("ahead of it by", *(signed(scores.lead(name, 4, scores.best(name, 4))) for name in SETS)),
        row("ridge with all labels", CEILING),
    ]
    fill("results", Table("", "", ("", *SETS), tuple(rows)))


def fill(name, table):
    """Put a table into docs/method.md, where its name stands."""
    body = table.markdown().split("\n\n", 2)[2]
    text = PAGE.read_text()
    pattern = rf"(<!-- method table {name} -->\n).*?(<!-- end -->)"
    changed = re.sub(pattern, lambda found: found[1] + body + found[2], text, flags=re.S)
    PAGE.write_text(changed)


def left_out(records):
    groups = {}
    for r in records:
        s = r["setting"]
        if s["leave_out"] == 0.2:
            dial = "".join(f" {name}={value}" for name, value in s["parameters"].items())
            groups.setdefault((s["data"], s["method"] + dial), []).append(r)
    rows = []
    for key, same in sorted(groups.items()):
        cells = [mean_and_spread([r["catch"][name] for r in same]) for name in CATCH]
        f1 = mean_and_spread([r["scores"]["all"]["mean"]["bcubed_f1"] for r in same])
        rows.append((*key, *cells, f1))
    about = (
        "20 in 100 leaves and one topic of level 1 left out; 4 seeds. `home`: in the right Other, "
        "stopped at its parent, or None for a topic of level 1. `false alarm`: documents of "
        "listed topics sent to Other or None. `F1`: B-cubed over all documents."
    )
    header = ("data", "method", "home", "right Other", "None", "wrong Other", "listed")
    table = Table("Topics left out", about, (*header, "false alarm", "F1"), tuple(rows))
    (HOME / "left_out.md").write_text(table.markdown())
    brief = [(row[0], row[1], row[2], row[7], row[8]) for row in rows]
    fill("left out", Table("", "", ("data", "method", "home", "false alarm", "F1"), tuple(brief)))


def ablations(rows):
    names = [name for name in SETS if any(r["data"] == name for r in rows)]
    body = []
    for change in ABLATIONS:
        mine = [r for r in rows if r["without"] == change]
        cells = [[r["bcubed_f1"] for r in mine if r["data"] == name] for name in names]
        body.append((change, *map(mean_and_spread, cells)))
    about = "B-cubed F1, mean over levels, protocol `all`, 4 seeds; each row takes one thing away."
    table = Table("Ablations", about, ("without", *names), tuple(body))
    (HOME / "ablations.md").write_text(table.markdown())


def by_chance(row):
    """Mean gap expected of honest scores: bands hold few documents, and each is right or wrong."""
    counts, score = np.array(row["counts"], float), np.array(row["score"], float)
    full = counts > 0
    spread = np.sqrt(2 / np.pi * score[full] * (1 - score[full]) / counts[full])
    return float(counts[full] @ spread / max(counts.sum(), 1))


def calibration(rows):
    names = [name for name in SETS if any(r["data"] == name for r in rows)]
    figure, panels = plt.subplots(2, 4, figsize=(13, 6.6), sharex=True, sharey=True)
    for panel in panels.flat[len(names) :]:
        panel.axis("off")
    for panel, name in zip(panels.flat, names):
        panel.plot([0, 1], [0, 1], color="#bbbbbb", lw=1)
        for row in rows:
            if (row["data"], row["seeds"], row["draw"]) != (name, 4, 0):
                continue
            if row["method"] != "AnchoredHierSeed":
                continue
            full = [i for i, count in enumerate(row["counts"]) if count >= 20]
            x, y = ([row[key][i] for i in full] for key in ("score", "accuracy"))
            panel.plot(x, y, marker="o", ms=3, label=f"level {row['level']}")
        panel.set_title(name, fontsize=10)
        panel.legend(fontsize=7, frameon=False)
    figure.supxlabel("score")
    figure.supylabel("share that is right")
    figure.tight_layout()
    figure.savefig(HOME / "calibration.svg")
    body = []
    for method, k, level in sorted({(r["method"], r["seeds"], r["level"]) for r in rows}):
        same = [r for r in rows if (r["method"], r["seeds"], r["level"]) == (method, k, level)]
        cells = [[r["error"] for r in same if r["data"] == name] for name in names]
        body.append((method, str(k), str(level), *map(mean_and_spread, cells)))
        if method == "AnchoredHierSeed":
            cells = [[by_chance(r) for r in same if r["data"] == name] for name in names]
            body.append(("by chance", str(k), str(level), *map(mean_and_spread, cells)))
    about = (
        "Mean gap between score and share that is right, in ten bands; 0 is honest. `by chance`: "
        "the gap that perfectly honest scores would show with so few documents in a band."
    )
    table = Table("Calibration error", about, ("method", "seeds", "level", *names), tuple(body))
    (HOME / "calibration.md").write_text(table.markdown())
    fill("precision", Table("", "", ("seeds", "level", *names), tuple(precision(rows, names))))


def precision(rows, names, asked=0.9):
    """Rows of a table: the share that is right of what `precision` would keep, band by band."""
    for k, level in product((1, 4), (1, 2, 3)):
        cells = []
        for name in names:
            held = []
            for row in rows:
                key = (row["method"], row["data"], row["seeds"], row["level"])
                if key == ("AnchoredHierSeed", name, k, level):
                    count, score, right = (
                        np.array(row[part], float)[::-1] for part in ("counts", "score", "accuracy")
                    )
                    kept, told = np.cumsum(count), np.cumsum(count * score)
                    fine = np.flatnonzero((kept > 0) & (told >= asked * kept))
                    if len(fine):
                        upto = fine[-1] + 1
                        share = kept[upto - 1] / kept[-1]
                        held.append((count[:upto] @ right[:upto] / kept[upto - 1], share))
            right, share = np.mean(held, axis=0) if held else (np.nan, 0.0)
            cells.append(f"{right:.2f} ({share:.0%})".lstrip("0") if share >= 0.01 else "-")
        yield (str(k), str(level), *cells)


def time(rows):
    body = [
        (r["data"], f"{r['documents']:,}", *(f"{r[m]:.2f}" for m in METHODS), f"{r['ratio']:.2f}")
        for r in rows
    ]
    fill("time", Table("", "", ("data", "documents", *METHODS, "ratio"), tuple(body)))


if __name__ == "__main__":
    made = list(everything().values())
    compare(made)
    results(made)
    left_out(made)
    for part in (ablations, calibration, time):
        file = HOME / f"{part.__name__}.json"
        if file.exists():
            part(json.loads(file.read_text()))
