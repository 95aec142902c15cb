# %% [markdown]
# # The method on a plane
#
# Vectors of texts have hundreds of dimensions. Here they have two, so that you can see what the fit
# does: there are five groups of documents, and the taxonomy lists four of them.

# %%
import matplotlib.pyplot as plt
import numpy as np
from _show import show

from hierseed import AnchoredHierSeed, Taxonomy

random = np.random.default_rng(3)
taxonomy = Taxonomy.from_paths(["A > a", "A > b", "B > c", "B > d"])
centres = np.array([[-2.6, 1.2], [-1.4, -0.6], [1.6, 1.3], [2.4, -0.4], [0.2, -3.6]])
shape = np.array([[0.55, 0.0], [0.0, 0.28]])
group = np.repeat(np.arange(5), [220, 160, 200, 120, 150])
X = centres[group] + random.normal(size=(len(group), 2)) @ shape
topic = np.array([taxonomy.index(path) for path in ["A > a", "A > b", "B > c", "B > d"]] + [-1])[
    group
]
y = np.full(len(X), -1)
for leaf in set(topic) - {-1}:
    y[random.choice(np.flatnonzero(topic == leaf), 6, replace=False)] = leaf

# %%
model = AnchoredHierSeed(taxonomy, false_alarm=0.1).fit(X, y)
found = model.assign(X, y)
print("foreign:", model.foreign_share_, "| truly", f"{(topic < 0).mean():.0%}")
print("right of the listed:", (found.labels == topic)[topic >= 0].mean().round(3))

# %% [markdown]
# Left: the input, points of which a few are seeds. Middle: `belongs`; the group at the bottom
# is far from every seed, compared with the distances between its own points. Right: the result; topics
# have different means and share one covariance, and points that belong to no topic are grey.

# %%
COLOURS = {"a": "#3d8bbf", "b": "#7fb3d5", "c": "#4f9d58", "d": "#93c47d"}
figure, (given, middle, result) = plt.subplots(
    1, 3, figsize=(12, 4), sharex=True, sharey=True, layout="constrained"
)
given.scatter(*X.T, s=7, color="#c9c4ba", lw=0)
for leaf in set(y) - {-1}:
    given.scatter(*X[y == leaf].T, s=60, marker="*", color=COLOURS[taxonomy.names[leaf]], zorder=3)
given.set_title("given: documents, and six seeds a topic", fontsize=10)
dots = middle.scatter(
    *X.T, s=7, c=found.belongs[found.primary, 0], cmap="RdYlBu", vmin=0, vmax=1, lw=0
)
middle.set_title("b(x): does it belong to a listed topic?", fontsize=10)
figure.colorbar(dots, ax=[given, middle, result], location="bottom", shrink=0.3)
names = [*model.taxonomy_.names, "None"]
result.scatter(*X.T, s=7, color=[COLOURS.get(names[t], "#b5b0a6") for t in found.labels], lw=0)
own = np.array(
    [X[found.labels == t].mean(axis=0) for t in range(len(taxonomy)) if (found.labels == t).any()]
)
kinds = [t for t in range(len(taxonomy)) if (found.labels == t).any()]
rest = np.concatenate([X[found.labels == t] - mean for t, mean in zip(kinds, own)])
spread = np.cov(rest.T)
values, axes_ = np.linalg.eigh(spread)
turn = np.linspace(0, 2 * np.pi, 80)
ellipse = (2 * axes_ * np.sqrt(values)) @ np.stack([np.cos(turn), np.sin(turn)])
for leaf in np.flatnonzero(taxonomy.tree.is_leaf):
    x, y0 = model.vectors_[leaf]
    result.plot(x + ellipse[0], y0 + ellipse[1], color=COLOURS[taxonomy.names[leaf]], lw=1.4)
    result.annotate(taxonomy.names[leaf], (x, y0), ha="center", va="center", weight="bold")
    above = model.vectors_[taxonomy.tree.parent[leaf]]
    result.plot([x, above[0]], [y0, above[1]], color="#23211e", lw=0.8)
result.set_title("found: means near their parent, one shape", fontsize=10)
for axes in (given, middle, result):
    axes.set(xticks=[], yticks=[], aspect="equal")
    axes.spines[:].set_color("#dcd7cc")
show(figure, "on_a_plane")
