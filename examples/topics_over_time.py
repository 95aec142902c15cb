# %% [markdown]
# # Topics over time
#
# Thirty-one State of the Union addresses. When did presidents speak about the world, and when about
# the economy?

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from _show import show

import hierseed

data = Path(__file__).parent / "data" / "speeches"
speeches = pd.read_csv(data / "speeches.csv.gz", dtype={"id": str})
model = hierseed.fit(speeches, data / "topics.csv", data / "seeds.csv")
years = speeches.set_index("id").year

# %% [markdown]
# One panel per topic, all on the same scale. Dates can be years, strings such as 2024-05-31, or datetimes.

# %%
show(model.plot_over_time(years, level=2, most=12), "topics_over_time")

# %% [markdown]
# Speeches differ in length, so shares are better than counts. The table of assignments has all we
# need; a mean over three years reduces the noise.

# %%
table = model.assign(speeches).to_frame().set_index("id")
table = table[~table.is_none]
share = (
    pd.crosstab(years[table.index], table.level_1, normalize="index").rolling(3, center=True).mean()
)
figure, axes = plt.subplots(figsize=(9, 3.2))
for name, colour in {"World": "#7f77c9", "Society": "#c9656d", "Economy": "#4b9ac9"}.items():
    axes.plot(share.index, share[name], color=colour, lw=2)
    last = share[name].dropna()
    axes.annotate(
        name,
        (last.index[-1], last.iloc[-1]),
        textcoords="offset points",
        xytext=(6, -3),
        color=colour,
    )
axes.axvline(2001.7, color="#b5b0a6", lw=1, ls="--")
axes.text(2001.9, axes.get_ylim()[1], "11 September 2001", fontsize=8, va="top", color="#6f6a62")
axes.set(ylabel="share of parts with a topic")
axes.margins(x=0.08)
axes.spines[["top", "right"]].set_visible(False)
show(figure, "topics_over_time_shares")
