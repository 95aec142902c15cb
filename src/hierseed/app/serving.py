"""Start the server: which address, which token, and a browser on it."""

from __future__ import annotations

import contextlib
import os
import socket
import sqlite3
import threading
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hierseed.app import jobs, security
from hierseed.app.project import ENDING, Project
from hierseed.app.projects import Projects
from hierseed.errors import HierSeedError, MissingDependency, ProjectError
from hierseed.io import model_bundle


def serve_project(
    path: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    names: Sequence[str] = (),
    token: str | None = None,
    browser: bool = True,
    most: int = 2**31,
    say: Callable[[str], Any] = print,
) -> None:
    """Serve a project, or all projects of a folder, until Ctrl-C."""
    try:
        import uvicorn

        from hierseed.app.server import build
    except ImportError as fault:
        raise MissingDependency(fault.name or "nicegui", "app", "the workbench") from None
    if path.suffix != ENDING and path.is_file():
        raise ProjectError(
            f"{path} is no project. A project is a file NAME{ENDING} that the workbench makes and "
            f"keeps everything in: hierseed serve {path.stem}{ENDING}, then load {path.name} there"
        )
    if (path / model_bundle.FILE).is_file():
        raise ProjectError(
            f"{path} is a model. Serve it to programs with --api, or name a project: "
            f"hierseed serve {path.name}{ENDING}"
        )
    projects = Projects(path)
    token = security.token_for(host, token)
    listener = listen(host, port)
    port = listener.getsockname()[1]
    everywhere = host in ("0.0.0.0", "::")
    address = security.web_address(own_address(host) if everywhere else host, port, token)
    guard = security.Guard(
        build(projects, most=most),
        security.own_names(host, port, names),
        token or None,
        most,
        any_address=everywhere,
    )
    config = uvicorn.Config(guard, log_level="warning", lifespan="on", ws_max_size=2**22)
    server = uvicorn.Server(config)
    say(f"The workbench of {path} is at {address}")
    if everywhere:
        say(f"On this computer also: {security.web_address('127.0.0.1', port, token)}")
    if not security.is_loopback(host):
        say("Other computers can reach it; only who has the token in the address comes in.")
    say("Everything is saved as you go. Ctrl-C ends it.")
    if projects.folder is None:
        threading.Thread(target=warm, args=(projects.get(),), daemon=True).start()
    if browser:
        threading.Timer(1.0, webbrowser.open, [address]).start()
    try:
        with contextlib.suppress(KeyboardInterrupt):  # how it is ended
            server.run(sockets=[listener])
    finally:
        jobs.end_all()
        projects.close()
    say("The workbench has ended; everything is saved.")


def warm(project: Project) -> None:
    """Read what the first clicks need, while the browser still opens the page."""
    from hierseed.app import fits, metadata, vectors
    from hierseed.app.store import topics

    with contextlib.suppress(HierSeedError, OSError, sqlite3.Error):  # the click that needs it says
        if fit := fits.last(project):
            fit.placements(topics.current(project)).warm()
            _ = fit.report, fit.model
        metadata.columns(project)
        vectors.space(project)


def own_address(host: str) -> str:
    """The address of this computer that others would use; nothing is sent to find it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    far = "2001:db8::1" if ":" in host else "192.0.2.1"  # addresses that nobody has
    with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((far, 9))
        return str(probe.getsockname()[0])
    return "::1" if ":" in host else "127.0.0.1"


def listen(host: str, port: int) -> socket.socket:
    """Take a port; 0 takes any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    if os.name != "nt":  # there it would let two servers share a port
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as fault:
        listener.close()
        raise ProjectError(
            f"{host}:{port} can't be used ({fault.strerror}). Choose another port with --port"
        ) from None
    return listener
