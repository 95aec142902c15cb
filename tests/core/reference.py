"""HierSeed as we run it, written the slow rule, to check the fast one against.

Plain loops over topics, documents and triples in float64; nothing is shared with the package.
A taxonomy is a list of parents; a fit is the dict of everything it learned.
"""

from itertools import combinations

import numpy as np


def children_of(parent, topic):
    return [i for i, p in enumerate(parent) if p == topic]


def level_of(parent, topic):
    return 0 if topic < 0 else 1 + level_of(parent, parent[topic])


def distance(a, b):
    return float(np.sqrt(((a - b) ** 2).sum()))


def sphere_centre(documents, children, tolerance):
    """Try every document with every triple of children (pairs where there are two)."""
    found = []
    for document in documents:
        lengths = sorted(distance(document, child) for child in children)
        size = min(3, len(lengths))
        groups = [lengths[:size]] if tolerance == "empty" else combinations(lengths, size)
        found.append(min((max(g) - min(g), sum(g) / size) for g in groups))
    spreads = np.array([spread for spread, _ in found])
    limit = 10 * spreads.min()
    if tolerance == "deviation":
        limit = max(spreads.min(), spreads.mean() - spreads.std())
    best = max((r, i) for i, (s, r) in enumerate(found) if s <= limit)
    return documents[best[1]]


def other_child(topic, children, spelling):
    units = [(c - topic) / distance(c, topic) for c in children if distance(c, topic) > 1e-8]
    if not units:
        return None
    eta = sum(units) / len(children)
    size = np.linalg.norm(eta)
    if size < 1e-9:
        return None
    length = np.linalg.norm(np.mean(children, axis=0) - topic)
    if spelling == "printed":
        length *= len(children) * size
    return topic - eta / size * length


def fit(X, parent, seeds, *, pivot=1, self_weight=1.0, self_weight_step=0.0, les_weight=4.0,
        child_factor=2.0, sibling_factor=1.0, alpha=1.1, eccentricity=None,
        tolerance="ratio", spelling="text", other=True, rounds=20, tol=1e-4,
        lloyd=100):  # fmt: skip
    """`seeds`: {topic: [rows]}."""
    X, parent = np.asarray(X, dtype=np.float64), list(parent)
    vectors = {t: X[rows].mean(axis=0) for t, rows in seeds.items()}
    for topic in range(len(parent) - 1, -1, -1):
        if topic not in vectors:
            vectors[topic] = np.mean([vectors[c] for c in children_of(parent, topic)], axis=0)
    best, sets, history = None, {}, []
    for number in range(rounds):
        vectors = dict(vectors)
        for level in range(max(level_of(parent, t) for t in range(len(parent))) - 1, 0, -1):
            for topic in [t for t in range(len(parent)) if level_of(parent, t) == level]:
                kids = [vectors[c] for c in children_of(parent, topic)]
                if not kids:
                    continue
                terms, weights = [np.mean(kids, axis=0)], [1.0]
                if level >= pivot:
                    terms.append(vectors[topic])
                    weights.append(self_weight + number * self_weight_step)
                    if les_weight and len(kids) > 1 and len(sets.get(topic, [])):
                        terms.append(sphere_centre(X[sets[topic]], kids, tolerance))
                        weights.append(les_weight)
                vectors[topic] = np.average(terms, axis=0, weights=weights)
        if number == 0 and other:
            add_others(X, parent, vectors, pivot, tolerance, spelling)
        pivots = pivot_topics(parent, pivot)
        radii = reach(X, parent, vectors, pivots, child_factor, sibling_factor, alpha)
        sets = place(X, parent, vectors, radii, eccentricity)
        for topic in range(len(parent)):  # parents come first
            kids = children_of(parent, topic)
            if topic in sets and kids:
                split(X, sets, vectors, topic, kids, lloyd)
        cost, placements = objective(X, parent, vectors, pivots, sets)
        history.append(cost)
        state = {
            "vectors": np.array([vectors[t] for t in range(len(parent))]),
            "radii": radii, "parent": list(parent), "sets": sets, "cost": cost,
            "mean": cost / placements, "history": history,
        }  # fmt: skip
        if best is None or state["mean"] < best["mean"]:
            before, best = best, state
        else:
            break
        if before is not None and state["mean"] >= before["mean"] * (1 - tol):
            break
    return best


