"""The base class of all screens: a view as plain data, and named actions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from hierseed.app.project import Project
from hierseed.app.store.actions import Person
from hierseed.errors import ProjectError

if TYPE_CHECKING:
    from hierseed.app.pages.session import Session

PAGE = 12  # documents on one page


class Screen(ABC):
    """One step of the work.

    An action is a method `do_NAME`; its keywords come from the browser, so it checks them.
    """

    name: ClassVar[str]
    title: ClassVar[str]

    def __init__(self, session: Session) -> None:
        self.session = session

    @property
    def project(self) -> Project:
        """The project that is open."""
        return self.session.project

    @property
    def person(self) -> Person:
        """The person who acts."""
        return self.session.person

    @abstractmethod
    def view(self) -> dict[str, Any]:
        """Everything that the screen shows."""

    def selected(self) -> None:  # noqa: B027 - most screens keep nothing about a topic
        """Another topic was selected."""

    def where(self) -> dict[str, Any]:
        """The query of the address that shows the same again."""
        return {}

    def restore(self, query: Mapping[str, str]) -> None:  # noqa: B027 - see `where`
        """Show what the address says."""

    def act(self, do: str, arguments: dict[str, Any]) -> None:
        """Run one action by its name."""
        action = getattr(self, f"do_{do}", None)
        if action is None:
            raise ProjectError(f"the page asked for {do!r}, which is not known. Reload the page")
        action(**arguments)

    def topic_id(self, key: str | None = None) -> int:
        """The id for life behind a key; Other and None have none."""
        key = self.session.key if key is None else str(key)
        if not key.isdigit():
            raise ProjectError("choose a topic of your taxonomy in the tree first")
        return int(key)


def pages(total: int, page: int, size: int = PAGE) -> dict[str, int]:
    """The position of a page among all."""
    count = max(1, -(-total // size))
    return {"page": min(max(page, 0), count - 1), "pages": count, "total": total, "size": size}


def number_in(query: Mapping[str, str], name: str) -> int:
    """A number of an address, 0 where there is none."""
    value = query.get(name, "")
    return int(value) if value.isdigit() else 0
