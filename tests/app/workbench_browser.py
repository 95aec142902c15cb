"""A real server and a real Chromium for the tests of the workbench."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TOKEN = "a-token-of-the-tests"
HERE = Path(__file__).resolve().parents[2] / ".browser"
AXE = HERE / "node_modules" / "axe-core" / "axe.min.js"
SHOTS = HERE / "screenshots"
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def missing() -> str:
    """What keeps the browser tests from running here; "" where nothing does."""
    try:
        import nicegui  # noqa: F401
        import playwright  # noqa: F401
    except ImportError as fault:
        return f"the package {fault.name} is not installed: pip install 'hierseed[app,browser]'"
    if not shutil.which("chromium") or not AXE.is_file():
        told = HERE / "missing"
        default = "chromium or axe-core is not here: make browser"
        return told.read_text(encoding="utf-8").strip() if told.is_file() else default
    return ""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Server:
    """`hierseed serve` as a person would start it."""

    def __init__(
        self, project: Path, *options: str, port: int | None = None, log: Path | None = None
    ) -> None:
        self.port = port or free_port()
        if "--token" not in options:
            options = (*options, "--token", TOKEN)
        self.address = f"http://127.0.0.1:{self.port}"
        self.log = (log or project.with_suffix(".log")).open("w")
        self.process = subprocess.Popen(
            [
                sys.executable, "-c", "from hierseed.cli import main; main()", "serve",
                str(project), "--no-browser", "--port", str(self.port), *options,
            ],
            stdout=self.log, stderr=subprocess.STDOUT,
        )  # fmt: skip
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline and self.process.poll() is None:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 5).close()
                return
            time.sleep(0.1)
        raise AssertionError(f"the server did not start: {self.said()}")

    def said(self) -> str:
        self.log.flush()
        return Path(self.log.name).read_text()

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()
        self.log.close()


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        yield browser
        browser.close()


class Visit:
    """One tab; whatever the page complains of is kept."""

    def __init__(self, browser: Any, address: str, *, width: int = 1360, height: int = 900) -> None:
        self.page = browser.new_page(viewport={"width": width, "height": height})
        self.page.set_default_timeout(120_000)  # other work may run here too
        self.faults: list[str] = []
        self.page.on("pageerror", lambda fault: self.faults.append(str(fault)))
        self.page.on("console", self._heard)
        self.page.on("dialog", lambda dialog: (self.faults.append("a dialog"), dialog.dismiss()))
        if "token=" not in address:
            address += ("&" if "?" in address else "?") + f"token={TOKEN}"
        self.page.goto(address)
        self.page.wait_for_selector("#stage h1")
        self.page.wait_for_function("window.did_handshake")  # earlier events are dropped

    def _heard(self, message: Any) -> None:
        if message.type == "error":
            self.faults.append(message.text)

    def step(self, name: str) -> None:
        self.page.click(f"nav[aria-label=Steps] >> text={name}")
        self.page.wait_for_selector(f"nav a[aria-current=page]:has-text('{name}')")

    def topic(self, name: str) -> None:
        self.page.click(f"#side .line:has(.name:text-is('{name}'))")
        self.page.wait_for_selector(f"#side .line[aria-selected=true]:has(.name:text-is('{name}'))")

    def shot(self, name: str) -> None:
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.page.wait_for_timeout(150)
        self.page.screenshot(path=SHOTS / f"{name}.png")

    def findings(self) -> list[str]:
        """All findings of axe, the minor ones too."""
        # through the debugger, as the page's policy lets no foreign script in
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        result = self.page.evaluate(
            "axe.run(document, {resultTypes: ['violations'],"
            " runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})"
        )
        return [
            f"{found['id']}: {found['help']}: {[n['html'][:120] for n in found['nodes'][:3]]}"
            for found in result["violations"]
        ]
