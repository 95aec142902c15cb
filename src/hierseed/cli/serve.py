"""`hierseed serve`: the workbench in the browser, or a model for programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hierseed.cli.options import KnownEmbedder


def serve(
    project: Annotated[
        Path,
        typer.Argument(
            metavar="[PROJECT|FOLDER|MODEL]",
            help="The project file, made where there is none; or a folder, whose projects are "
            "listed. With --api, the folder that `hierseed fit` saved.",
        ),
    ] = Path("project.hierseed"),
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes any free one.")
    ] = 8765,
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on; 0.0.0.0 lets other computers in that have the token of the "
            "printed address."
        ),
    ] = "127.0.0.1",
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--name",
            metavar="NAME",
            help="A further host name that browsers may use for this computer; repeatable.",
        ),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            help="The access token; a random one by default. '' turns it off, on this computer "
            "only."
        ),
    ] = None,
    open_browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
    max_upload: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="MB",
            help="Largest file that may be uploaded, 2048 unless given; with --api, largest "
            "request, 32 unless given.",
        ),
    ] = None,
    api: Annotated[
        bool,
        typer.Option(
            "--api",
            help="Serve a model to programs, by HTTP, in place of the workbench: an interface of "
            "its own (/openapi.json), those of Annif and of Label Studio's ML backends.",
        ),
    ] = False,
    language: Annotated[
        str, typer.Option(metavar="TAG", help="With --api: the language of the project, for Annif.")
    ] = "en",
    embedder: KnownEmbedder = None,
) -> None:
    """Open the workbench in the browser.

    From a corpus and a taxonomy to a reviewed result without programming: load files, shape the
    taxonomy, choose seeds, fit, review, export. Everything stays in one project file and a
    folder next to it; nothing leaves this computer.

    With --api a model is served to programs instead; docs/doors/service.md shows how to call it.

    Examples: hierseed serve news.hierseed; hierseed serve model --api --port 9090
    """
    if api:
        from hierseed.service.start import serve_model

        serve_model(
            project, host=host, port=port, names=name or [], token=token, language=language,
            most=(max_upload or 32) * 2**20, embedder=embedder, say=typer.echo,
        )  # fmt: skip
        return
    from hierseed.app.serving import serve_project

    serve_project(
        project, host=host, port=port, names=name or [], token=token,
        browser=open_browser, most=(max_upload or 2048) * 2**20, say=typer.echo,
    )  # fmt: skip
