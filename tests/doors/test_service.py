"""`hierseed serve MODEL --api`: a real process, called by a real client."""

import re
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

import hierseed
from hierseed.cli.app import make_app

ROOT = Path(__file__).resolve().parents[2]
SECRET = "a secret"
TEXTS = ["a kitten with whiskers", "the puppy on a leash", "dough in the oven", "salt and broth"]


@pytest.fixture
def client(service: Any) -> Any:
    headers = {"authorization": f"Bearer {SECRET}"}
    with httpx.Client(base_url=service.address, headers=headers, timeout=60) as client:
        yield client


def test_a_batch_is_placed_as_the_library_places_it(client: httpx.Client, service: Any) -> None:
    body = {"documents": [{"id": f"x{i}", "text": text} for i, text in enumerate(TEXTS)], "top": 3}
    answer = client.post("/api/assign", json=body)
    assert answer.status_code == 200, answer.text
    found = answer.json()["documents"]
    model = hierseed.load(service.model)
    expected = model.assign({f"x{i}": text for i, text in enumerate(TEXTS)})
    table = expected.to_frame().drop_duplicates("id")
    assert [one["id"] for one in found] == ["x0", "x1", "x2", "x3"]
    assert [one["topic"] or "" for one in found] == table["topic"].tolist()
    for column in ("score", "belongs", "distance"):
        assert [one[column] for one in found] == pytest.approx(table[column].tolist())
    top = expected.top(3)
    for one in found:
        own = top[top["id"] == one["id"]]
        assert [rank["score"] for rank in one["top"]] == pytest.approx(own["probability"].tolist())
        assert [rank["topic"] for rank in one["top"]] == own["topic"].tolist()
    assert found[0]["levels"] == ["Animals", "Animals > Cats"]
    assert found[0]["address"] == "urn:hierseed:2"  # as `hierseed convert` writes it


def test_one_text_and_options(client: httpx.Client) -> None:
    single = client.post("/api/assign/single", json={"text": TEXTS[0], "level": 1}).json()
    assert single["topic"] == "Animals"
    listed = client.post("/api/assign", json={"documents": TEXTS, "level": 1}).json()
    assert [one["topic"] for one in listed["documents"]] == ["Animals"] * 2 + ["Food"] * 2
    assert [one["id"] for one in listed["documents"]] == ["0", "1", "2", "3"]
    strict = client.post("/api/assign/single", json={"text": TEXTS[0], "threshold": 1.0}).json()
    assert strict["is_none"]
    assert strict["topic"] is None


def test_model_topics_and_description(client: httpx.Client, service: Any) -> None:
    about = client.get("/api/model").json()
    assert about["name"] == "pets"
    assert about["documents"] == 80
    topics = client.get("/api/topics").json()
    assert [one["path"] for one in topics] == list(hierseed.load(service.model).taxonomy_.paths)
    description = client.get("/openapi.json").json()
    assert {"/api/assign", "/api/assign/single", "/v1/projects", "/predict"} <= set(
        description["paths"]
    )
    assert "Refusal" in description["components"]["schemas"]
    assert client.get("/").json()["status"] == "UP"


@pytest.mark.parametrize(
    ("body", "kind", "told"),
    [
        ({"documents": ["fine", " "]}, "CorpusError", "empty text"),
        ({"documents": [{"id": "a", "text": "b"}] * 2}, "CorpusError", "id occurs twice"),
        ({"documents": []}, "RequestError", "documents"),
        ({"documents": [1, 2]}, "RequestError", "documents"),
        ({"documents": ["a"], "tpo": 3}, "RequestError", "tpo"),
        ({"documents": ["a"], "top": 9, "level": 0}, "RequestError", "level"),
        ({}, "RequestError", "documents: Field required"),
    ],
)
def test_errors_are_data_with_advice(client: httpx.Client, body: Any, kind: str, told: str) -> None:
    answer = client.post("/api/assign", json=body)
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert error["kind"] == kind
    assert told in error["message"]
    assert error["advice"]
    if kind == "CorpusError":
        assert '"on_error": "skip"' in error["advice"]


