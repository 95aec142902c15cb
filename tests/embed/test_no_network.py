"""Nothing reaches out unless asked: the work of a whole run, in a process without a network."""

import subprocess
import sys
from pathlib import Path

import pytest

# Every way out is closed before anything else is imported, and each try is counted, because a
# library might catch the error and go on.
CHILD = """
import json, os, socket, sys

tries = []

def closed(*args, **kwargs):
    tries.append(repr(args[:2]))
    raise OSError("the network is cut off")

for name in ("getaddrinfo", "gethostbyname", "create_connection"):
    setattr(socket, name, closed)
socket.socket.connect = socket.socket.connect_ex = socket.socket.sendto = closed

from hierseed.embed import Preparation, choose_embedder, embed_corpus, get_embedder
from hierseed.errors import HierSeedError

folder, checkpoint = sys.argv[1], sys.argv[2]
texts = [f"The court heard appeal {i}; the striker scored." for i in range(30)]
documents = [(str(i), text) for i, text in enumerate(texts)]
with open(f"{folder}/glove.txt", "w") as file:
    file.write("court 1 0\\nstriker 0 1\\n")

done, refused = [], []
specs = ["wordllama", "tfidf:4", f"glove:{folder}/glove.txt", "fasttext:4", "minilm", "glove",
         "mpnet", "roberta", "transformers:roberta-base",
         "sentence-transformers:all-MiniLM-L6-v2"]
if checkpoint:
    specs.append(f"transformers:{checkpoint}")
for number, spec in enumerate(specs):
    try:
        embedder = get_embedder(spec)
        if hasattr(embedder, "fit"):
            embedder.fit(texts)
        store = embed_corpus(documents, embedder, f"{folder}/v{number}")
        Preparation().fit(store)
        done.append(spec)
    except HierSeedError:
        refused.append(spec)
choose_embedder()

import hierseed.cli.app
app = hierseed.cli.app.make_app({"embedders"})
app(["embedders"], standalone_mode=False)
print()
print(json.dumps({"tries": tries, "done": done, "refused": refused}))
"""


@pytest.fixture
def checkpoint(request) -> str:
    """The tiny checkpoint where torch is here; the test goes on without it where it isn't."""
    try:
        return str(request.getfixturevalue("tiny_checkpoint"))
    except pytest.skip.Exception:
        return ""


def run(tmp_path: Path, checkpoint: str, home: Path) -> dict:
    import json
    import os

    keep = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    environment = {**keep, "HIERSEED_HOME": str(home), "HF_HOME": str(tmp_path / "hub")}
    command = [sys.executable, "-c", CHILD, str(tmp_path), checkpoint]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


def test_nothing_asks_the_network(tmp_path, checkpoint, fetched_home):
    told = run(tmp_path, checkpoint, fetched_home)
    assert told["tries"] == []
    assert {"wordllama", "tfidf:4", "minilm", f"glove:{tmp_path}/glove.txt"} <= set(told["done"])
    assert {"mpnet", "glove", "transformers:roberta-base"} <= set(told["refused"])
    if checkpoint:
        assert f"transformers:{checkpoint}" in told["done"]


def test_the_guard_would_notice():
    """The same guard, around something that does reach out."""
    reach = CHILD.split("from hierseed")[0] + (
        "import urllib.request\n"
        "try:\n    urllib.request.urlopen('http://example.invalid')\n"
        "except OSError:\n    pass\n"
        "print(len(tries))\n"
    )
    ran = subprocess.run([sys.executable, "-c", reach], capture_output=True, text=True, check=True)
    assert int(ran.stdout) >= 1
