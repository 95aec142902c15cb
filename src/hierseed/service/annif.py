"""Annif's REST interface: the model as one project, its taxonomy as one vocabulary.

The paths and schemas are those of Annif's OpenAPI description, version v1.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Query
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field

from hierseed.service.topic_service import TopicService

MOST = 32  # documents of a batch
Limit = Annotated[int, Query(ge=0)]
Threshold = Annotated[float, Query(ge=0, le=1)]


class Document(BaseModel):
    """A document of a batch."""

    text: str
    document_id: str | None = None
    metadata: dict[str, str] = {}


class Documents(BaseModel):
    """A batch."""

    documents: list[Document] = Field(max_length=MOST)


def routes(service: TopicService, language: str) -> APIRouter:
    """The paths under /v1."""
    router = APIRouter(prefix="/v1", tags=["Annif"])
    vocabulary = {
        "vocab_id": service.name,
        "languages": [language],
        "size": int((~service.taxonomy.is_other).sum()),
        "loaded": True,
    }
    project = {
        "project_id": service.name,
        "name": service.name,
        "language": language,
        "backend": {"backend_id": "hierseed"},
        "vocab": vocabulary,
        "vocab_language": language,
        "is_trained": True,
        "modification_time": None,
    }

    def suggestions(texts: list[str], limit: int, threshold: float) -> list[dict[str, Any]]:
        """Suggest topics for each text; one that can't be used gets none, as in Annif."""
        results: list[dict[str, Any]] = [{"results": []} for _ in texts]
        found = service.place(texts, skip=True).assignments if texts else None
        if found is None:
            return results
        for id, topics in zip(found.ids or (), service.ranked(found, limit)):
            results[int(id)]["results"] = [
                {
                    "uri": one["address"],
                    "label": one["topic"].rpartition(" > ")[2],
                    "notation": one["code"],
                    "score": one["score"],
                }
                for one in topics
                if one["score"] >= threshold
            ]
        return results

    def refusal(project_id: str, asked: str | None = None) -> Response | None:
        if project_id != service.name:
            return problem(404, "Project not found", f"Project '{project_id}' not found")
        if asked not in (None, "", language):
            return problem(400, "Bad Request", f'language "{asked}" not supported by vocabulary')
        return None

    @router.get("/")
    def show_info() -> dict[str, str]:
        from hierseed import __version__

        return {"title": "Annif REST API of hierseed", "version": __version__}

    @router.get("/vocabs")
    def list_vocabs() -> dict[str, Any]:
        return {"vocabs": [vocabulary]}

    @router.get("/projects")
    def list_projects() -> dict[str, Any]:
        return {"projects": [project]}

    @router.get("/projects/{project_id}")
    def show_project(project_id: str) -> Any:
        return refusal(project_id) or project

    @router.post("/projects/{project_id}/suggest")
    def suggest(
        project_id: str,
        text: Annotated[str, Form()],
        limit: Annotated[int, Form(ge=0)] = 10,
        threshold: Annotated[float, Form(ge=0, le=1)] = 0.0,
        language: Annotated[str | None, Form()] = None,
    ) -> Any:
        return refusal(project_id, language) or suggestions([text], limit, threshold)[0]

    @router.post("/projects/{project_id}/suggest-batch")
    def suggest_batch(
        project_id: str,
        body: Documents,
        limit: Limit = 10,
        threshold: Threshold = 0.0,
        language: str | None = None,
    ) -> Any:
        if refused := refusal(project_id, language):
            return refused
        found = suggestions([one.text for one in body.documents], limit, threshold)
        return [own | {"document_id": one.document_id} for own, one in zip(found, body.documents)]

    @router.post("/projects/{project_id}/learn")
    def learn(project_id: str) -> Any:
        return refusal(project_id) or problem(
            403,
            "Learning not allowed",
            "a hierseed model learns from its whole corpus: add seeds and fit again",
        )

    return router


def problem(status: int, title: str, detail: str) -> Response:
    """An error in the form that Annif's description asks for."""
    return JSONResponse(
        {"type": "about:blank", "title": title, "status": status, "detail": detail},
        status_code=status,
        media_type="application/problem+json",
    )
