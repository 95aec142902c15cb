"""Tables and the figure of results/method, from the records that bench_method.py left there."""

import json
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
from bench_method import ABLATIONS, CEILING, CHEAP, DEAR, HOME, SETS, everything

from hierseed.bench.cells import Table

MEASURES = {"B-cubed F1": "bcubed_f1", "V-measure": "v_measure"}
PLAIN = {"leave_out": 0.0, "parameters": {}, "limit": 0, "prepare": True, "vectors": "minilm"}
CATCH = ("home", "home_other", "none", "elsewhere_other", "listed", "false_alarm")


def mean_and_spread(values):
    if not values:
        return "-"
    spread = f" ± {np.std(values, ddof=1):.3f}" if len(values) > 1 else ""
    return f"{np.mean(values):.3f}{spread}"


def compare(records):
    plain = [r for r in records if all(r["setting"][k] == v for k, v in PLAIN.items())]

    def values(name, method, k, measure):
        data, skew = SETS[name]
        wanted = {"data": data, "skew": skew, "method": method, "seeds": k}
        return [
            r["scores"]["all"]["mean"][measure]
            for r in plain
            if all(r["setting"][key] == value for key, value in wanted.items())
        ]

    pages = []
    for (title, measure), k in product(MEASURES.items(), (4, 1, 2, 8)):
        rivals = (*CHEAP, *DEAR)
        rows = [
            (
                m,
                *(
                    mean_and_spread(values(name, m, 4 if m == CEILING else k, measure))
                    for name in SETS
                ),
            )
            for m in ("anchored", *rivals, CEILING)
        ]
        lead, shares, draws = [], [], 0
        for name in SETS:
            ours, top = values(name, "anchored", k, measure), values(name, CEILING, 4, measure)
            others = [np.mean(v) for m in rivals if (v := values(name, m, k, measure))]
            lead.append(f"{np.mean(ours) - max(others):+.3f}" if ours and others else "-")
            shares += [np.mean(ours) / np.mean(top)] if ours and top else []
            draws = max(draws, len(ours))
        rows.append(("ahead of the best by", *lead))
        about = (
            f"{k} seeds a topic, up to {draws} draws of them, protocol `all`; no spread: one draw. "
            "All these sets were in view while constants were settled (docs/method.md). "
            f"Mean share of the ridge classifier with all labels: {np.mean(shares or [0]):.1%}."
        )
        pages.append(Table(f"{title}, {k} seeds", about, ("method", *SETS), tuple(rows)).markdown())
    (HOME / "compare.md").write_text("\n".join(pages))


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
    about = "Mean gap between score and share that is right, in ten bands; 0 is honest."
    table = Table("Calibration error", about, ("method", "seeds", "level", *names), tuple(body))
    (HOME / "calibration.md").write_text(table.markdown())


if __name__ == "__main__":
    made = list(everything().values())
    compare(made)
    left_out(made)
    for part in (ablations, calibration):
        file = HOME / f"{part.__name__}.json"
        if file.exists():
            part(json.loads(file.read_text()))
