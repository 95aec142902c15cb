# %% [markdown]
# # With your own embedder
#
# An embedder can be any function from a list of texts to a matrix. Here we compare a scikit-learn
# pipeline, fitted on the corpus, with the embedders of the package. The documents are the docstrings
# of Python's library, whose modules are known.

# %%
import matplotlib.pyplot as plt
import numpy as np
from _show import show
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

import hierseed
from hierseed.demo.corpus import load_corpus

corpus = load_corpus(min_documents=30)
texts = dict(zip(corpus.ids, corpus.texts))
paths = corpus.taxonomy.paths
seeds = {
    paths[t]: [corpus.ids[i] for i in np.flatnonzero(corpus.y == t)] for t in set(corpus.y) - {-1}
}
gold = {id: paths[topic] for id, topic in zip(corpus.ids, corpus.gold)}

# %%
pipeline = make_pipeline(
    TfidfVectorizer(sublinear_tf=True, min_df=2, stop_words="english"),
    TruncatedSVD(100, random_state=0),
).fit(corpus.texts)


def my_vectors(some):
    """Texts to vectors; the model calls it for new documents too."""
    return pipeline.transform(some).astype(np.float32)


# %% [markdown]
# Pass the function as `embedder=`. The last one joins a pretrained embedder with one learned
# from the corpus, as `auto` does.

# %%
found = {}
for name, embedder in {
    "my pipeline": my_vectors,
    "wordllama": "wordllama",
    "wordllama+lsa": "wordllama+lsa",
}.items():
    model = hierseed.fit(texts, corpus.taxonomy, seeds, embedder=embedder)
    found[name] = [level.accuracy for level in model.evaluate(texts, gold).all.levels]
    print(name, [round(value, 3) for value in found[name]])

# %%
figure, axes = plt.subplots(figsize=(7, 2.4))
for at, values in enumerate(found.values()):
    for level, value in enumerate(values):
        axes.barh(at + 0.36 * level - 0.18, value, 0.32, color=["#4b86b4", "#a9c8de"][level])
        axes.text(value + 0.01, at + 0.36 * level - 0.18, f"{value:.2f}", va="center", fontsize=8)
axes.set_yticks(range(len(found)), found)
axes.invert_yaxis()
axes.set(xlim=(0, 1), xlabel="accuracy: level 1 dark, level 2 light")
axes.spines[["top", "right"]].set_visible(False)
show(figure, "own_embedder")
