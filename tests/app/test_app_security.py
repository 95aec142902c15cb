"""Who may come in: nobody that the owner of the computer did not let in."""

import asyncio
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hierseed.app import security, serving, uploads
from hierseed.app.project import Project
from hierseed.app.security import Guard, own_names
from hierseed.errors import CorpusError, ProjectError

pytest.importorskip("starlette", reason="the extra app is not installed")
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect
from workbench_browser import Server

NAMES = own_names("127.0.0.1", 8765)
OURS = {"host": "127.0.0.1:8765", "origin": "http://127.0.0.1:8765"}


async def _app(scope, receive, send):  # type: ignore[no-untyped-def]
    """An application that lets everybody in: what is refused was refused by the guard."""
    if scope["type"] == "websocket":
        socket = WebSocket(scope, receive, send)
        await socket.accept()
        await socket.send_text("hello")
        await socket.close()
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"in"})


def client(token: str | None = None, most: int = 1000) -> TestClient:
    return TestClient(
        Guard(_app, NAMES, token, most), base_url="http://127.0.0.1:8765", follow_redirects=False
    )


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8765", 200),
        ("localhost:8765", 200),
        ("LOCALHOST:8765", 200),
        ("[::1]:8765", 200),
        ("127.0.0.1", 403),
        ("127.0.0.1:80", 403),
        ("evil.example:8765", 403),
        ("127.0.0.1.evil.example:8765", 403),
        ("localhost.evil.example", 403),
        ("", 403),
    ],
)
def test_a_name_that_was_repointed_at_us_is_refused(host: str, status: int) -> None:
    assert client().get("/", headers={"host": host}).status_code == status


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://127.0.0.1:8765", 200),
        ("https://127.0.0.1:8765", 200),
        ("http://evil.example", 403),
        ("http://127.0.0.1:9999", 403),
        ("http://localhost:8765", 403),  # another of our names, but not the one it was asked by
        ("null", 403),
        (None, 403),
    ],
)
def test_only_our_own_pages_may_change_something(origin: str | None, status: int) -> None:
    headers = {"host": "127.0.0.1:8765"} | ({"origin": origin} if origin else {})
    assert client().post("/", headers=headers).status_code == status
    if status == 200:
        with client().websocket_connect("ws://127.0.0.1:8765/ws", headers=headers) as socket:
            assert socket.receive_text() == "hello"
    else:
        asking = client().websocket_connect("ws://127.0.0.1:8765/ws", headers=headers)
        with pytest.raises(WebSocketDisconnect) as refused:
            asking.__enter__()
        assert refused.value.code == 1008


def test_reading_across_sites_is_refused_too() -> None:
    refused = client().get("/", headers={**OURS, "origin": "http://evil.example"})
    assert refused.status_code == 403
    assert client().get("/", headers={"host": OURS["host"]}).status_code == 200


def test_the_token_is_asked_of_everyone_and_leaves_the_address() -> None:
    visitor = client(token="secret-token")
    assert visitor.get("/").status_code == 401
    assert visitor.get("/?token=wrong").status_code == 401
    assert visitor.post("/", headers=OURS).status_code == 401
    asking = visitor.websocket_connect("ws://127.0.0.1:8765/ws", headers=OURS)
    with pytest.raises(WebSocketDisconnect):
        asking.__enter__()
    welcome = visitor.get("/review?token=secret-token&a=1")
    assert (welcome.status_code, welcome.headers["location"]) == (303, "/review?a=1")
    cookie = welcome.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert visitor.get("/").status_code == 200  # the cookie is enough from here on
    assert client(token="t").get("//evil.example/?token=t").headers["location"] == "/"


def test_every_answer_forbids_other_sites() -> None:
    headers = client().get("/").headers
    assert "connect-src 'self'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


def test_what_is_too_large_is_refused_before_it_is_read() -> None:
    assert client(most=10).post("/", content=b"x" * 11, headers=OURS).status_code == 413
    assert client(most=10).post("/", content=b"x" * 10, headers=OURS).status_code == 200
    odd = {**OURS, "content-length": "-5"}
    assert client().request("POST", "/", headers=odd).status_code == 413


def test_beyond_this_computer_a_token_is_made_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uvicorn = pytest.importorskip("uvicorn")
    pytest.importorskip("nicegui")
    said: list[str] = []
    seen: list[Guard] = []

    def run(self, sockets):  # type: ignore[no-untyped-def]
        seen.append(self.config.app)
        sockets[0].close()
        raise KeyboardInterrupt  # as uvicorn does after Ctrl-C

    monkeypatch.setattr(uvicorn.Server, "run", run)
    monkeypatch.setattr("hierseed.app.server.build", lambda project, most: _app)
    for host in ("0.0.0.0", "127.0.0.1"):
        serving.serve_project(tmp_path / "p", host=host, port=0, browser=False, say=said.append)
    assert seen[0].token
    assert f"?token={seen[0].token}" in said[0]
    assert "127.0.0.1" not in said[0]
    assert any("Other computers can reach it" in line for line in said)
    assert said[-1] == "The workbench has ended; everything is saved."
    assert seen[1].token  # other people may use the same computer
    assert seen[1].token != seen[0].token
    with pytest.raises(ProjectError, match="token is needed"):
        serving.serve_project(tmp_path / "p", host="0.0.0.0", port=0, token="", browser=False)
    assert len(security.new_token()) >= 32


