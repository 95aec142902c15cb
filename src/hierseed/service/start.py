"""Start the service: which model, which address, which token."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hierseed.app import security
from hierseed.app.serving import listen
from hierseed.errors import MissingDependency

MOST_AT_ONCE = 200  # open requests; one more is answered with 503
WAIT = 5  # seconds that an idle connection is kept


def serve_model(
    folder: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    names: Sequence[str] = (),
    token: str | None = None,
    most: int = 2**25,
    language: str = "en",
    embedder: Any = None,
    say: Callable[[str], Any] = print,
) -> None:
    """Serve a model until Ctrl-C."""
    try:
        import uvicorn

        from hierseed.service.access import Guard
        from hierseed.service.server import build
    except ImportError as fault:
        raise MissingDependency(fault.name or "fastapi", "api", "the service") from None
    from hierseed.service.topic_service import TopicService
    from hierseed.text_model import load

    token = security.token_for(host, token)
    service = TopicService(load(folder, embedder=embedder))
    with listen(host, port) as listener:
        listener.listen(MOST_AT_ONCE)  # who reads the address may call at once
        port = listener.getsockname()[1]
        own = security.own_names(host, port, names)
        app = Guard(build(service, language=language), token, own, most)
        config = uvicorn.Config(
            app, log_level="warning", limit_concurrency=MOST_AT_ONCE, timeout_keep_alive=WAIT
        )
        say(f"The model {folder} is served at {security.web_address(host, port)}")
        if token:
            say(f"Token: {token}")
        say("Its description is at /openapi.json. Ctrl-C ends it.")
        with contextlib.suppress(KeyboardInterrupt):  # how it is ended
            uvicorn.Server(config).run(sockets=[listener])