def test_what_is_no_json_is_refused(client: httpx.Client) -> None:
    answer = client.post("/api/assign", content=b"{", headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["error"]["kind"] == "RequestError"


def test_documents_that_can_t_be_used_are_left_out_on_demand(client: httpx.Client) -> None:
    body = {"documents": ["", TEXTS[0], "\n", TEXTS[3]], "on_error": "skip"}
    found = client.post("/api/assign", json=body).json()
    assert [one["id"] for one in found["documents"]] == ["1", "3"]
    assert [one["row"] for one in found["left_out"]] == [0, 2]
    assert "empty text" in found["left_out"][0]["message"]
    none = client.post("/api/assign", json={"documents": [""], "on_error": "skip"}).json()
    assert none["documents"] == []
    assert len(none["left_out"]) == 1


def test_the_token_is_required(service: Any) -> None:
    url = f"{service.address}/api/model"
    assert httpx.get(url).status_code == 401
    assert httpx.get(url, headers={"authorization": "Bearer wrong"}).status_code == 401
    assert httpx.get(url, headers={"authorization": "Basic !!"}).status_code == 401
    refused = httpx.get(url).json()["error"]
    assert "Authorization: Bearer" in refused["message"]
    assert httpx.get(url, headers={"authorization": f"Bearer {SECRET}"}).status_code == 200
    assert httpx.get(url, auth=("anybody", SECRET)).status_code == 200
    assert httpx.get(url, params={"token": SECRET}).status_code == 200


def test_without_a_token_only_its_own_names_are_taken(start: Any) -> None:
    running = start("--token", "")
    assert httpx.get(f"{running.address}/api/model").status_code == 200
    foreign = httpx.get(f"{running.address}/api/model", headers={"host": "evil.example"})
    assert foreign.status_code == 403


@pytest.mark.parametrize("chunked", [False, True])
def test_a_request_that_is_too_large_is_refused(client: httpx.Client, chunked: bool) -> None:
    large = b'{"documents": ["' + b"word " * 400_000 + b'"]}'  # 2 MB; 1 MB is taken
    content: Any = iter([large[i : i + 65536] for i in range(0, len(large), 65536)])
    headers = {"content-type": "application/json"}
    try:
        answer = client.post("/api/assign", content=content if chunked else large, headers=headers)
    except httpx.WriteError:  # the server may hang up before all is sent
        return
    assert answer.status_code == 413
    assert "more than 1 MB" in answer.json()["error"]["message"]


def test_requests_at_once_get_the_answers_of_requests_in_turn(client: httpx.Client) -> None:
    bodies = [{"documents": [f"{text} {i}" for text in TEXTS]} for i in range(24)]
    in_turn = [client.post("/api/assign", json=body).json() for body in bodies]
    at_once: list[Any] = [None] * len(bodies)

    def ask(i: int) -> None:
        at_once[i] = client.post("/api/assign", json=bodies[i]).json()

    threads = [threading.Thread(target=ask, args=[i]) for i in range(len(bodies))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert at_once == in_turn


def test_what_can_t_be_served_is_reported(tmp_path: Path, model_folder: Path) -> None:
    def told(*words: object) -> str:
        found = CliRunner().invoke(make_app(), ["serve", *map(str, words), "--api"])
        assert found.exit_code == 1
        return " ".join(found.output.split())

    assert "nowhere" in told(tmp_path / "nowhere")
    assert "a token is needed" in told(model_folder, "--host", "0.0.0.0", "--token", "")
    hierseed.UnfitHierSeed(hierseed.Taxonomy.from_paths(["A", "B"])).fit(
        [[0.0], [1.0]], [0, 1]
    ).save(tmp_path / "vectors")
    assert "fitted on vectors" in told(tmp_path / "vectors")


def test_the_page_runs(service: Any) -> None:
    page = (ROOT / "docs" / "doors" / "service.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {"address": service.address, "token": SECRET}
    for code in re.findall(r"^```python\n(.*?)^```", page, re.S | re.M):
        exec(compile(code, "docs/doors/service.md", "exec"), names)
    assert names["kept"]["left_out"][0]["row"] == 1
    described = httpx.get(f"{service.address}/openapi.json", params={"token": SECRET}).json()
    for path in re.findall(r"`(?:POST|GET) (/[\w/.]*)`", page):
        assert path in described["paths"] or path == "/openapi.json", path
