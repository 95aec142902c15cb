# %% [markdown]
# # Reading a report
#
# `model.report` writes a page for people and returns its content for programs: counts, words, central
# and borderline documents, competing topics, and the diagnosis of the fit.

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from _show import show

import hierseed

data = Path(__file__).parent / "data" / "speeches"
speeches = pd.read_csv(data / "speeches.csv.gz", dtype={"id": str})
model = hierseed.fit(speeches, data / "topics.csv", data / "seeds.csv")
with tempfile.TemporaryDirectory() as folder:
    page = model.report(speeches, Path(folder) / "report.html", title="State of the Union")

# %% [markdown]
# **First the diagnosis:** how much belongs, what accuracy to expect, and which topics to check.

# %%
print("belong:", page["results"]["belong"])
print("expected accuracy by level:", page["results"]["expected"])
for finding in page["results"]["findings"][:5]:
    print("look at:", finding)
for proposal in page["proposals"][:3]:
    print("missing?", proposal["documents"], "documents:", proposal["words"])

# %% [markdown]
# **Then each topic.** Are the words what you expect? Read the borderline documents.

# %%
topics = page["topics"]
here = topics["name"].index("Terrorism")
print(topics["count"][here], "documents;", ", ".join(topics["words"][here]))
for document in topics["border"][here][:2]:
    print("borderline:", page["docs"]["id"][document], page["docs"]["text"][document][:150])

# %% [markdown]
# **Then the competing topics:** how often another topic was the second choice. A large share means that
# the two are hard to distinguish: add seeds to both, or consider merging them.

# %%
pairs = [
    (topics["name"][topic], topics["name"][rival], share)
    for topic, parent in enumerate(topics["parent"])
    if parent >= 0 and topics["count"][topic] >= 20
    for rival, share in topics["rivals"][topic][:1]
]
pairs.sort(key=lambda pair: pair[2])
figure, axes = plt.subplots(figsize=(7, 4))
axes.barh(
    [f"{topic}  ←  {rival}" for topic, rival, _ in pairs], [p[2] for p in pairs], color="#c98f65"
)
axes.set(xlabel="share of the topic's documents whose second choice it was")
axes.spines[["top", "right"]].set_visible(False)
show(figure, "reading_a_report")
