"""HierSeed from the text of the paper alone, as slowly as it is written there.

Numbers of equations are the paper's. Where it is silent: an inner topic without seeds starts at
the mean of its children, the own vector has weight 1, the root is level 0 and the pivot level 1,
and the sphere at the root looks at all documents.
"""

from itertools import combinations

import numpy as np

SELF, SPHERE, ALPHA = 1.0, 4.0, 1.1
ROUNDING = 1e-9  # lengths that differ by less are equal


def far(a, b):
    return float(np.linalg.norm(np.asarray(a) - np.asarray(b)))


class Paper:
    """`parent` lists the parent of each topic, -1 for the root's children."""

    def __init__(self, X, parent, seeds):
        self.X, self.parent = X, list(parent)
        self.c = {t: X[rows].mean(axis=0) for t, rows in seeds.items()}
        for topic in reversed(range(len(parent))):
            if topic not in self.c:
                self.c[topic] = np.mean([self.c[k] for k in self.children(topic)], axis=0)
        self.sets, self.values = {}, []
        self.tied = False  # rounding decides between centres of a sphere; the paper does not

    def children(self, topic):
        return [t for t, above in enumerate(self.parent) if above == topic]

    def level(self, topic):
        return 1 if self.parent[topic] < 0 else 1 + self.level(self.parent[topic])

    def fit(self):
        """Algorithm 1: go on while the objective is minimised; keep the last round that did."""
        kept = None
        for number in range(20):
            self.bottom_up()
            if number == 0:
                self.extend()
            self.thresholds()
            self.assign()
            self.top_down()
            value = self.objective()
            self.values.append(value)
            if kept is not None and value >= kept[0]:
                break
            kept = value, dict(self.c), dict(self.radius)
        _, self.c, self.radius = kept
        return self

    def bottom_up(self):
        """Eq. 1: the weighted mean of a topic, its children and their largest empty sphere."""
        deepest = max(self.level(t) for t in range(len(self.parent)))
        for level in range(deepest - 1, 0, -1):
            for topic in [t for t in range(len(self.parent)) if self.level(t) == level]:
                points = [self.c[k] for k in self.children(topic)]
                if not points:
                    continue
                terms = [(SELF, self.c[topic])]
                terms += [(1 / len(points), point) for point in points]
                if len(points) > 1 and len(self.sets.get(topic, [])):
                    terms.append((SPHERE, self.sphere(self.sets[topic], points)))
                total = sum(weight for weight, _ in terms)
                self.c[topic] = sum(weight * point for weight, point in terms) / total

    def sphere(self, rows, points):
        """Appendix B: documents equally far from three points, the largest radius of them."""
        errors, found = [], []
        for row in rows:
            for triple in combinations(points, min(3, len(points))):
                lengths = [far(self.X[row], point) for point in triple]
                errors.append(max(lengths) - min(lengths))
                found.append((sum(lengths) / len(lengths), row))
        limit = max(min(errors), np.mean(errors) - np.std(errors))
        fine = [each for each, error in zip(found, errors) if error <= limit + ROUNDING]
        sure = {row for (_, row), error in zip(found, errors) if error <= limit - ROUNDING}
        largest = max(radius for radius, _ in fine)
        best = {row for radius, row in fine if radius >= largest - ROUNDING}
        self.tied |= len(best) > 1 or (len(fine) > 1 and not best <= sure)
        return self.X[min(best)]

    def extend(self):
        """Eq. 2 as the text has it: opposite to the children, as far out as their mean."""
        added = []
        for topic in [-1, *range(len(self.parent))]:
            points = [self.c[k] for k in self.children(topic)]
            if not points:
                continue
            if topic >= 0:
                own = self.c[topic]
            elif len(points) > 1:
                own = self.sphere(range(len(self.X)), points)
            else:
                own = points[0]
            units = [(p - own) / far(p, own) for p in points if far(p, own) > 1e-8]
            eta = sum(units) / len(points) if units else np.zeros_like(own)
            if np.linalg.norm(eta) > 1e-9:
                length = far(np.mean(points, axis=0), own)
                added.append((topic, own - length * eta / np.linalg.norm(eta)))
        for topic, vector in added:
            self.c[len(self.parent)] = vector
            self.parent.append(topic)

    def thresholds(self):
        """Appendix C: twice the furthest child, or the nearest sibling; larger where empty."""
        self.radius = {}
        for topic in self.children(-1):
            kids = [far(self.c[topic], self.c[k]) for k in self.children(topic)]
            siblings = [far(self.c[topic], self.c[t]) for t in self.children(-1) if t != topic]
            radius = 2 * max(kids) if kids else min(siblings, default=np.inf)
            nearest = min(far(x, self.c[topic]) for x in self.X)
            if radius < nearest <= 2 * radius:
                radius = ALPHA * nearest
            self.radius[topic] = radius

    def reached(self, x):
        """Eq. 3."""
        return [t for t, radius in self.radius.items() if far(x, self.c[t]) <= radius + ROUNDING]

    def assign(self):
        """Eq. 3, then of two topics the nearer keeps a document."""
        self.sets = {topic: [] for topic in self.radius}
        for row, x in enumerate(self.X):
            within = self.reached(x)
            if within:
                self.sets[min(within, key=lambda t: far(x, self.c[t]))].append(row)

    def top_down(self):
        """Lloyd's iterations over the documents of a topic, from its children, to the end."""
        for topic in range(len(self.parent)):
            kids = self.children(topic)
            if topic not in self.sets or not kids:
                continue
            before = None
            while True:
                now = [min(kids, key=lambda k: far(self.X[r], self.c[k])) for r in self.sets[topic]]
                if now == before:
                    break
                before = now
                for kid in kids:
                    mine = [r for r, k in zip(self.sets[topic], now) if k == kid]
                    if mine:
                        self.c[kid] = self.X[mine].mean(axis=0)
            for kid in kids:
                self.sets[kid] = [r for r, k in zip(self.sets[topic], now) if k == kid]

    def objective(self):
        """Eq. 4."""
        return sum(
            self.level(t) * sum(far(self.X[r], self.c[t]) ** 2 for r in rows)
            for t, rows in self.sets.items()
        )

    def infer(self, x):
        """Inference: every topic of the pivot level that reaches x, and its nearest child below."""
        found = []
        for topic in self.reached(x):
            while self.children(topic):
                topic = min(self.children(topic), key=lambda k: far(x, self.c[k]))
            found.append(topic)
        return sorted(found)
