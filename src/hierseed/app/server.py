"""The web server: one page of three parts, and routes for uploads and downloads."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from fastapi.staticfiles import StaticFiles
from nicegui import ui
from nicegui.element import Element
from nicegui.language import Language

from hierseed.app import document_map, export, fits, uploads
from hierseed.app.pages.session import SCREENS, Session
from hierseed.app.projects import Projects
from hierseed.app.wording import explain_failure, worded
from hierseed.errors import HierSeedError, ProjectError

WEB = Path(__file__).parent / "web"
TICK = 0.7  # seconds between two looks at what other tabs and workers did
OPENING = 900.0  # seconds that a browser waits for a large project to be converted
LANGUAGE: Language = "en-US"
HEAD = '<link rel="stylesheet" href="/workbench/web/style.css">' + "".join(
    # all at once, rather than one after the other as each names the next
    f'<link rel="modulepreload" href="/workbench/web/{file.name}">'
    for file in sorted(WEB.glob("*.js"))
    if file.stem not in ("frame", "numbers", "tree", "stage", "projects")
)


# Few threads, since each has a connection with a cache of its own.
POOL = ThreadPoolExecutor(3, "workbench")


async def work(does: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Run something that may take a while outside the loop that serves all pages."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(POOL, partial(does, *arguments, **options))


class Frame(Element, component="web/frame.js"):
    """Header, steps, what runs, notes."""


class Tree(Element, component="web/tree.js"):
    """The taxonomy at the side."""


class Numbers(Element, component="web/numbers.js"):
    """Numbers of documents and seeds of each line of the tree; draws nothing."""


class Stage(Element, component="web/stage.js"):
    """The screen of the step."""


class Tab:
    """One open page: a session, and the parts that show it."""

    def __init__(self, session: Session, first: dict[str, Any]) -> None:
        self.session = session
        self.lock = asyncio.Lock()
        self.sent: dict[str, str] = {}
        self.same: dict[str, Any] = {}
        with ui.element("div").classes("workbench"):
            self.parts = {
                "frame": Frame(), "numbers": Numbers(), "tree": Tree(), "stage": Stage(),
            }  # fmt: skip
        for name, part in self.parts.items():
            self.put(name, first[name])
            part.on("act", self.act)
        self.timer = ui.timer(TICK, self.tick, immediate=False)

    def put(self, name: str, view: Any) -> bool:
        """Set what a part shows; False where the browser has just that already."""
        if self.same.get(name) is view:  # the tree, which a session keeps until it changes
            return False
        self.same[name] = view
        text = json.dumps(view)  # as text, since a screen may keep using what it handed out
        if self.sent.get(name) == text:
            return False
        self.sent[name] = text
        self.parts[name]._props["view"] = json.loads(text)
        return True

    async def act(self, event: Any) -> None:
        """Something was clicked."""
        arguments = dict(event.args)
        do = str(arguments.pop("do", ""))
        async with self.lock:  # one after the other, in the order of the clicks
            try:
                news = await work(self.session.act, do, **arguments)
            except Exception as fault:  # our bug: shown and logged, and the page stays alive
                traceback.print_exc()
                text = f"That did not work ({type(fault).__name__}: {fault}). Reload the page."
                news = {"notes": [{"text": text, "kind": "bad"}]}
            self.show(news)

    async def tick(self) -> None:
        """Time has passed."""
        async with self.lock:
            news = await work(self.session.tick)
        if news:
            self.show(news)

    def show(self, news: dict[str, Any] | None) -> None:
        """Send what differs from what the browser has."""
        if news is None:  # the server is shutting down
            return
        for name, part in self.parts.items():
            if name in news and self.put(name, news[name]):
                part.update()
        for note in news.get("notes", []):
            self.parts["frame"].run_method("addNote", note)


def build(projects: Projects, *, most: int = uploads.MOST) -> FastAPI:
    """Make the application; where a folder is served, requests name their project."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.mount("/workbench/web", Fresh(directory=WEB), name="web")

    app.add_exception_handler(HierSeedError, _refuse)
    app.add_exception_handler(OSError, _refuse)
    app.add_exception_handler(sqlite3.Error, _refuse)

    @app.post("/workbench/upload")
    async def upload(request: Request, name: str, project: str = "") -> dict[str, str]:
        opened = await work(projects.get, project)
        return {"token": await uploads.receive(opened, name, request.stream(), most)}

    @app.get("/workbench/download/{name}")
    async def download(name: str, view: bool = False, project: str = "") -> Response:
        files = export.folder(await work(projects.get, project))
        known = {path.name: path for path in files.iterdir()}
        if name not in known:  # never a path: only a name that we have written
            raise ProjectError("no such file")
        if view and name.endswith(".html"):
            return FileResponse(known[name], media_type="text/html")
        return FileResponse(known[name], filename=name, media_type="application/octet-stream")

    @app.get("/workbench/map/{fit}")
    async def map_points(fit: int, column: str = "", project: str = "") -> Response:
        def pack() -> bytes:
            opened = projects.get(project)
            return document_map.pack(opened, fits.get(opened, fit), column)

        return Response(await work(pack), media_type="application/octet-stream")

    @app.get("/workbench/document/{row}")
    async def document(row: int, project: str = "") -> dict[str, str]:
        opened = await work(projects.get, project)
        found: dict[str, str] = await work(document_map.hover, opened, row)
        return found

    if projects.folder is not None:
        _add_list(app, projects, projects.folder)

    def begin(project: str, address: str) -> tuple[Session, dict[str, Any]] | None:
        """A session and what it shows first; None where the list of projects is to be shown."""
        if projects.folder is not None and project not in projects.names():
            return None
        session = Session(projects.get(project), listed=projects.folder is not None)
        session.restore(address)
        first = session.everything()
        if "stage" not in first:  # the file can't be read
            raise ProjectError(first["notes"][0]["text"])
        return session, first

    async def page(request: Request, project: str = "") -> Response | None:
        try:
            begun = await work(begin, project, f"{request.url.path}?{request.url.query}")
        except HierSeedError as fault:
            return PlainTextResponse(worded(fault), status_code=500)
        except (OSError, sqlite3.Error) as fault:
            return PlainTextResponse(explain_failure(fault), status_code=500)
        if begun is None:
            return FileResponse(WEB / "projects.html", media_type="text/html")
        session, first = begun
        name = session.project.name
        ui.add_head_html(HEAD)
        ui.page_title(f"{name} · hierseed")
        # Painted before the scripts have arrived; the header takes its place.
        ui.add_body_html(f'<div id="opening"><b>{escape(name)}</b><span>Opening …</span></div>')
        Tab(session, first)
        return None

    for screen in ("", *(kind.name for kind in SCREENS)):
        ui.page(f"/{screen}", title="hierseed", response_timeout=OPENING)(page)
    ui.run_with(
        app,
        title="hierseed",
        favicon=WEB / "mark.svg",
        language=LANGUAGE,
        tailwind=False,
        binding_refresh_interval=None,
        reconnect_timeout=30.0,
        gzip_middleware_factory=None,  # the way is short; packing would only cost time
        show_welcome_message=False,
    )
    return app


async def _refuse(request: Request, fault: Exception) -> Response:
    """Answer with the fault of a request in words."""
    if isinstance(fault, OSError | sqlite3.Error):
        return JSONResponse({"fault": explain_failure(fault)}, status_code=507)
    status = 404 if request.method == "GET" else 400
    return JSONResponse({"fault": worded(fault)}, status_code=status)


def _add_list(app: FastAPI, projects: Projects, folder: Path) -> None:
    """Routes of the list of projects."""

    @app.get("/workbench/projects")
    async def listing() -> dict[str, Any]:
        return {"folder": str(folder.absolute()), "projects": await work(projects.overview)}

    @app.post("/workbench/projects")
    async def create(name: str) -> dict[str, str]:
        return {"name": await work(projects.create, name)}


class Fresh(StaticFiles):
    """Files that a browser asks for again after an upgrade of hierseed."""

    def file_response(self, *args: Any, **options: Any) -> Response:
        """Let the browser keep a file, but ask whether it changed."""
        response = super().file_response(*args, **options)
        response.headers["cache-control"] = "no-cache"
        return response
