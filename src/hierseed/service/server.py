"""Our own interface under /api: place single documents and batches; errors are data."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from hierseed import __version__
from hierseed.errors import HierSeedError, InputError, word
from hierseed.io.records.rows import Fault
from hierseed.service import annif, label_studio
from hierseed.service.topic_service import TopicService

DESCRIPTION = (
    "Place texts in the topics of a hierseed model. Errors have the form of `Problem`. The paths "
    "under /v1 speak Annif's REST interface; /health, /setup, /predict, /webhook and /versions "
    "speak the ML-backend protocol of Label Studio."
)
Threshold = Annotated[
    float | None,
    Field(ge=0, le=1, description="Stop at the deepest topic whose score reaches this."),
]
Level = Annotated[int | None, Field(ge=1, description="Go no deeper than this level.")]
Top = Annotated[int, Field(ge=0, le=5, description="Give this many most probable topics too.")]


class Strict(BaseModel):
    """Refuses unknown fields, so that typing errors are noticed."""

    model_config = ConfigDict(extra="forbid")


class Options(Strict):
    """How documents are placed."""

    threshold: Threshold = None
    level: Level = None
    top: Top = 0


class Single(Options):
    """One text."""

    text: str = Field(examples=["A court rules on the budget."])


class OneDocument(Strict):
    """A text with an id of its own."""

    id: str
    text: str


class Batch(Options):
    """Several documents: texts, or texts with ids. Texts alone are numbered from 0."""

    documents: list[str] | list[OneDocument] = Field(min_length=1)
    on_error: Literal["stop", "skip"] = Field(
        "stop", description="What to do where a document can't be used: stop, or leave it out."
    )


class Topic(BaseModel):
    """A topic with a probability."""

    topic: str
    code: str | None
    address: str
    score: float | None


class PlacedDocument(BaseModel):
    """The placement of a document; as the table of `hierseed assign`."""

    id: str
    topic: str | None = Field(description="The deepest topic; null where the document is None.")
    levels: list[str] = Field(description="The path down to each level.")
    code: str | None
    address: str | None
    distance: float | None
    score: float | None = Field(description="Probability that the placement is right.")
    belongs: float | None = Field(description="Probability that it belongs to any listed topic.")
    runner_up: str | None
    is_other: bool
    is_none: bool
    is_seed: bool
    also: list[Topic] = Field(description="Further topics of the document.")
    top: list[Topic] | None = None


class LeftOut(BaseModel):
    """A document that could not be used."""

    row: int = Field(description="Its place in the request, from 0.")
    message: str


class PlacedBatch(BaseModel):
    """Documents in the order of the request, less those left out."""

    documents: list[PlacedDocument]
    left_out: list[LeftOut]


class TopicEntry(BaseModel):
    """A topic of the taxonomy."""

    path: str
    code: str | None
    address: str
    description: str | None
    is_other: bool


class Model(BaseModel):
    """The model that is served."""

    name: str
    version: str
    method: str
    embedder: str
    topics: int
    levels: int
    documents: int | None = Field(description="Documents of the corpus it was fitted on.")


class Problem(BaseModel):
    """An error: the fault, and what to do."""

    kind: str
    message: str
    advice: str = ""
    faults: list[LeftOut] = []


class Refusal(BaseModel):
    """The body of every error."""

    error: Problem


REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Refusal, "description": text}
    for status, text in {
        401: "The token is missing or wrong.",
        413: "The request is too large.",
        422: "The request or a document can't be used.",
    }.items()
}


def build(service: TopicService, *, language: str = "en") -> FastAPI:
    """Make the application for one model."""
    app = FastAPI(
        title="hierseed",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,  # its page loads scripts of another site
        redoc_url=None,
        responses=REFUSALS,
    )
    app.add_exception_handler(HierSeedError, _refuse)
    app.add_exception_handler(RequestValidationError, _refuse_form)

    @app.get("/", include_in_schema=False)
    def links() -> dict[str, str]:
        return {
            "status": "UP",
            "model": service.version,
            "openapi": "/openapi.json",
            "place": "/api/assign",
        }

    @app.get("/api/model", summary="What is served")
    def model() -> Model:
        taxonomy = service.taxonomy
        return Model(
            name=service.name,
            version=service.version,
            method=type(service.model.estimator).__name__,
            embedder=service.model.embedder.name,
            topics=len(taxonomy),
            levels=taxonomy.tree.height,
            documents=service.model.about.get("documents"),
        )

    @app.get("/api/topics", summary="The taxonomy")
    def topics() -> list[TopicEntry]:
        taxonomy = service.taxonomy
        return [
            TopicEntry(
                path=path,
                code=taxonomy.codes[topic] or None,
                address=service.address(topic),
                description=taxonomy.descriptions[topic] or None,
                is_other=bool(taxonomy.is_other[topic]),
            )
            for topic, path in enumerate(taxonomy.paths)
        ]

    @app.post("/api/assign", summary="Place several documents")
    def assign(batch: Batch) -> PlacedBatch:
        own = [one for one in batch.documents if isinstance(one, OneDocument)]
        found = service.place(
            [one.text for one in own] or [str(text) for text in batch.documents],
            [one.id for one in own] or None,
            skip=batch.on_error == "skip",
            threshold=batch.threshold,
            level=batch.level,
        )
        placed = found.assignments
        return PlacedBatch(
            documents=[
                PlacedDocument(**one)
                for one in ([] if placed is None else service.listed(placed, batch.top))
            ],
            left_out=[_left_out(fault) for fault in found.faults],
        )

    @app.post("/api/assign/single", summary="Place one text")
    def assign_single(single: Single) -> PlacedDocument:
        found = service.place([single.text], threshold=single.threshold, level=single.level)
        assert found.assignments is not None  # nothing is skipped
        return PlacedDocument(**service.listed(found.assignments, single.top)[0])

    app.include_router(annif.routes(service, language))
    app.include_router(label_studio.routes(service))
    return app


def as_json(fault: HierSeedError) -> dict[str, Any]:
    """An error of the library as data; its advice names fields of the request."""
    message = fault.message
    if isinstance(fault, InputError):
        message = fault.worded(_wording)
    error = {"kind": type(fault).__name__, "message": message.strip()}
    return {"error": error | {"advice": word(fault.advice, _wording), "faults": []}}


def _wording(name: str, value: str) -> str:
    return f'"{name}": "{value}"' if value else f'"{name}"'


def _left_out(fault: Fault) -> LeftOut:
    detail = f" ({fault.detail})" if fault.detail else ""
    return LeftOut(row=fault.line - 1, message=f"{fault.kind}{detail}")


def _refuse(request: Request, fault: Exception) -> Response:
    assert isinstance(fault, HierSeedError)
    return JSONResponse(as_json(fault), status_code=422)


def _refuse_form(request: Request, fault: Exception) -> Response:
    """Report every invalid field of a request."""
    assert isinstance(fault, RequestValidationError)
    lines = [
        f"{'.'.join(str(part) for part in one['loc'] if part != 'body') or 'body'}: {one['msg']}"
        for one in fault.errors()
    ]
    message = f"the request can't be read: {'; '.join(lines)}"
    if request.url.path.startswith("/v1/"):
        return annif.problem(400, "Bad Request", message)
    error = {
        "kind": "RequestError",
        "message": message,
        "advice": "See /openapi.json for what each path takes",
        "faults": [],
    }
    return JSONResponse({"error": error}, status_code=422)
