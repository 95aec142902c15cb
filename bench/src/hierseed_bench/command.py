"""`hierseed bench`: the paper's experiments and ours, as commands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hierseed.cli.console import Console, duration
from hierseed.cli.faults import guarded
from hierseed.cli.options import AsJson
from hierseed.errors import ParameterError
from hierseed.settings import parse_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hierseed_bench.runs.config import Setting
    from hierseed_bench.runs.records import Record, Records

RESULTS = Path("results")
PAGES = [Path("docs/results.md"), Path("README.md")]

Results = Annotated[
    Path, typer.Option("--results", metavar="FOLDER", help="Where records and tables are kept.")
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, help="Runs at the same time.")]
Again = Annotated[bool, typer.Option("--again", help="Make runs again that are on disk already.")]
Draws = Annotated[int, typer.Option("--draws", min=1, help="Draws of the seeds.")]

bench_app = typer.Typer(
    help="Make the tables and figures of the paper, and ours.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
bench = bench_app  # the name under which the command line looks for a command


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
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Seed documents a topic.")] = 4,
    draws: Draws = 5,
    vectors: Annotated[
        str,
        typer.Option("--vectors", help="minilm (beside the data), an embedder, or a .npy file."),
    ] = "minilm",
    min_docs: Annotated[
        int, typer.Option("--min-docs", min=1, help="Drop topics with fewer documents.")
    ] = 15,
    limit: Annotated[
        int, typer.Option("--limit", min=0, help="Use so many documents; 0 for all.")
    ] = 0,
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
    option: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the method."),
    ] = None,
    path: Annotated[
        Path | None, typer.Option("--path", help="Your copy of wos, rcv1 or nyt.")
    ] = None,
    results: Results = RESULTS,
    jobs: Jobs = 1,
    again: Again = False,
    json: AsJson = False,
) -> None:
    """Run methods on data sets; each run leaves one record, and is not made twice.

    Example: hierseed bench run --data 20newsgroups --method hierseed --method logreg --draws 2
    """
    from hierseed_bench.competitors.catalogue import METHODS
    from hierseed_bench.runs.config import Setting

    parameters = _parameters(option)
    settings = [
        Setting(
            name,
            one,
            seeds,
            draw,
            min_docs,
            limit,
            skew,
            leave_out,
            vectors,
            prepare,
            parameters,
        )
        for name in data
        for one in method
        for draw in range(draws)
    ]
    _refuse_unknown(method, METHODS, "method")
    records = _run(settings, results, jobs, again, path)
    wanted = {setting.key for setting in settings}
    own = [record for record in records if record["key"] in wanted]
    if json:
        Console(json=True).result(own)
    else:
        print(_summary(own), end="")


def all_(
    part: Annotated[
        list[str] | None,
        typer.Option(
            "--part",
            help="main, seeds, ablations, vectors, skewed, left-out, several, extras.",
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option("--method", "-m", help="Only these methods; with --again after a change."),
    ] = None,
    draws: Draws = 5,
    results: Results = RESULTS,
    jobs: Jobs = 2,
    again: Again = False,
    page: Annotated[
        list[Path] | None,
        typer.Option(
            "--page",
            metavar="FILE",
            help="A page whose tables are kept in step; docs/results.md and README.md by default.",
        ),
    ] = None,
) -> None:
    """Make every result of docs/results.md: runs, tables and figures.

    What is on disk is not made again, so a stopped run goes on where it was.
    """
    from hierseed_bench.competitors.catalogue import METHODS
    from hierseed_bench.pages.page import write_all
    from hierseed_bench.runs.plan import PLANS, everything

    parts = part or list(PLANS)
    _refuse_unknown(parts, PLANS, "part")
    _refuse_unknown(method or [], METHODS, "method")
    settings = [s for s in everything(draws, parts) if not method or s.method in method]
    records = _run(settings, results, jobs, again)
    console = Console()
    for fault in write_all(records, results, page or PAGES):
        console.note(fault)
    console.fact("Written", f"the tables and figures in {results}, and those on the pages")


def quick(results: Results = Path("bench-quick")) -> None:
    """Make a small table in a minute or two: six methods, 6,000 documents, two draws.

    Uses 20 Newsgroups where the open sets are at hand, and otherwise the demo's corpus, the
    docstrings of Python's library.
    """
    from dataclasses import replace

    from hierseed_bench.data.catalogue import OPEN, data_root
    from hierseed_bench.runs.plan import quick as plan

    settings = list(plan())
    if not (data_root() / OPEN["20newsgroups"]).is_dir():
        settings = [replace(s, data="demo", vectors="wordllama", limit=0) for s in settings]
    records = _run(settings, results, 1, False)
    wanted = {setting.key for setting in settings}
    print(_summary(record for record in records if record["key"] in wanted), end="")


def foreign(
    data: Annotated[
        list[str] | None,
        typer.Option("--data", "-d", help="May be repeated; five sets unless given."),
    ] = None,
    scenario: Annotated[
        list[str] | None,
        typer.Option("--scenario", "-s", help="few, leftout, closed; all unless given."),
    ] = None,
    method: Annotated[str, typer.Option("--method", "-m", help="anchored, hierseed, unfit.")] = (
        "anchored"
    ),
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Seed documents a topic.")] = 4,
    draws: Draws = 5,
    vectors: Annotated[str, typer.Option("--vectors", help="As in `bench run`.")] = "minilm",
    limit: Annotated[
        int, typer.Option("--limit", min=0, help="Use so many documents; 0 for all.")
    ] = 0,
    detector: Annotated[
        list[str] | None,
        typer.Option("--detector", help="belongs, score, …; all twelve unless given."),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the method."),
    ] = None,
    results: Results = RESULTS,
    again: Again = False,
) -> None:
    """Judge how well foreign documents are noticed: a detector's score, and the decision.

    Example: hierseed bench foreign --data cap --scenario few --draws 2
    """
    from hierseed.estimators.registry import METHODS
    from hierseed_bench.foreign import run as foreign_run
    from hierseed_bench.foreign.detectors import DETECTORS
    from hierseed_bench.foreign.scenarios import SCENARIOS
    from hierseed_bench.foreign.table import tables
    from hierseed_bench.runs.records import Records

    _refuse_unknown(scenario or [], SCENARIOS, "scenario")
    _refuse_unknown(detector or [], DETECTORS, "detector")
    _refuse_unknown([method], METHODS, "method")
    parameters = _parameters(option)
    runs = foreign_run.plan(
        data or foreign_run.SETS, scenario or tuple(SCENARIOS), draws, method=method,
        parameters=parameters, seeds=seeds, vectors=vectors, limit=limit,
        detectors=tuple(detector or DETECTORS),
    )  # fmt: skip
    console, records = Console(), Records(results / "foreign")
    if again:
        records.forget(run.key for run in runs)

    def report(run: foreign_run.ForeignRun, record: Record) -> None:
        made = record["decision"]
        found = record["detectors"].get("belongs", {}).get("auroc")
        shown = "" if found is None else f"  AUROC {found:.2f}"
        console.fact(str(run), f"{made['false_alarms']:.3f} false alarms{shown}")

    foreign_run.run_all(runs, records, report)
    wanted = {run.key for run in runs}
    own = [record for record in records if record["key"] in wanted]
    print("\n".join(table.markdown() for table in tables(own)), end="")


def table(
    name: Annotated[
        str,
        typer.Argument(
            metavar="N", help="2, 3, 4, 5 as in the paper; main, facts, levels, ablations, …"
        ),
    ],
    results: Results = RESULTS,
) -> None:
    """Print a table of the paper, ours beside it, as Markdown.

    Example: hierseed bench table 4
    """
    from hierseed_bench.tables.tables import TABLES

    _refuse_unknown([name], TABLES, "table")
    print("\n".join(one.markdown() for one in TABLES[name](_records(results))), end="")


def figure(
    name: Annotated[str, typer.Argument(metavar="N", help="levels (the paper's), seeds, cost.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="An .svg, .png or .pdf file.")
    ] = None,
    results: Results = RESULTS,
) -> None:
    """Draw a figure: B-cubed F1 per level as in the paper, seeds, or time against score."""
    from hierseed_bench.tables.figures import FIGURES

    _refuse_unknown([name], FIGURES, "figure")
    file = output or Path(f"{name}.svg")
    FIGURES[name](_records(results), file)
    Console().fact("Written", str(file))


def methods() -> None:
    """List the methods and what each one learns from."""
    from hierseed_bench.competitors.catalogue import METHODS

    for name, entry in METHODS.items():
        extra = f"  (pip install 'hierseed-bench[{entry.extra}]')" if entry.extra else ""
        print(f"{name:<19} {entry.uses:<8} {entry.title}{extra}")


COMMANDS: dict[str, Callable[..., None]] = {
    "run": run,
    "all": all_,
    "quick": quick,
    "foreign": foreign,
    "table": table,
    "figure": figure,
    "methods": methods,
}
for _name, _command in COMMANDS.items():
    bench_app.command(_name)(guarded(f"bench {_name}", _command))


# ------------------------------------------------------------------ behind the commands


def _run(
    settings: list[Setting],
    results: Path,
    jobs: int,
    again: bool,
    path: Path | None = None,
) -> Records:
    from hierseed_bench.runs.run import run_all

    console = Console()
    records = _records(results)
    if again:
        records.forget(setting.key for setting in settings)
    known = records.keys()
    waiting = len({setting.key for setting in settings} - known)
    console.fact("Runs", f"{waiting:,} to make, {len(settings) - waiting:,} on disk")
    faults: dict[str, str] = {}
    done = 0

    def report(setting: Setting, outcome: Record | str) -> None:
        nonlocal done
        done += 1
        if isinstance(outcome, str):
            if faults.setdefault(setting.method, outcome) is outcome:
                console.note(f"{setting}: {outcome}")
            return
        mean = outcome["scores"]["all"]["mean"]
        took = duration(outcome["seconds"]["fit"] + outcome["seconds"]["predict"])
        console.fact(
            f"{done}/{waiting}",
            f"{setting}  B3 {mean['bcubed_f1']:.3f}  V {mean['v_measure']:.3f}  {took}",
        )

    run_all(settings, records, path=path, jobs=jobs, report=report)
    return records


def _records(results: Path) -> Records:
    from hierseed_bench.runs.records import Records

    return Records(results / "runs")


def _summary(records: Iterable[Record]) -> str:
    from hierseed_bench.tables.cells import summary

    return summary(list(records)).markdown()


def _parameters(option: list[str] | None) -> tuple[tuple[str, Any], ...]:
    """Read `--set`; a slip there is one of the command line."""
    try:
        return tuple(sorted(parse_settings(option or []).items()))
    except ParameterError as fault:
        raise typer.BadParameter(str(fault), param_hint="--set") from None


def _refuse_unknown(names: Iterable[str], known: Iterable[str], what: str) -> None:
    wrong = [name for name in names if name not in known]
    if wrong:
        raise typer.BadParameter(f"no {what} {wrong[0]!r}; there are {', '.join(known)}")
