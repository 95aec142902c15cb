"""The current taxonomy: a `Taxonomy`, and the id that each topic keeps for life."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from hierseed.app.project import Project
from hierseed.errors import ProjectError
from hierseed.taxonomy import Taxonomy

FIELDS = (
    "id", "parent", "name", "description", "code", "include", "exclude", "notes", "position",
    "state", "merged_into",
)  # fmt: skip


@dataclass(frozen=True)
class Topic:
    """One row of the table, whatever its state."""

    id: int
    parent: int | None
    name: str
    description: str
    code: str
    include: str
    exclude: str
    notes: str
    position: int
    state: str
    merged_into: int | None
    version: int


@dataclass(frozen=True)
class Topics:
    """The live topics, parents first: `ids[i]` is the id for life of topic i of `taxonomy`."""

    taxonomy: Taxonomy
    ids: tuple[int, ...]
    home: dict[int, int]  # where topics that were merged now live; live ones map to themselves

    @cached_property
    def place(self) -> dict[int, int]:
        """From an id for life to the number in `taxonomy`; merged topics included."""
        number = {id: i for i, id in enumerate(self.ids)}
        return {id: number[home] for id, home in self.home.items()}

    @cached_property
    def _families(self) -> dict[int, list[int]]:
        families: dict[int, list[int]] = {}
        for id, home in self.home.items():
            families.setdefault(home, []).append(id)
        return families

    def family(self, id: int) -> list[int]:
        """The id itself and those of all topics that were merged into it."""
        return self._families.get(id, [id])

    def path(self, id: int) -> str:
        """`A > B > C`."""
        return self.taxonomy.paths[self.place[id]]


def current(project: Project) -> Topics:
    """Return the live taxonomy, siblings in their order; read again only after a change."""
    # Each change of a topic raises its version, so the sum never returns to an earlier value.
    state = project.db.execute("SELECT count(*), total(version) FROM topic").fetchone()
    topics: Topics = project.remember("topics", state, lambda: _read(project))
    return topics


def _read(project: Project) -> Topics:
    rows = every(project)
    below: dict[int | None, list[Topic]] = {}
    for topic in sorted(rows.values(), key=lambda t: (t.position, t.id)):
        if topic.state == "live":
            below.setdefault(topic.parent, []).append(topic)
    order: list[Topic] = []
    stack = below.get(None, [])[::-1]
    while stack:
        topic = stack.pop()
        order.append(topic)
        stack.extend(below.get(topic.id, [])[::-1])
    number = {topic.id: i for i, topic in enumerate(order)}
    taxonomy = Taxonomy(
        [topic.name for topic in order],
        [-1 if topic.parent is None else number[topic.parent] for topic in order],
        codes=[topic.code for topic in order],
        descriptions=[topic.description for topic in order],
    )
    home = {}
    for id in rows:
        end = id
        while rows[end].state == "merged" and rows[end].merged_into is not None:
            end = rows[end].merged_into or end
        if end in number:
            home[id] = end
    return Topics(taxonomy, tuple(topic.id for topic in order), home)


def every(project: Project) -> dict[int, Topic]:
    """All topics there ever were, by id."""
    return {
        row[0]: Topic(*row)
        for row in project.db.execute(f"SELECT {', '.join(FIELDS)}, version FROM topic")
    }


def get(project: Project, id: int) -> Topic:
    """One live topic; one that is gone is refused, with what became of it."""
    row = project.db.execute(
        f"SELECT {', '.join(FIELDS)}, version FROM topic WHERE id = ?", (id,)
    ).fetchone()
    if row is None:
        raise ProjectError(f"no topic with the id {id}. Reload the page")
    topic = Topic(*row)
    if topic.state != "live":
        raise ProjectError(
            f"the topic {topic.name!r} was {topic.state} meanwhile. Reload the page, or undo that"
        )
    return topic


def children(project: Project, id: int | None) -> list[Topic]:
    """Live children in order; None asks for level 1."""
    rows = project.db.execute(
        f"SELECT {', '.join(FIELDS)}, version FROM topic "
        "WHERE parent IS ? AND state = 'live' ORDER BY position, id",
        (id,),
    )
    return [Topic(*row) for row in rows]
