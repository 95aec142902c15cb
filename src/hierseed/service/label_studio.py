"""The ML-backend protocol of Label Studio: topics are suggested while people label.

The labelling configuration says where the text is and which tag takes topics: a `Taxonomy`, or
`Choices` whose values are paths or last names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from fastapi import APIRouter
from pydantic import BaseModel

from hierseed.errors import ParameterError, name_some
from hierseed.io.html_text import strip_html
from hierseed.service.topic_service import TopicService
from hierseed.topics import SEPARATOR

TEXTS = ("Text", "HyperText")
TOPICS = ("Taxonomy", "Choices")
EXAMPLE = (
    '<View><Text name="text" value="$text"/><Taxonomy name="topic" toName="text"> … '
    "</Taxonomy></View>"
)


class Tasks(BaseModel):
    """Tasks to suggest topics for."""

    tasks: list[dict[str, Any]]
    label_config: str | None = None

    model_config = {"extra": "allow"}


@dataclass(frozen=True)
class Configuration:
    """The field of the text, and the tag that takes topics.

    Attributes
    ----------
    control, kind : name and tag of what takes topics
    target, key : name of the text, and where a task has it
    is_html : the text is HTML
    several : a document may have several topics
    listed : for each topic that the tag lists, its value; empty where the tag gets its topics
        from elsewhere
    """

    control: str
    kind: str
    target: str
    key: str
    is_html: bool
    several: bool
    listed: dict[str, list[str] | str] = field(default_factory=dict)

    @classmethod
    def read(cls, xml: str | None) -> Configuration:
        """Read a labelling configuration."""
        root = _parsed(xml)
        texts = {
            tag.get("name", ""): tag
            for tag in root.iter()
            if tag.tag in TEXTS and tag.get("value", "").startswith("$")
        }
        for tag in root.iter():
            target = tag.get("toName", "")
            if tag.tag in TOPICS and target in texts:
                return cls(
                    tag.get("name", ""),
                    tag.tag,
                    target,
                    texts[target].get("value", "")[1:],
                    texts[target].tag == "HyperText",
                    tag.tag == "Taxonomy" or tag.get("choice") == "multiple",
                    dict(_listed(tag)),
                )
        raise ParameterError(
            f"the labelling configuration has no Taxonomy or Choices for a Text: such as {EXAMPLE}"
        )

    def text(self, task: dict[str, Any]) -> str:
        """The text of a task; "" where it has none."""
        value = (task.get("data") or {}).get(self.key)
        text = value if isinstance(value, str) else ""
        return strip_html(text) if self.is_html else text

    def value(self, names: Iterable[str]) -> list[str] | str | None:
        """The value of a topic for the tag: of the deepest one on the path that it lists."""
        path = list(names)
        if not self.listed:
            return path if self.kind == "Taxonomy" else SEPARATOR.join(path)
        for end in range(len(path), 0, -1):
            for key in (SEPARATOR.join(path[:end]), path[end - 1]):
                if key in self.listed:
                    return self.listed[key]
        return None

    def result(self, paths: list[list[str]]) -> list[dict[str, Any]]:
        """The regions of a prediction; empty where the tag lists none of the topics."""
        values = [value for path in paths if (value := self.value(path)) is not None]
        unique = [value for i, value in enumerate(values) if value not in values[:i]]
        if not unique:
            return []
        kind = self.kind.lower()
        return [
            {
                "from_name": self.control,
                "to_name": self.target,
                "type": kind,
                "value": {kind: unique if self.several else unique[:1]},
            }
        ]


def routes(service: TopicService) -> APIRouter:
    """The paths that Label Studio calls."""
    router = APIRouter(tags=["Label Studio"])

    @router.get("/health")
    def health() -> dict[str, str]:
        return {"status": "UP", "model_class": "hierseed", "model_version": service.version}

    @router.post("/setup")
    def setup(given: dict[str, Any]) -> dict[str, str]:
        if xml := given.get("schema"):
            found = Configuration.read(str(xml))
            known = {path for full in service.taxonomy.paths for path in _endings(full)}
            if found.listed and not known & set(found.listed):
                raise ParameterError(
                    f"none of the values of {found.control!r} is a topic of the model: "
                    f"{name_some(found.listed)}. Topics are such as "
                    f"{name_some(service.taxonomy.paths[:3])}"
                )
        return {"model_version": service.version}

    @router.post("/predict")
    def predict(given: Tasks) -> dict[str, Any]:
        found = Configuration.read(given.label_config)
        predictions = _predictions(service, found, given.tasks)
        return {"results": predictions, "model_version": service.version}

    @router.post("/webhook", status_code=201)
    def webhook(event: dict[str, Any]) -> dict[str, Any]:
        """Take note of an event; a model learns from its whole corpus, by `hierseed fit`."""
        return {"action": event.get("action"), "trained": False}

    @router.get("/versions")
    @router.post("/versions")
    def versions() -> dict[str, list[str]]:
        return {"versions": [service.version]}

    return router


def _predictions(
    service: TopicService, configuration: Configuration, tasks: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """One prediction per task, in order; a task without a text or a topic has an empty one."""
    results: list[dict[str, Any]] = [
        {"result": [], "score": 0.0, "model_version": service.version} for _ in tasks
    ]
    texts = [configuration.text(task) for task in tasks]
    found = service.place(texts, skip=True).assignments if texts else None
    if found is None:
        return results
    names = service.taxonomy.names
    numbers = [int(id) for id in found.ids or ()]
    paths: dict[int, list[list[str]]] = {number: [] for number in numbers}
    for row, path in zip(found.row.tolist(), found.path.tolist()):
        listed = [t for t in path if t >= 0 and not service.taxonomy.is_other[t]]
        if listed:
            paths[numbers[row]].append([names[topic] for topic in listed])
    scores = found.at(found.score)[found.primary].tolist()
    for number, score in zip(numbers, scores):
        results[number]["result"] = configuration.result(paths[number])
        results[number]["score"] = score if results[number]["result"] else 0.0
    return results


def _parsed(xml: str | None) -> ElementTree.Element:
    """Parse without entities, which could grow beyond all bounds."""
    if not xml:
        raise ParameterError(f"no labelling configuration was sent: such as {EXAMPLE}")
    if "<!" in xml.replace("<!--", ""):
        raise ParameterError("the labelling configuration has a DOCTYPE or an entity: remove it")
    try:
        return ElementTree.fromstring(xml)
    except ElementTree.ParseError as fault:
        raise ParameterError(f"the labelling configuration is no XML ({fault})") from None


def _listed(
    tag: ElementTree.Element, above: tuple[str, ...] = (), stored: tuple[str, ...] = ()
) -> Iterator[tuple[str, list[str] | str]]:
    """Paths of the choices, with what Label Studio stores for each: aliases, where there are."""
    for choice in tag.findall("Choice"):
        own = choice.get("value", "")
        path, kept = (*above, own), (*stored, choice.get("alias") or own)
        yield SEPARATOR.join(path), kept[-1] if tag.tag == "Choices" else list(kept)
        if tag.tag != "Choices":
            yield from _listed(choice, path, kept)


def _endings(path: str) -> tuple[str, str]:
    return path, path.rpartition(SEPARATOR)[2]
