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


def chains_of_cycles(above: Sequence[Sequence[int]]) -> list[list[int]]:
    """Find one chain per cycle met on a walk up from each topic, without recursion."""
    state = [0] * len(above)  # 0 unseen, 1 on the walk, 2 done
    cycles = []
    for start in range(len(above)):
        if state[start]:
            continue
        state[start] = 1
        walk, waiting = [start], [iter(above[start])]
        while walk:
            higher = next(waiting[-1], None)
            if higher is None:
                state[walk.pop()] = 2
                waiting.pop()
            elif state[higher] == 1:
                cycles.append(walk[walk.index(higher) :])
            elif state[higher] == 0:
                state[higher] = 1
                walk.append(higher)
                waiting.append(iter(above[higher]))
    return cycles
