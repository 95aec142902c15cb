"""What all screens share: a view as plain data, and named actions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from hierseed.app.project import Project
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

    @abstractmethod
    def view(self) -> dict[str, Any]:
        """Everything that the screen shows."""

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
    """Where a page stands among all."""
    count = max(1, -(-total // size))
    return {"page": min(max(page, 0), count - 1), "pages": count, "total": total, "size": size}
