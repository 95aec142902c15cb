# %% [markdown]
# # Active learning until a budget is spent
#
# You can afford a fixed number of labels. `suggest` lists the documents whose labels would help most;
# label them, fit again, and repeat. Here the known truth plays the annotator, and we compare with
# random choice.

# %%
import matplotlib.pyplot as plt
import numpy as np
from _show import show

import hierseed
from hierseed.demo.corpus import draw_seeds, load_corpus

corpus = load_corpus(min_documents=50)
X = hierseed.get_embedder("wordllama").encode(corpus.texts)
paths = corpus.taxonomy.paths
gold = {str(row): paths[topic] for row, topic in enumerate(corpus.gold)}
first = np.flatnonzero(draw_seeds(corpus.gold, 1, 0) >= 0)  # one label a topic to begin with
BUDGET, ROUND = 120, 30
print(f"{len(X):,} documents, {len(first)} labels at the start, a budget of {BUDGET} more")

# %% [markdown]
# One loop for both strategies.

# %%
random = np.random.default_rng(0)


def spend(choose):
    """Accuracy at level 2 after each round of labels."""
    known = [str(row) for row in first]
    course = []
    while True:
        seeds = {}
        for id in known:
            seeds.setdefault(gold[id], []).append(id)
        model = hierseed.fit(X, corpus.taxonomy, seeds, progress=lambda event: None)
        scores = model.evaluate(X, gold)
        course.append((len(known), scores.all.levels[1].accuracy))
        if len(known) >= len(first) + BUDGET:
            return course
        known += choose(model, known)


def by_suggestion(model, known):
    """Label what the model suggests; it never suggests seeds again."""
    return model.suggest(X, n=ROUND).to_frame().id.tolist()


def at_random(model, known):
    """Label random documents."""
    free = np.array(sorted(set(gold) - set(known), key=int))
    return random.choice(free, ROUND, replace=False).tolist()


courses = {"suggest": spend(by_suggestion), "random choice": spend(at_random)}

# %%
figure, axes = plt.subplots(figsize=(6.5, 3.4))
for (name, course), colour in zip(courses.items(), ["#4b86b4", "#b5b0a6"]):
    axes.plot(*zip(*course), marker="o", color=colour)
    axes.annotate(name, course[-1], textcoords="offset points", xytext=(8, -3), color=colour)
    print(name, [(n, round(float(value), 3)) for n, value in course])
axes.set(xlabel="labels", ylabel="accuracy, level 2")
axes.margins(x=0.22)
axes.spines[["top", "right"]].set_visible(False)
show(figure, "active_learning")
