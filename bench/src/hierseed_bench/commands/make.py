"""Commands that make runs: run, all, quick, foreign, real-text; merge, for runs made elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hierseed.cli.console import Console
from hierseed.cli.options import AsJson
from hierseed.progress import duration
from hierseed_bench.commands.options import (
    RESULTS,
    Again,
    AllowDirty,
    Draws,
    Jobs,
    Limit,
    Results,
    Seeds,
    Set,
    open_records,
    parameters,
    refuse_unknown,
)

if TYPE_CHECKING:
    from hierseed_bench.runs.config import RunConfig
    from hierseed_bench.runs.records import Record, Records


def run(
    data: Annotated[
        list[str],
        typer.Option(
            "--data",
            "-d",
            help="20newsgroups, arxiv, cap, arxiv_acm, us_code, wos_partial, demo, wos, rcv1, nyt, "
            "or a folder with docs.jsonl.gz and taxonomy.json. May be given several times.",
        ),
    ],
    method: Annotated[
        list[str],
        typer.Option("--method", "-m", help="See `hierseed bench methods`. May be repeated."),
    ],
    seeds: Seeds = 4,
    draws: Draws = 5,
    vectors: Annotated[
        str,
        typer.Option("--vectors", help="minilm (in the data folder), an embedder, or a .npy file."),
    ] = "minilm",
    min_docs: Annotated[
        int, typer.Option("--min-docs", min=1, help="Drop topics with fewer documents.")
    ] = 15,
    limit: Limit = 0,
    skew: Annotated[
        float, typer.Option("--skew", min=0, help="Zipf exponent for topic sizes; 0 leaves them.")
    ] = 0.0,
    leave_out: Annotated[
        float,
        typer.Option("--leave-out", min=0, max=0.9, help="Share of leaves the taxonomy lacks."),
    ] = 0.0,
    prepare: Annotated[
        bool, typer.Option(help="Centre vectors and scale them to unit length.")
    ] = True,
    option: Set = None,
    path: Annotated[
        Path | None, typer.Option("--path", help="Your copy of wos, rcv1 or nyt.")
    ] = None,
    results: Results = RESULTS,
    jobs: Jobs = 1,
    again: Again = False,
    allow_dirty: AllowDirty = False,
    json: AsJson = False,
) -> None:
    """Run methods on data sets; each run leaves one record with its predictions.

    Example: hierseed bench run --data 20newsgroups --method hierseed --method logreg --draws 2
    """
    from hierseed_bench.competitors.catalogue import METHODS
    from hierseed_bench.runs.config import RunConfig

    given = parameters(option)
    refuse_unknown(method, METHODS, "method")
    configs = [
        RunConfig(name, one, seeds, draw, min_docs, limit, skew, leave_out, vectors, prepare, given)
        for name in data
        for one in method
        for draw in range(draws)
    ]
    records = make(configs, results, jobs, again, allow_dirty, path=path)
    own = records.of(configs)
    if json:
        Console(json=True).result(own)
    else:
        print(_summary(own), end="")


def all_(
    part: Annotated[
        list[str] | None,
        typer.Option("--part", help="main, seeds, ablations, vectors, systems-seeds, …"),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option("--method", "-m", help="Only these methods; with --again after a change."),
    ] = None,
    data: Annotated[list[str] | None, typer.Option("--data", "-d", help="Only these sets.")] = None,
    draws: Draws = 5,
    results: Results = RESULTS,
    jobs: Jobs = 2,
    minutes: Annotated[
        float,
        typer.Option("--minutes", help="Stop after N minutes; trainings resume next time."),
    ] = float("inf"),
    again: Again = False,
    allow_dirty: AllowDirty = False,
    renew: Annotated[
        bool,
        typer.Option(
            "--renew",
            help="Also repeat runs without predictions, or from source with uncommitted changes.",
        ),
    ] = False,
    dry: Annotated[
        bool, typer.Option("--dry", help="Only name the runs that would be made.")
    ] = False,
) -> None:
    """Make the runs of every result, then tables, figures and pages.

    Runs on disk are not repeated, so a stopped command resumes where it was.
    """
    from hierseed_bench.competitors.catalogue import METHODS
    from hierseed_bench.pages.fill import write_documents
    from hierseed_bench.runs.plan import PLANS, everything

    parts = part or list(PLANS)
    refuse_unknown(parts, PLANS, "part")
    refuse_unknown(method or [], METHODS, "method")
    configs = [
        config
        for config in everything(draws, parts)
        if (not method or config.method in method) and (not data or config.data in data)
    ]
    if dry:
        found = open_records(results)
        known = found.checkable_keys() if renew else found.keys()
        print("\n".join(str(config) for config in configs if config.key not in known))
        return
    make(configs, results, jobs, again, allow_dirty, minutes=minutes, renew=renew)
    console = Console()
    for fault in write_documents(results):
        console.note(fault)
    console.fact("Written", f"the tables and figures in {results}, and those on the pages")


def quick(results: Results = Path("bench-quick")) -> None:
    """Make a small table in a minute or two: six methods, 6,000 documents, two draws.

    Uses 20 Newsgroups if the open sets are available, otherwise the demo's corpus, the
    docstrings of Python's library.
    """
    from dataclasses import replace

    from hierseed_bench.data.catalogue import OPEN, data_root
    from hierseed_bench.runs.plan import quick as plan

    configs = list(plan())
    if not (data_root() / OPEN["20newsgroups"]).is_dir():
        configs = [replace(c, data="demo", vectors="wordllama", limit=0) for c in configs]
    records = make(configs, results, 1, again=False, allow_dirty=True)
    print(_summary(records.of(configs)), end="")


def foreign(
    data: Annotated[
        list[str] | None,
        typer.Option("--data", "-d", help="May be repeated; five sets unless given."),
    ] = None,
    scenario: Annotated[
        list[str] | None,
        typer.Option("--scenario", "-s", help="few, leftout, closed; all unless given."),
    ] = None,
    method: Annotated[
        str, typer.Option("--method", "-m", help="anchored, hierseed, unfit.")
    ] = "anchored",
    seeds: Seeds = 4,
    draws: Draws = 5,
    vectors: Annotated[str, typer.Option("--vectors", help="As in `bench run`.")] = "minilm",
    limit: Limit = 0,
    detector: Annotated[
        list[str] | None,
        typer.Option("--detector", help="belongs, score, …; all of them unless given."),
    ] = None,
    option: Set = None,
    results: Results = RESULTS,
    again: Again = False,
    allow_dirty: AllowDirty = False,
) -> None:
    """Judge how well foreign documents are noticed: detectors' scores, and the decision.

    Example: hierseed bench foreign --data cap --scenario few --draws 2
    """
    from hierseed.estimators.parameters import METHODS
    from hierseed_bench.foreign import run as foreign_run
    from hierseed_bench.foreign.detectors import DETECTORS
    from hierseed_bench.foreign.scenarios import SCENARIOS
    from hierseed_bench.foreign.table import tables

    refuse_unknown(scenario or [], SCENARIOS, "scenario")
    refuse_unknown(detector or [], DETECTORS, "detector")
    refuse_unknown([method], METHODS, "method")
    runs = foreign_run.plan(
        data or foreign_run.SETS, scenario or tuple(SCENARIOS), draws, method=method,
        parameters=parameters(option), seeds=seeds, vectors=vectors, limit=limit,
        detectors=tuple(detector or DETECTORS),
    )  # fmt: skip

    def about(record: Record) -> str:
        found = record["detectors"].get("belongs", {}).get("auroc")
        shown = "" if found is None else f"  AUROC {found:.2f}"
        return f"{record['decision']['false_alarms']:.3f} false alarms{shown}"

    own = made(runs, foreign_run.run_one, results / "foreign", again, allow_dirty, about)
    print("\n".join(table.markdown() for table in tables(own)), end="")


def real_text(
    data: Annotated[
        list[str] | None,
        typer.Option("--data", "-d", help="petitions, gnad_de; both unless given."),
    ] = None,
    embedder: Annotated[
        list[str] | None,
        typer.Option("--embedder", help="wordllama, tfidf, auto, minilm; all unless given."),
    ] = None,
    results: Results = RESULTS,
    again: Again = False,
    allow_dirty: AllowDirty = False,
) -> None:
    """Fit petitions and German news from their texts: size of topics, accuracy, nonsense.

    Example: hierseed bench real-text --data gnad_de --embedder tfidf
    """
    from hierseed_bench.foreign import real_text as texts

    refuse_unknown(data or [], texts.SEEDS, "data set")
    refuse_unknown(embedder or [], texts.EMBEDDERS, "embedder")
    runs = list(texts.plan(data or texts.SEEDS, embedder or texts.EMBEDDERS))

    def about(record: Record) -> str:
        return f"largest topic {record['decision']['largest']:,}"

    own = made(runs, texts.run_one, results / "real_text", again, allow_dirty, about)
    print(texts.table(own).markdown(), end="")


# ------------------------------------------------------------------ behind the commands


def make(
    configs: list[RunConfig],
    results: Path,
    jobs: int,
    again: bool,
    allow_dirty: bool,
    *,
    path: Path | None = None,
    minutes: float = float("inf"),
    renew: bool = False,
) -> Records:
    """Make runs that are not on disk, and report each."""
    from hierseed_bench.runs.environment import require_clean_tree
    from hierseed_bench.runs.run import run_all

    console = Console()
    records = open_records(results)
    known = records.checkable_keys() if renew else records.keys()
    waiting = len({config.key for config in configs} - (set() if again else known))
    if waiting:
        require_clean_tree(allow_dirty)
    if again:
        records.forget(config.key for config in configs)
    console.fact("Runs", f"{waiting:,} to make, {len(configs) - waiting:,} on disk")
    faults: dict[str, str] = {}
    done = 0

    def report(config: RunConfig, outcome: Record | str) -> None:
        nonlocal done
        done += 1
        if isinstance(outcome, str):
            if faults.setdefault(config.method, outcome) is outcome:
                console.note(f"{config}: {outcome}")
            return
        mean = outcome["scores"]["all"]["mean"]
        took = duration(outcome["seconds"]["fit"] + outcome["seconds"]["predict"])
        console.fact(
            f"{done}/{waiting}",
            f"{config}  B3 {mean['bcubed_f1']:.3f}  V {mean['v_measure']:.3f}  {took}",
        )

    run_all(configs, records, path=path, jobs=jobs, minutes=minutes, renew=renew, report=report)
    return records


def made(
    runs: Sequence[Any],
    run_one: Callable[[Any], Record],
    folder: Path,
    again: bool,
    allow_dirty: bool,
    about: Callable[[Record], str],
) -> list[Record]:
    """Make runs that have no record yet, report each, and return the records of all."""
    from hierseed_bench.runs.environment import require_clean_tree
    from hierseed_bench.runs.records import Records

    require_clean_tree(allow_dirty)
    records = Records(folder)
    if again:
        records.forget(run.key for run in runs)
    done = records.keys()
    for run in runs:
        if run.key not in done:
            record = run_one(run)
            records.add(record)
            Console().fact(str(run), f"  {about(record)}")
    return records.of(runs)


def _summary(records: Iterable[Record]) -> str:
    from hierseed_bench.tables.cells import summary

    return summary(list(records)).markdown()


def merge(
    folder: Annotated[Path, typer.Argument(help="The results folder of another machine.")],
    results: Results = RESULTS,
) -> None:
    """Take over records that were made on another machine, in place of ours.

    A copy without git names its commit in HIERSEED_COMMIT; a hash of the source proves it.

    Example: hierseed bench merge results-of-the-server
    """
    from hierseed_bench.runs.records import Records

    console = Console()
    for part in ("runs", "foreign"):
        if not (folder / part).is_dir():
            continue
        taken, refused = Records(results / part).take_over(Records(folder / part))
        console.fact("Taken", f"{taken:,} records of {part}")
        for fault in refused:
            console.note(fault)
