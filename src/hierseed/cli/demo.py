"""`hierseed demo`: the whole job on text that is on every computer with Python."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hierseed.cli.console import Console, usage
from hierseed.cli.options import AsJson, Quiet
from hierseed.progress import Event, Fact, Listener, Step, amount, duration

if TYPE_CHECKING:
    from hierseed.demo.corpus import DemoCorpus

FACTS = ("Embedded", "Fitted")  # of the fit, to print


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to write the results.")
    ] = Path("demo-output"),
    method: Annotated[
        str, typer.Option(metavar="NAME", help="The method, as in `hierseed fit`.")
    ] = "anchored",
    seeds: Annotated[int, typer.Option(min=1, help="Examples per topic, drawn at random.")] = 4,
    draw: Annotated[int, typer.Option(min=0, help="Random state of the draw of seeds.")] = 0,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Run the whole job on text that is on this computer; no download.

    The documents are the docstrings of Python's own library, the taxonomy is the table of
    contents of its reference: chapters and modules, made by experts. The job: given four
    examples per module, find the chapter and module of all the others. The true labels are known,
    so the result is scored. All files stay in a folder for you to explore.

    Example: hierseed demo
    """
    from hierseed.demo.corpus import load_corpus
    from hierseed.demo.run import run_demo
    from hierseed.estimators.parameters import get_method
    from hierseed.files import check_folder
    from hierseed.io.model_bundle import FILE

    with usage("--method"):
        get_method(method)
    output.mkdir(parents=True, exist_ok=True)
    check_folder(output / "model", marker=FILE)  # fail before the long step
    with Console(quiet=quiet, json=json) as console:
        began = time.perf_counter()
        corpus = load_corpus(seeds=seeds, random_state=draw)
        _introduce(console, corpus, time.perf_counter() - began)
        done = run_demo(corpus, method, output, progress=_only_steps(console))
        seconds = time.perf_counter() - began
        if json:
            facts: dict[str, Any] = {"folder": output, "documents": len(corpus.ids)}
            console.result(facts | {"seconds": seconds, "scores": done.scores.to_dict()})
        elif not quiet:
            _show(console, corpus, done, output, seconds)


def _only_steps(console: Console) -> Listener:
    """Show progress of embedding and fit; facts about the inputs are printed already."""

    def listen(event: Event) -> None:
        if isinstance(event, Step) or (isinstance(event, Fact) and event.label in FACTS):
            console.listen(event)

    return listen


def _introduce(console: Console, corpus: DemoCorpus, seconds: float) -> None:
    leaves = int(corpus.taxonomy.tree.is_leaf.sum())
    chapters = len(corpus.taxonomy.tree.children(-1))
    console.fact(
        "Documents", f"{len(corpus.ids):,} docstrings of Python's library, {seconds:.1f} s"
    )
    console.fact("Taxonomy", f"{chapters} chapters of its reference, {leaves} modules")
    console.fact(
        "Seeds", f"{int((corpus.y >= 0).sum()):,}, drawn at random; the others are to be found"
    )
    if corpus.absent:
        some = ", ".join(corpus.absent[:4])
        console.fact(
            "Left out",
            f"{amount(len(corpus.absent), 'module')} without docstrings here ({some} …), "
            f"{len(corpus.small)} with fewer than 15",
            "dim",
        )


def _show(console: Console, corpus: DemoCorpus, done: Any, output: Path, seconds: float) -> None:
    from hierseed.demo.run import show_scores, show_tree

    console.out.print()
    console.out.print(show_tree(corpus, done.assignments))
    console.out.print()
    console.out.print(show_scores(done.scores))
    console.out.print()
    console.fact("Time", duration(seconds))
    console.fact("Files", f"{output}/report.html   open it in a browser", "green")
    console.fact("", f"{output}/placed.csv    where every document went")
    console.fact("", f"{output}/model         for `hierseed assign`, `suggest`, `report`")
    console.fact("", f"{output}/docs.csv, taxonomy.txt, seeds.csv, gold.csv: what went in")
    console.fact("Try", f"hierseed suggest {output}/model {output}/docs.csv")