def test_a_corpus_is_no_project(tmp_path: Path) -> None:
    pytest.importorskip("nicegui")
    (tmp_path / "docs.csv").write_text("id,text\n1,a\n")
    with pytest.raises(ProjectError, match=r"no project.*hierseed serve docs\.hierseed"):
        serving.serve_project(tmp_path / "docs.csv", port=0, browser=False)
    assert [file.name for file in tmp_path.iterdir()] == ["docs.csv"]


def test_a_model_is_no_folder_of_projects(tmp_path: Path) -> None:
    pytest.importorskip("nicegui")
    model = tmp_path / "model"
    model.mkdir()
    (model / "model.json").write_text("{}")
    with pytest.raises(ProjectError, match=r"is a model.*--api.*serve model\.hierseed"):
        serving.serve_project(model, port=0, host="0.0.0.0", token="", browser=False)


def test_a_port_in_use_is_told(tmp_path: Path) -> None:
    pytest.importorskip("nicegui")
    held = serving.listen("127.0.0.1", 0)
    held.listen()
    try:
        with pytest.raises(ProjectError, match="--port"):
            serving.listen("127.0.0.1", held.getsockname()[1])
    finally:
        held.close()


async def _stream(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd.csv", "/etc/cron.d/x.csv", "..\\..\\x.csv", "a\x00b.csv", "~/.ssh/k.csv"],
)
def test_an_upload_is_never_a_path(empty: Project, name: str) -> None:
    token = asyncio.run(uploads.receive(empty, name, _stream(b"id,text\n1,a\n")))
    file = uploads.find_upload(empty, token)
    assert file.parent == uploads.folder(empty)
    assert file.suffix == ".csv"
    for asked in (f"../{token}", "../../new.hierseed", "/etc/passwd", "", "x" * 500, token + "/.."):
        with pytest.raises(ProjectError, match="gone"):
            uploads.find_upload(empty, asked)


def test_an_upload_is_bounded_and_leaves_nothing_behind(empty: Project) -> None:
    with pytest.raises(CorpusError, match="larger"):
        asyncio.run(uploads.receive(empty, "a.csv", _stream(b"x" * 60, b"y" * 60), most=100))
    for name in ("a.exe", "a.pkl", "a.html", "a", "a.csv.zip"):
        with pytest.raises(CorpusError, match="can't be read"):
            asyncio.run(uploads.receive(empty, name, _stream(b"x")))
    with pytest.raises(CorpusError, match="empty"):
        asyncio.run(uploads.receive(empty, "a.csv", _stream()))
    assert list(uploads.folder(empty).iterdir()) == []


def test_a_link_from_another_site_lets_in_and_two_ports_keep_two_tokens() -> None:
    """Browsers share cookies between the ports of a host, and send Lax ones along a link."""
    jar: dict[str, str] = {}
    for port, token in ((8765, "one"), (8766, "two")):
        names = security.own_names("127.0.0.1", port)
        visitor = TestClient(
            Guard(_app, names, token), base_url=f"http://127.0.0.1:{port}", follow_redirects=False
        )
        cookie = visitor.get(f"/?token={token}").headers["set-cookie"]
        assert "SameSite=Lax" in cookie
        name, _, value = cookie.split(";")[0].partition("=")
        jar[name] = value
    assert len(jar) == 2
    for port, token in ((8765, "one"), (8766, "two")):
        visitor = TestClient(
            Guard(_app, security.own_names("127.0.0.1", port), token),
            base_url=f"http://127.0.0.1:{port}",
            cookies=jar,
        )
        assert visitor.get("/").status_code == 200


def test_every_address_of_this_computer_works_where_it_listens_on_all() -> None:
    def status(host: str, reached: str) -> int:
        guard = Guard(_app, NAMES, "t", any_address=True)
        scope_of = TestClient(guard, base_url=f"http://{reached}:8765", follow_redirects=False)
        return scope_of.get("/?token=t", headers={"host": host}).status_code

    assert status("192.168.1.7:8765", "192.168.1.7") == 303
    assert status("evil.example:8765", "192.168.1.7") == 403
    assert status("192.168.1.7:80", "192.168.1.7") == 403
    assert Guard(_app, NAMES, "t").any_address is False


def test_the_address_that_is_printed_answers(tmp_path: Path) -> None:
    """`--host 0.0.0.0` from this machine's own address, with a real server."""
    pytest.importorskip("nicegui")
    if serving.own_address("0.0.0.0") == "127.0.0.1":
        pytest.skip("this computer has no address but loopback")
    server = Server(tmp_path / "p.hierseed", "--host", "0.0.0.0", "--token", "open-sesame")
    try:
        address = next(word for word in server.said().split() if word.startswith("http"))
        assert "127.0.0.1" not in address
        jar = urllib.request.HTTPCookieProcessor()
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), jar)
        with opener.open(address) as answer:
            assert answer.status == 200
            assert b"hierseed" in answer.read()
    finally:
        server.close()
