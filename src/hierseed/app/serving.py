"""Start the server: which address, which token, and a browser on it."""

from __future__ import annotations

import contextlib
import socket
import threading
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hierseed.app import jobs, security
from hierseed.app.project import ENDING, Project
from hierseed.errors import MissingDependency, ProjectError


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
    """Serve a project until Ctrl-C."""
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
    project = Project(path)
    jobs.bury_dead(project)
    if not security.is_loopback(host) and not token:
        token = security.new_token()
        say(f"{host} can be reached from other computers, so a token is asked for.")
    listener = _listen(host, port)
    port = listener.getsockname()[1]
    shown = host if host not in ("0.0.0.0", "::") else "127.0.0.1"
    address = f"http://{f'[{shown}]' if ':' in shown else shown}:{port}/"
    address += f"?token={token}" if token else ""
    guard = security.Guard(
        build(project, most=most), security.own_names(host, port, names), token, most
    )
    config = uvicorn.Config(guard, log_level="warning", lifespan="on", ws_max_size=2**22)
    server = uvicorn.Server(config)
    say(f"The workbench of {project.path} is at {address}")
    say("Everything is saved as you go. Ctrl-C ends it.")
    if browser:
        threading.Timer(1.0, webbrowser.open, [address]).start()
    try:
        with contextlib.suppress(KeyboardInterrupt):  # how people end it
            server.run(sockets=[listener])
    finally:
        jobs.end_all()
        project.close()
    say("The workbench has ended; everything is saved.")


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as fault:
        listener.close()
        raise ProjectError(
            f"{host}:{port} can't be used ({fault.strerror}). Choose another port with --port"
        ) from None
    return listener
