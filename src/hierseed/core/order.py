"""Sort topics so that parents come first, or find the cycles that prevent it."""

from __future__ import annotations

from collections.abc import Sequence


def parents_first(parent: Sequence[int]) -> list[int]:
    """Order topics with parents before children; topics on a cycle are left out."""
    if all(p < i for i, p in enumerate(parent)):
        return list(range(len(parent)))
    below: dict[int, list[int]] = {}
    for topic, above in enumerate(parent):
        below.setdefault(above, []).append(topic)
    order: list[int] = []
    stack = below.get(-1, [])[::-1]
    while stack:
        topic = stack.pop()
        order.append(topic)
        stack.extend(below.get(topic, [])[::-1])
    return order


def cycles(parent: Sequence[int]) -> list[int]:
    """One topic of each cycle: the smallest id."""
    state = [0] * len(parent)  # 0 not visited, 1 on the current walk, 2 done
    heads = []
    for start in range(len(parent)):
        walk = []
        topic = start
        while topic >= 0 and state[topic] == 0:
            state[topic] = 1
            walk.append(topic)
            topic = parent[topic]
        if topic >= 0 and state[topic] == 1:
            heads.append(min(walk[walk.index(topic) :]))
        for topic in walk:
            state[topic] = 2
    return heads
