# %% [markdown]
# # Comparing two taxonomies
#
# The same speeches coded with two code books: by subject, and by the responsible department. Where do
# they agree, and what does the coarser book lose?

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from _show import show
from sklearn.metrics import v_measure_score

import hierseed

data = Path(__file__).parent / "data" / "speeches"
speeches = pd.read_csv(data / "speeches.csv.gz", dtype={"id": str})
seeds = pd.read_csv(data / "seeds.csv", dtype=str)
by_subject = hierseed.fit(speeches, data / "topics.csv", seeds, embedder="wordllama")

# %% [markdown]
# The second code book lists departments. It uses the same seeds under other names.

# %%
departments = {
    "Treasury": ["101", "102"],
    "Labor and Commerce": ["103", "104"],
    "Health and Human Services": ["201", "203", "204"],
    "Education": ["202"],
    "Justice and Homeland Security": ["205", "206", "402"],
    "Energy and Interior": ["301", "302"],
    "Defense": ["401", "403"],
    "State": ["404"],
    "Congress itself": ["501"],
}
home = {code: name for name, codes in departments.items() for code in codes}
by_department = hierseed.fit(
    speeches, list(departments), seeds.assign(topic=seeds.topic.map(home)), embedder="wordllama"
)

# %%
one = by_subject.assign(speeches).to_frame().set_index("id")
two = by_department.assign(speeches).to_frame().set_index("id")
both = ~one.is_none & ~two.is_none
print(
    f"placed by both {both.mean():.0%}; by subject only {(~one.is_none & two.is_none).mean():.0%}; "
    f"by department only {(one.is_none & ~two.is_none).mean():.0%}"
)
print(f"V-measure of the two {v_measure_score(one.topic[both], two.topic[both]):.2f}")

# %% [markdown]
# Rows are subjects, columns departments. A row with one dark cell is a subject within one
# department; a row with several shows where the code books divide differently.

# %%
crossed = pd.crosstab(one.topic[both].str.split(" > ").str[-1], two.topic[both])
crossed = crossed.loc[crossed.sum(axis=1) >= 10, list(departments)]
crossed = crossed.iloc[crossed.to_numpy().argmax(axis=1).argsort(kind="stable")]
share = crossed.div(crossed.sum(axis=1), axis=0)
figure, axes = plt.subplots(figsize=(6.5, 5.2))
axes.imshow(share, cmap="Blues", vmin=0, vmax=1, aspect="auto")
axes.set_yticks(range(len(crossed)), crossed.index)
axes.set_xticks(
    range(len(departments)), departments, rotation=40, ha="right", rotation_mode="anchor"
)
for row, counts in enumerate(crossed.to_numpy()):
    for column, count in enumerate(counts):
        if count:
            ink = "white" if share.iloc[row, column] > 0.55 else "#23211e"
            axes.text(column, row, count, ha="center", va="center", fontsize=8, color=ink)
axes.tick_params(length=0)
show(figure, "two_taxonomies")
