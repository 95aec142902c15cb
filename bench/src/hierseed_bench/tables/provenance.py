"""Where the records come from: how many are planned, reproducible, and can be checked."""

from __future__ import annotations

from collections import Counter

from hierseed_bench.competitors.catalogue import METHODS
from hierseed_bench.runs.plan import OURS, everything
from hierseed_bench.runs.plan_systems import SUPERVISED, UNLABELLED
from hierseed_bench.runs.records import Records, is_clean
from hierseed_bench.tables.markdown import Table

GROUPS: dict[str, tuple[str, ...]] = {
    **{METHODS[name].title: (name,) for name in OURS},
    "BERTopic": ("bertopic",),
    "SetFit": ("setfit",),
    "the eight systems": (*SUPERVISED, *UNLABELLED),
}


def group_of(method: str) -> str:
    """Return the row of a method."""
    return next((name for name, own in GROUPS.items() if method in own), "other plain methods")


def record_table(records: Records) -> Table:
    """Count planned runs and their records."""
    made = {record["key"]: record for record in records}
    counts = {name: [0, 0, 0, 0] for name in (*GROUPS, "other plain methods", "all")}
    for config in everything():
        found = made.get(config.key)
        columns = [True, found is not None, False, False]
        if found is not None:
            columns[2:] = [is_clean(found), records.has_predictions(found)]
        for name in (group_of(config.method), "all"):
            counts[name] = [n + yes for n, yes in zip(counts[name], columns)]
    versions = Counter(
        record["commit"] for record in made.values() if record["setting"]["method"] == "anchored"
    )
    listed = ", ".join(f"{commit[:7]} ({n})" for commit, n in versions.most_common())
    rows = tuple((name, *(f"{n:,}" for n in numbers)) for name, numbers in counts.items())
    return Table(
        "Records",
        "Planned runs, those made, those made from source without uncommitted changes, and those "
        "whose predictions are kept. `hierseed bench all --renew` makes what is missing. Records "
        f"of Anchored HierSeed by commit: {listed}.",
        ("method", "planned", "made", "clean commit", "predictions"),
        rows,
    )
