"""Fixtures for all tests, and the list of skips that CI accepts."""

import gc
import os
import re
import warnings
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("no clock", deadline=None)  # a loaded machine is no fault of a test
settings.load_profile("no clock")

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
LIST = Path(__file__).with_name("skips.txt")
STAGES = ("test", "neural", "browser", "doors", "all")
NEURAL = re.compile(r'\b(torch|transformers|tiny_checkpoint|setfit|bertopic)\b|skip\("datasets"')


def pytest_addoption(parser: pytest.Parser) -> None:
    help = "which run this is: tests/skips.txt says what each may skip"
    parser.addoption("--stage", choices=STAGES, default="test", help=help)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what names PyTorch, so that no such test can be forgotten by `make test-neural`."""
    for item in items:
        if _names_torch(item.path):
            item.add_marker("neural")


@pytest.fixture(autouse=True, scope="module")
def _close_sockets(request: pytest.FixtureRequest) -> Iterator[None]:
    """Collect what dask and httpx leave open here, not in the middle of another module's test."""
    yield
    text = request.path.read_text(encoding="utf-8")
    if "httpx" in text or "cluster" in text:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()


@cache
def _names_torch(path: Path) -> bool:
    return bool(NEURAL.search(path.read_text(encoding="utf-8")))


class ListedSkips:
    """Fails the run where a test was skipped for a reason that tests/skips.txt does not list."""

    def __init__(self, stage: str) -> None:
        lines = [line.split("|") for line in LIST.read_text(encoding="utf-8").splitlines()]
        rows = [[cell.strip() for cell in line] for line in lines if len(line) == 3]
        self.accepted = [reason for where, reason, _ in rows if where in (stage, "any")]
        self.unlisted: set[str] = set()

    def _see(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if not report.skipped or hasattr(report, "wasxfail"):
            return
        reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
        reason = reason.removeprefix("Skipped: ")
        if not any(fnmatchcase(reason, pattern) for pattern in self.accepted):
            self.unlisted.add(f"{report.nodeid}: {reason}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._see(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._see(report)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what a process of xdist saw: it does not tell of modules skipped whole."""
        self.unlisted.update(getattr(node, "workeroutput", {}).get("unlisted", []))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["unlisted"] = sorted(self.unlisted)
        elif self.unlisted and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.unlisted:
            terminalreporter.section("skipped for reasons that tests/skips.txt does not list")
            for line in sorted(self.unlisted):
                terminalreporter.line(line)


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("CI"):
        config.pluginmanager.register(ListedSkips(config.getoption("--stage")))


@pytest.fixture(scope="session", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home without models: what the tester has fetched must not choose the embedder."""
    before = os.environ.get("HIERSEED_HOME")
    folder = tmp_path_factory.mktemp("home")
    os.environ["HIERSEED_HOME"] = str(folder)
    yield folder
    if before is None:
        del os.environ["HIERSEED_HOME"]
    else:
        os.environ["HIERSEED_HOME"] = before


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The labelled corpora beside the checkout; a test that needs them skips without."""
    if not DATA.is_dir():
        pytest.skip("the labelled corpora are not here: set HIERSEED_DATA")
    return DATA


@pytest.fixture(scope="session")
def fetched_home() -> Path:
    """A model folder with MiniLM in it: fetched once, kept between runs beside pytest's cache."""
    pytest.importorskip("onnxruntime", reason="the extra 'minilm' is not installed")
    pytest.importorskip("onnx", reason="the extra 'minilm' is not installed")
    from hierseed.embed import fetch
    from hierseed.errors import EmbeddingError
    from hierseed.files import lock

    folder = LIST.parents[1] / ".pytest_cache" / "hierseed-home"
    folder.mkdir(parents=True, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch, (folder / "fetching").open("wb") as file:
        lock(file.fileno(), wait=True)  # tests run in several processes
        patch.setenv("HIERSEED_HOME", str(folder))
        try:
            fetch.fetch_model("minilm")
        except EmbeddingError as fault:
            pytest.skip(f"MiniLM could not be fetched here: {fault}")
    return folder
