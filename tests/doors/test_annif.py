"""The real Annif: its HTTP backend asks our service, and its OpenAPI description fits our answers.

Annif pins versions of its own, so it lives in an environment of its own: `make doors` makes it.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from hierseed import Taxonomy

ROOT = Path(__file__).resolve().parents[2]
PATHS = ["Animals > Cats", "Animals > Dogs", "Food > Bread", "Food > Soup"]
TEXTS = ["kitten purr whiskers", "puppy bark leash", "flour dough yeast", "broth spoon salt"]
CONFIG = """
[by-hierseed]
name=hierseed behind Annif
language=en
backend=http
endpoint={address}/v1/projects/pets/suggest?token=a+secret
vocab=pets
limit=5
"""
VALIDATE = """
import json, sys, yaml, jsonschema, importlib.resources
text = importlib.resources.files("annif").joinpath("openapi/annif.yaml").read_text()
text = text.replace("#/components/schemas/", "#/definitions/")
schemas = yaml.safe_load(text)["components"]["schemas"]
def nullable(node):
    if isinstance(node, dict):
        node = {key: nullable(value) for key, value in node.items()}
        return {"anyOf": [node, {"type": "null"}]} if node.pop("nullable", False) else node
    return [nullable(one) for one in node] if isinstance(node, list) else node
definitions = nullable(schemas)
for name, answer in json.load(sys.stdin):
    schema = {"$ref": f"#/definitions/{name}", "definitions": definitions}
    jsonschema.Draft4Validator(schema).validate(answer)
"""


@pytest.fixture(scope="module")
def annif() -> Path:
    own = ROOT / ".doors" / "annif" / "bin" / "annif"
    found = str(own) if own.exists() else shutil.which("annif")
    if found is None:
        pytest.skip("Annif is not installed: make doors")
    return Path(found)


def ask(service: Any, path: str, **form: Any) -> httpx.Response:
    headers = {"authorization": "Bearer a secret"}
    if form:
        return httpx.post(f"{service.address}{path}", data=form, headers=headers, timeout=60)
    return httpx.get(f"{service.address}{path}", headers=headers, timeout=60)


def ask_batch(service: Any, texts: list[str], **query: Any) -> httpx.Response:
    body = {"documents": [{"text": text, "document_id": f"d{i}"} for i, text in enumerate(texts)]}
    headers = {"authorization": "Bearer a secret"}
    path = f"{service.address}/v1/projects/pets/suggest-batch"
    return httpx.post(path, json=body, params=query, headers=headers, timeout=60)


def test_annif_suggests_by_a_model_of_ours(annif: Path, service: Any, tmp_path: Path) -> None:
    Taxonomy.from_paths(PATHS).write(tmp_path / "topics.ttl", language="en")
    (tmp_path / "projects.cfg").write_text(CONFIG.format(address=service.address))

    def run(*words: str, text: str = "") -> str:
        found = subprocess.run(
            [str(annif), *words],
            cwd=tmp_path,
            input=text,
            capture_output=True,
            text=True,
            env=os.environ | {"ANNIF_DATADIR": str(tmp_path / "data")},
        )
        assert found.returncode == 0, found.stderr
        return found.stdout

    run("load-vocab", "pets", "topics.ttl")
    assert "True" in run("list-projects")  # it asks the service whether it is trained
    for text, path in zip(TEXTS, PATHS):
        uri, label, score = run("suggest", "by-hierseed", text=text).splitlines()[0].split("\t")
        assert uri == f"<urn:hierseed:{Taxonomy.from_paths(PATHS).index(path) + 1}>"
        assert label == path.rpartition(" > ")[2]
        own = ask(service, "/v1/projects/pets/suggest", text=text).json()["results"][0]
        assert float(score) == pytest.approx(own["score"], abs=1e-4)
    # Annif's own evaluation of documents with known subjects
    corpus = tmp_path / "gold.tsv"
    uris = [f"<urn:hierseed:{Taxonomy.from_paths(PATHS).index(path) + 1}>" for path in PATHS]
    corpus.write_text("".join(f"{t}\t{uri}\n" for t, uri in zip(TEXTS, uris)))
    report = run("eval", "--limit", "1", "by-hierseed", str(corpus))
    measured = dict(line.split(":") for line in report.splitlines() if ":" in line)
    precision = {name.strip(): value.strip() for name, value in measured.items()}
    assert float(precision["Precision (doc avg)"]) == 1.0


def test_answers_have_the_form_of_annif_s_description(annif: Path, service: Any) -> None:
    answers = [
        ("ApiInfo", ask(service, "/v1/")),
        ("VocabularyList", ask(service, "/v1/vocabs")),
        ("ProjectList", ask(service, "/v1/projects")),
        ("Project", ask(service, "/v1/projects/pets")),
        ("SuggestionResultList", ask(service, "/v1/projects/pets/suggest", text=TEXTS[0])),
        ("BatchSuggestionResultList", ask_batch(service, TEXTS)),
        ("Problem", ask(service, "/v1/projects/nothing")),
        ("Problem", ask(service, "/v1/projects/pets/suggest", limit=3)),
        ("Problem", ask(service, "/v1/projects/pets/suggest", text="a", language="fi")),
        ("Problem", ask(service, "/v1/projects/pets/learn", text="a")),
    ]
    assert [one.status_code for _, one in answers] == [200] * 6 + [404, 400, 400, 403]
    found = subprocess.run(
        [str(annif.parent / "python"), "-c", VALIDATE],
        input=json.dumps([(name, one.json()) for name, one in answers]),
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr


def test_limit_threshold_and_texts_that_can_t_be_used(service: Any) -> None:
    full = ask_batch(service, ["", *TEXTS]).json()
    assert full[0] == {"results": [], "document_id": "d0"}
    assert [one["results"][0]["label"] for one in full[1:]] == ["Cats", "Dogs", "Bread", "Soup"]
    short = ask_batch(service, TEXTS, limit=1).json()
    assert [one["results"] for one in short] == [one["results"][:1] for one in full[1:]]
    least = full[1]["results"][1]["score"]
    some = ask_batch(service, TEXTS[:1], threshold=least).json()[0]["results"]
    assert [one["score"] >= least for one in some] == [True, True]
    assert ask_batch(service, ["a"] * 33).status_code == 400
