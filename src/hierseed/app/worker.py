"""A worker process: it runs one job of a project, then it ends."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hierseed.app import jobs
from hierseed.app.jobs import OnProgress
from hierseed.app.project import Project
from hierseed.app.wording import explain_failure, left_out, worded
from hierseed.errors import HierSeedError

EVERY = 0.4  # seconds between two entries of progress


def main(path: str, job: int) -> None:
    """Run one job and write how it ended."""
    threading.Thread(target=_end_with_server, daemon=True).start()
    project = Project(path)
    with jobs.worker_lock(project):
        kind, text = project.db.execute(
            "SELECT kind, arguments FROM job WHERE id = ?", (job,)
        ).fetchone()
        try:
            message = WORK[kind](project, json.loads(text), _reporter(project, job))
        except HierSeedError as fault:
            jobs.finish(project, job, "failed", worded(fault))
        except MemoryError:
            jobs.finish(project, job, "failed", "the memory of this computer is not enough")
        except (OSError, sqlite3.Error) as fault:
            jobs.finish(project, job, "failed", explain_failure(fault))
        except Exception as fault:
            jobs.finish(project, job, "failed", f"{type(fault).__name__}: {fault}")
            raise
        else:
            jobs.finish(project, job, "done", message)
    project.close()


def _end_with_server() -> None:
    """Standard input closes when the server is gone: nobody waits for the result then."""
    while os.read(0, 1024):
        pass
    os._exit(3)


def _reporter(project: Project, job: int) -> OnProgress:
    last = 0.0
    phase = ""

    def on_progress(event: dict[str, Any]) -> None:
        nonlocal last, phase
        at = time.monotonic()
        if at - last < EVERY and event.get("phase") == phase:
            return
        last, phase = at, event.get("phase", "")
        with project.write() as db:
            db.execute("UPDATE job SET progress = ? WHERE id = ?", (json.dumps(event), job))

    return on_progress


def _load(project: Project, arguments: dict[str, Any], on_progress: OnProgress) -> str:
    from hierseed.app import corpus_import

    file = Path(arguments["file"])
    added, faults = corpus_import.load_corpus(
        project, file, arguments["id"], arguments["text"], on_progress,
        name=arguments["name"], load=arguments.get("load"),
    )  # fmt: skip
    file.unlink(missing_ok=True)
    message = "; ".join(filter(None, [f"{added:,} documents added", left_out(faults)]))
    return message.replace(file.name, arguments["name"])


def _sample(project: Project, arguments: dict[str, Any], on_progress: OnProgress) -> str:
    from hierseed.app import corpus_import

    return f"{corpus_import.load_sample(project, on_progress):,} documents of the sample added"


def _fit(project: Project, arguments: dict[str, Any], on_progress: OnProgress) -> str:
    from hierseed.app import fitting

    return f"fit {fitting.fit(project, fitting.Dials(**arguments), on_progress)} is ready"


def _embed(project: Project, arguments: dict[str, Any], on_progress: OnProgress) -> str:
    from hierseed.app import vectors

    return f"{len(vectors.make(project, on_progress)):,} documents have vectors"


def _export(project: Project, arguments: dict[str, Any], on_progress: OnProgress) -> str:
    from hierseed.app import export, fits

    fit = fits.get(project, arguments["fit"])
    if arguments["what"] == "bundle":
        return f"{export.write_bundle(project, fit).name} is ready"
    ending, text = arguments["ending"], arguments["text"]
    made = export.write_documents(project, fit, ending, text=text, on_progress=on_progress)
    return f"{made.name} is ready"


WORK: dict[str, Callable[[Project, dict[str, Any], OnProgress], str]] = {
    "load": _load,
    "sample": _sample,
    "embed": _embed,
    "fit": _fit,
    "export": _export,
}


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
