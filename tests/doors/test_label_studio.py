"""Label Studio's ML-backend protocol; predictions are judged by Label Studio's own SDK.

The SDK pins versions of its own, so it lives in an environment of its own: `make doors` makes it.
"""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

ROOT = Path(__file__).resolve().parents[2]
SECRET = "a secret"
TEXTS = ["kitten purr whiskers", "puppy bark leash", "", "flour dough yeast", "broth spoon salt"]
PATHS = [["Animals", "Cats"], ["Animals", "Dogs"], None, ["Food", "Bread"], ["Food", "Soup"]]
VALIDATE = """
import json, sys
from label_studio_sdk.label_interface import LabelInterface
config, predictions = json.load(sys.stdin)
interface = LabelInterface(config)
faults = [interface.validate_prediction(one, return_errors=True) for one in predictions]
print(json.dumps([fault for some in faults for fault in some]))
"""


def page() -> str:
    text = (ROOT / "docs" / "doors" / "label_studio.md").read_text(encoding="utf-8")
    (config,) = re.findall(r"^```xml\n(.*?)^```", text, re.S | re.M)
    return config


def choices(inside: str, tag: str = "Choices", options: str = "") -> str:
    return (
        f'<View><Text name="text" value="$text"/><{tag} name="topic" toName="text" {options}>'
        f"{inside}</{tag}></View>"
    )


LEAVES = "".join(f'<Choice value="{path[-1]}"/>' for path in PATHS if path)
CONFIGURATIONS: dict[str, tuple[str, list[Any]]] = {
    "the taxonomy of the page": (page(), [[path] if path else None for path in PATHS]),
    "a taxonomy cut at level 1": (
        choices('<Choice value="Animals"/><Choice value="Food"/>', "Taxonomy"),
        [[path[:1]] if path else None for path in PATHS],
    ),
    "a taxonomy with aliases": (
        choices(
            '<Choice value="Animals" alias="A"><Choice value="Cats" alias="c"/></Choice>',
            "Taxonomy",
        ),
        [[["A", "c"]], [["A"]], None, None, None],
    ),
    "choices of last names": (choices(LEAVES), [[path[-1]] if path else None for path in PATHS]),
    "choices of paths with an alias": (
        choices('<Choice value="Animals &gt; Cats" alias="cats"/><Choice value="Food"/>'),
        [["cats"], None, None, ["Food"], ["Food"]],
    ),
}


def post(service: Any, path: str, body: dict[str, Any]) -> httpx.Response:
    return httpx.post(
        f"{service.address}{path}", json=body, auth=("label studio", SECRET), timeout=60
    )


def request(config: str) -> dict[str, Any]:
    """What Label Studio 1.23 sends."""
    tasks = [{"id": i, "data": {"text": text, "id": f"d{i}"}} for i, text in enumerate(TEXTS)]
    params = {"login": None, "password": None, "context": None}
    return {"tasks": tasks, "project": "1.1700000000", "label_config": config, "params": params}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_predictions_name_topics_that_the_configuration_lists(service: Any, name: str) -> None:
    config, expected = CONFIGURATIONS[name]
    answer = post(service, "/predict", request(config)).json()
    kind = "choices" if "<Choices" in config else "taxonomy"
    found = [
        one["result"][0]["value"][kind] if one["result"] else None for one in answer["results"]
    ]
    assert found == expected
    assert all(0 < one["score"] <= 1 for one in answer["results"] if one["result"])
    assert answer["model_version"].startswith("pets-")


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_the_sdk_of_label_studio_accepts_the_predictions(service: Any, name: str) -> None:
    python = ROOT / ".doors" / "label-studio" / "bin" / "python"
    if not python.exists():
        pytest.skip("Label Studio's SDK is not installed: make doors")
    config, _ = CONFIGURATIONS[name]
    predictions = post(service, "/predict", request(config)).json()["results"]

    def judged(some: list[Any]) -> list[str]:
        found = subprocess.run(
            [str(python), "-c", VALIDATE],
            input=json.dumps([config, some]),
            capture_output=True,
            text=True,
        )
        assert found.returncode == 0, found.stderr
        faults: list[str] = json.loads(found.stdout)
        return faults

    full = [one for one in predictions if one["result"]]
    assert judged(full) == []
    broken = json.loads(json.dumps(full[0]))
    broken["result"][0]["from_name"] = "elsewhere"
    assert judged([broken])  # the judge can say no


def test_health_setup_versions_and_events(service: Any) -> None:
    auth = ("label studio", SECRET)
    assert httpx.get(f"{service.address}/health", auth=auth).json()["status"] == "UP"
    body = {"project": "1.1700000000", "schema": page(), "hostname": "http://localhost:8080",
            "access_token": "key", "extra_params": None}  # fmt: skip
    version = post(service, "/setup", body).json()["model_version"]
    assert httpx.get(f"{service.address}/versions", auth=auth).json() == {"versions": [version]}
    event = post(service, "/webhook", {"action": "ANNOTATION_CREATED", "annotation": {}})
    assert event.status_code == 201


@pytest.mark.parametrize(
    ("config", "told"),
    [
        (None, "no labelling configuration was sent"),
        ("<View", "is no XML"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><View/>', "DOCTYPE or an entity"),
        ('<View><Image name="i" value="$i"/></View>', "no Taxonomy or Choices for a Text"),
    ],
)
def test_a_configuration_that_can_t_be_used_is_reported(
    service: Any, config: str | None, told: str
) -> None:
    answer = post(service, "/predict", request(config or "") | {"label_config": config})
    assert answer.status_code == 422
    assert told in answer.json()["error"]["message"]


def test_a_setup_without_a_single_known_topic_is_refused(service: Any) -> None:
    config = choices('<Choice value="Cars"/><Choice value="Boats"/>')
    answer = post(service, "/setup", {"project": "1.1", "schema": config})
    assert answer.status_code == 422
    assert "none of the values of 'topic' is a topic" in answer.json()["error"]["message"]


def test_html_is_read_without_its_tags(service: Any) -> None:
    config = '<View><HyperText name="h" value="$html"/>' + (
        f'<Choices name="topic" toName="h">{LEAVES}</Choices></View>'
    )
    tasks = [{"data": {"html": "<p>kitten <b>purr</b> whiskers</p>"}}]
    found = post(service, "/predict", {"tasks": tasks, "label_config": config}).json()["results"]
    plain = post(service, "/predict", request(choices(LEAVES))).json()["results"][0]
    assert found[0]["result"][0]["value"] == {"choices": ["Cats"]}
    assert found[0]["score"] == pytest.approx(plain["score"], abs=0.02)
