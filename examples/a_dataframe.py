# %% [markdown]
# # From a DataFrame
#
# Documents come from a DataFrame, and the result is a DataFrame, so pandas does the rest. Which
# president spoke about what?

# %%
from pathlib import Path

import pandas as pd
from _show import show

import hierseed

data = Path(__file__).parent / "data" / "speeches"
speeches = pd.read_csv(data / "speeches.csv.gz", dtype={"id": str})
speeches.head(3)

# %% [markdown]
# The columns `id` and `text` are found by name. Other columns are ignored.

# %%
model = hierseed.fit(speeches, data / "topics.csv", data / "seeds.csv", embedder="wordllama")
placed = model.assign(speeches).to_frame()
table = placed.merge(speeches[["id", "year", "president"]], on="id")
print(table[["id", "president", "topic", "score"]].sample(4, random_state=1).to_string())

# %% [markdown]
# Share of each president's parts by topic, among the parts that have a topic.

# %%
with_topic = table[~table.is_none]
shares = pd.crosstab(with_topic.president, with_topic.level_1, normalize="index")
shares = shares.loc[with_topic.groupby("president").year.min().sort_values().index]
colours = ["#4b9ac9", "#c98f65", "#6aa67c", "#d08289", "#8f88cf"]
axes = shares.plot.barh(stacked=True, figsize=(9, 3), width=0.75, color=colours)
axes.invert_yaxis()
axes.set(xlabel="share of the parts with a topic", ylabel="", xlim=(0, 1))
axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
axes.spines[["top", "right"]].set_visible(False)
show(axes.figure, "a_dataframe")
