"""`hierseed embedders`: list them with their cost, and fetch their weights."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from hierseed.cli.console import Console
from hierseed.cli.options import AsJson, Quiet


def embedders(
    action: Annotated[
        Literal["list", "get"], typer.Argument(help="list them, or get one.")
    ] = "list",
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="What to get: minilm, mpnet, glove, or sentence-transformers:NAME and "
            "transformers:NAME from their hub.",
        ),
    ] = None,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """List the embedders, and what each one needs.

    `get` fetches the weights of one: a file pinned by its SHA-256, from which data is read and no
    code is run. Nothing else in hierseed uses the network.

    Example: hierseed embedders get minilm
    """
    console = Console(quiet=quiet, json=json)
    if action == "get":
        if name is None:
            raise typer.BadParameter("say what to get, such as minilm", param_hint="NAME")
        _get(name, console)
    else:
        _list(console)


def _get(name: str, console: Console) -> None:
    from hierseed.embed.choose import split_spec
    from hierseed.embed.fetch import fetch_model

    library = name.partition(":")[0]
    if library not in ("sentence-transformers", "transformers"):
        folder = fetch_model(name, lambda line: console.fact("Fetch", line))
        if console.json:
            console.result({"name": name, "folder": folder})
        return
    kind, detail = split_spec(name)
    made: Any = kind.make(detail, download=True)  # type: ignore[call-arg]
    console.fact("Fetched", f"{made.name}, {made.dimension} numbers a text", "green")
    if console.json:
        console.result({"name": made.name, "dimension": made.dimension})


def _list(console: Console) -> None:
    from rich.text import Text

    from hierseed.embed.choose import AUTO, KINDS

    rows = [(kind, kind.lacking()) for kind in KINDS.values()]
    if console.json:
        keys = ("name", "detail", "about", "dimension", "speed", "source")
        console.result(
            [{key: getattr(kind, key) for key in keys} | {"lacking": lack} for kind, lack in rows]
        )
        return
    auto = next((name for name in AUTO if not KINDS[name].lacking()), None)
    show = console.out.print
    for kind, lacking in rows:
        name = f"{kind.name}:…" if kind.needs_detail else kind.name
        size = f"{kind.dimension} numbers" if kind.dimension.isdigit() else ""
        rate = f"{kind.speed:>6} documents/s" if kind.speed[0].isdigit() else ""
        here = "what auto takes" if kind.name == auto else "ready"
        state = (lacking, "yellow") if lacking else (here, "green")
        show(Text.assemble((f"{name:<24}", "bold"), f"{size:<13}{rate:<21}", state))
        more = f"; after the colon: {kind.detail}" if kind.detail else ""
        show(Text(f"  {kind.about}{more}", style="dim"), soft_wrap=True)
        if lacking:
            show(Text(f"  get it: {kind.source}", style="cyan"), soft_wrap=True)
    show(
        "\nRates are for documents of 200 words on two cores. For your machine and corpus:"
        "\n  hierseed embed CORPUS --estimate",
        soft_wrap=True,
    )
