"""A folder of projects: the list, opening, making, and nothing but what is in the folder."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from workbench_browser import Visit, missing

from hierseed.app.project import Project
from hierseed.app.projects import Projects
from hierseed.app.store import documents, topics
from hierseed.errors import ProjectError


def test_only_projects_of_the_folder_are_opened(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    Project(tmp_path / "secret").close()
    (folder / "notes.txt").write_text("no project")
    (folder / "broken.hierseed").write_text("no project either")
    projects = Projects(folder)
    assert projects.create("  spring   speeches ") == "spring speeches"
    assert projects.names() == ["broken", "spring speeches"]
    for name in ("../secret", str(tmp_path / "secret"), "notes.txt", "", "secret"):
        with pytest.raises(ProjectError, match="there is no project"):
            projects.get(name)
    for name in ("../secret", "a/b", ".hidden", "", "x" * 81, "nul\0", "Spring Speeches"):
        with pytest.raises(ProjectError):
            projects.create(name)
    assert [one["name"] for one in projects.overview() if one["fault"]] == ["broken"]
    assert {file.name for file in tmp_path.iterdir()} == {"mine", "secret.hierseed", "secret.files"}
    projects.close()


def test_one_file_serves_one_project(tmp_path: Path) -> None:
    projects = Projects(tmp_path / "one.hierseed")
    Project(tmp_path / "two").close()
    assert projects.get("two").name == projects.get().name == "one"
    with pytest.raises(ProjectError, match="Serve a folder"):
        projects.create("three")
    projects.close()


def test_one_name_asked_for_twice_at_once_is_made_once(tmp_path: Path) -> None:
    class Slow(Projects):
        def names(self) -> list[str]:
            found = super().names()
            time.sleep(0.05)  # as on a slow disk, so that another request comes in between
            return found

    projects = Slow(tmp_path)

    def create(_: int) -> bool:
        try:
            projects.create("spring")
        except ProjectError:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(create, range(4))) == 1
    projects.close()


def test_no_project_is_opened_on_the_loop_that_serves_everybody(tmp_path: Path) -> None:
    """Opening may convert a large file; other people's clicks must not wait for it."""
    pytest.importorskip("nicegui")
    from starlette.testclient import TestClient

    from hierseed.app.server import build

    opened: list[bool] = []

    class Watched(Projects):
        def get(self, name: str = "") -> Project:
            try:
                asyncio.get_running_loop()
            except RuntimeError:
                opened.append(True)
            else:
                opened.append(False)
            return super().get(name)

    projects = Watched(tmp_path / "one.hierseed")
    with TestClient(build(projects)) as client:
        client.post("/workbench/upload?name=a.csv", content=b"id,text\n")
        for address in ("/", "/workbench/document/0", "/workbench/download/a", "/workbench/map/1"):
            client.get(address)
    projects.close()
    assert opened == [True] * 5


@pytest.mark.browser
@pytest.mark.skipif(bool(missing()), reason=missing() or "ready")
def test_two_projects_of_a_folder_side_by_side(
    chrome: Any, served: Any, project: Project, tmp_path: Path
) -> None:
    """Open one from the list, make another, load into it; the first one stays as it is."""
    before = documents.count(project)
    corpus = tmp_path / "few.csv"
    corpus.write_text("id,text\n" + "".join(f"{i},a text about rain {i}\n" for i in range(30)))
    server = served(tmp_path, log=tmp_path / "server.log")
    page = chrome.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    page.goto(f"{server.address}/?token=a-token-of-the-tests")
    page.wait_for_selector("#list li")
    assert f"{before:,} documents" in page.inner_text("#list li")
    page.fill("#new input", "../other")
    page.click("#new button")
    page.wait_for_selector("#fault:not([hidden])")
    page.fill("#new input", "weather")
    page.click("#new button")
    page.wait_for_selector("h1:has-text('Load your documents')")
    page.set_input_files("input[aria-label='File with Documents']", corpus)
    page.click("text=Load these documents")
    page.wait_for_selector("section[aria-label=Documents] .state:has-text('30 documents')")
    other = Visit(chrome, f"{server.address}/review?project=library&tab=map")
    other.page.wait_for_selector(f".lead:has-text('{before:,} documents drawn')")
    assert "project=library" in other.page.url
    other.step("Export")
    other.page.click("button:has-text('Seeds (')")
    with other.page.expect_download() as waiting:
        other.page.click(".files a:has-text('library-seeds.csv')")
    assert Path(waiting.value.path()).read_text().startswith("id,text,topic")
    other.page.click("text=All projects")
    other.page.wait_for_selector("#list li:has-text('weather'):has-text('30 documents')")
    assert documents.count(project) == before
    assert len(topics.current(project).taxonomy) > 0
    assert faults == []
    assert other.faults == []
