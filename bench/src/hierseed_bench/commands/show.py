"""Commands that show and check results: table, figure, docs, check, errors, methods, data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hierseed.cli.console import Console
from hierseed.errors import CorpusError
from hierseed_bench.commands.options import RESULTS, Results, open_records, refuse_unknown


def table(
    name: Annotated[
        str,
        typer.Argument(
            metavar="N", help="1 to 5 as in the paper; main, differences, levels, ablations, …"
        ),
    ],
    results: Results = RESULTS,
) -> None:
    """Print a table of the paper with our results, as Markdown.

    Example: hierseed bench table 4
    """
    from hierseed_bench.pages.fill import all_tables, text_of

    tables = all_tables(results)
    refuse_unknown([name], tables, "table")
    print(text_of(tables[name]()), end="")


def figure(
    name: Annotated[str, typer.Argument(metavar="N", help="levels (the paper's), seeds, ranks.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="An .svg, .png or .pdf file.")
    ] = None,
    results: Results = RESULTS,
) -> None:
    """Draw a figure: B-cubed F1 per level as in the paper, seeds, or ranks of methods."""
    from hierseed_bench.tables.figures import FIGURES

    refuse_unknown([name], FIGURES, "figure")
    file = output or Path(f"{name}.svg")
    FIGURES[name](open_records(results), file)
    Console().fact("Written", str(file))


def docs(
    check: Annotated[
        bool, typer.Option("--check", help="Only name the files that are out of date; exit 1.")
    ] = False,
    figures: Annotated[bool, typer.Option(help="Draw the figures too.")] = True,
) -> None:
    """Fill every table of docs/ and README.md from results/, in a clone."""
    from hierseed_bench.pages.fill import outdated, write_documents

    console = Console()
    if check:
        files = outdated()
        if files:
            names = ", ".join(file.name for file in files)
            raise CorpusError(f"out of date: {names}. Run hierseed bench docs")
        console.fact("Checked", "every table agrees with the results")
        return
    for fault in write_documents(figures=figures):
        console.note(fault)
    console.fact("Written", "every table of docs/, README.md and results/tables")


def check(
    data: Annotated[list[str] | None, typer.Option("--data", "-d", help="Only these sets.")] = None,
    method: Annotated[
        list[str] | None, typer.Option("--method", "-m", help="Only these methods.")
    ] = None,
    results: Results = RESULTS,
) -> None:
    """Compute the scores of records again from their kept predictions; exit 1 if one differs.

    Example: hierseed bench check --data cap --method anchored
    """
    from hierseed_bench.runs.check import check_records

    wanted = {k: v for k, v in (("data", data), ("method", method)) if v}
    found = check_records(open_records(results), **wanted)
    console = Console()
    console.fact("Same", f"{found.same:,} records give the same scores again")
    if found.without:
        console.fact("Skipped", f"{found.without:,} were made before predictions were kept")
    for text in found.absent:
        console.note(text)
    if found.different:
        raise CorpusError("different scores: " + "; ".join(found.different[:5]))


def errors(
    data: Annotated[str, typer.Option("--data", "-d", help="A data set.")],
    method: Annotated[str, typer.Option("--method", "-m", help="A method.")] = "anchored",
    draw: Annotated[int, typer.Option("--draw", min=0, help="Which draw of the seeds.")] = 0,
    examples: Annotated[int, typer.Option("--examples", min=0, help="Documents a kind.")] = 2,
    results: Results = RESULTS,
) -> None:
    """Report the kinds of errors of a run, with examples, from its kept predictions.

    Example: hierseed bench errors --data cap --method anchored
    """
    from hierseed_bench.tables.errors import error_analysis

    print(error_analysis(open_records(results), data, method, draw, examples), end="")


def methods() -> None:
    """List the methods and what each one learns from."""
    from hierseed_bench.competitors.catalogue import METHODS

    for name, entry in METHODS.items():
        extra = f"  (pip install 'hierseed-bench[{entry.extra}]')" if entry.extra else ""
        print(f"{name:<19} {entry.uses:<8} {entry.title}{extra}")


def data(
    name: Annotated[
        str | None, typer.Argument(metavar="[SET]", help="Describe one set, or build it.")
    ] = None,
    source: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE]...", help="What to build it from.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The folder to build the set in.")
    ] = None,
) -> None:
    """List the data sets: what each is, its licence, its source, and whether it is available.

    Example: hierseed bench data wordnet wn/usr/share/wordnet -o sets/wordnet
    """
    from hierseed_bench.data.open_sets import BUILDERS, write
    from hierseed_bench.data.sources import SOURCES, place_of

    refuse_unknown([name] if name else [], SOURCES, "data set")
    if name and source:
        refuse_unknown([name], BUILDERS, "data set that can be built")
        if output is None:
            raise typer.BadParameter("name the folder to build it in", param_hint="--output")
        write(BUILDERS[name](*source), output)
        Console().fact("Written", str(output))
        return
    for each in [name] if name else SOURCES:
        entry, place = SOURCES[each], place_of(each)
        print(f"{each}: {entry.what}")
        print(f"  licence     {entry.licence}\n  source      {entry.origin}")
        print(f"  conversion  {entry.conversion}")
        if entry.build:
            print(f"  build       {entry.build}")
        print(f"  available   {place or ('yes' if each == 'demo' else 'no')}\n")