def pivot_topics(parent, pivot):
    return [
        t for t in range(len(parent))
        if level_of(parent, t) == pivot
        or (level_of(parent, t) < pivot and not children_of(parent, t))
    ]  # fmt: skip


def add_others(X, parent, vectors, pivot, tolerance, spelling):
    listed = list(range(len(parent)))
    above = [-1] if pivot == 1 else [t for t in listed if level_of(parent, t) == pivot - 1]
    at_pivot = [t for t in listed if level_of(parent, t) == pivot]
    new = []
    for topic in above:
        kids = children_of(parent, topic)
        if not kids:
            continue
        near = [
            x for x in X
            if min(at_pivot, key=lambda t: distance(x, vectors[t])) in kids
        ]  # fmt: skip
        points = [vectors[c] for c in kids]
        own = np.mean(points, axis=0)
        if len(kids) > 1 and near:
            own = sphere_centre(np.array(near), points, tolerance)
        new.append((topic, other_child(own, points, spelling)))
    for topic in listed:
        kids = children_of(parent, topic)
        if kids and level_of(parent, topic) >= pivot:
            new.append((topic, other_child(vectors[topic], [vectors[c] for c in kids], spelling)))
    for topic, vector in new:
        if vector is not None:
            vectors[len(parent)] = vector
            parent.append(topic)


def reach(X, parent, vectors, pivots, child_factor, sibling_factor, alpha):
    radii = {}
    for topic in pivots:
        kids = children_of(parent, topic)
        furthest = max([distance(vectors[topic], vectors[c]) for c in kids], default=0.0)
        siblings = [t for t in children_of(parent, parent[topic]) if t != topic]
        bounds = siblings or [t for t in pivots if t != topic]
        gaps = [distance(vectors[topic], vectors[t]) for t in bounds]
        if furthest > 1e-8:
            radii[topic] = child_factor * furthest
        else:
            radii[topic] = sibling_factor * min(gaps, default=np.inf)
        nearest = min(distance(x, vectors[topic]) for x in X)
        if radii[topic] < nearest <= 2 * radii[topic]:
            radii[topic] = alpha * nearest
    return radii


def place(X, parent, vectors, radii, eccentricity):
    sets = {topic: [] for topic in radii}
    for row, x in enumerate(X):
        near = {t: distance(x, vectors[t]) for t in radii if distance(x, vectors[t]) <= radii[t]}
        for topic, d in near.items():
            rivals = [r for r in near if r != topic and parent[r] == parent[topic]]
            if eccentricity is None:
                keep = all((d, topic) < (near[r], r) for r in rivals)
            else:
                keep = True
                for rival in rivals:
                    gap = distance(vectors[topic], vectors[rival])
                    overlap = radii[topic] + radii[rival] - gap
                    keep &= d <= gap - radii[rival] + eccentricity * overlap
            if keep:
                sets[topic].append(row)
    return sets


def split(X, sets, vectors, topic, kids, iterations):
    rows, before = sets[topic], None
    for _ in range(iterations):
        now = [min(kids, key=lambda c: (distance(X[row], vectors[c]), c)) for row in rows]
        if now == before:
            break
        before = now
        for kid in kids:
            mine = [row for row, k in zip(rows, now) if k == kid]
            if mine:
                vectors[kid] = X[mine].mean(axis=0)
    for kid in kids:
        sets[kid] = [row for row, k in zip(rows, now) if k == kid]


def objective(X, parent, vectors, pivots, sets):
    height = max(level_of(parent, t) for t in range(len(parent)))

    def weight(topic):
        level = level_of(parent, topic)
        return level if children_of(parent, topic) else sum(range(level, height + 1))

    cost, placements = 0.0, sum(len(sets[t]) for t in pivots)
    for topic, rows in sets.items():
        cost += sum(weight(topic) * distance(X[r], vectors[topic]) ** 2 for r in rows)
    covered = {row for t in pivots for row in sets[t]}
    for row in set(range(len(X))) - covered:
        placements += 1
        topic = min(pivots, key=lambda t: distance(X[row], vectors[t]))
        while True:
            cost += weight(topic) * distance(X[row], vectors[topic]) ** 2
            kids = children_of(parent, topic)
            if not kids:
                break
            topic = min(kids, key=lambda c: distance(X[row], vectors[c]))
    return cost, placements
