"""What a picture shows equals what pandas counts in the table of assignments."""

import re

import numpy as np
import pandas as pd
import pytest

from hierseed.errors import CorpusError, ModelError, ParameterError
from hierseed.plots.history import draw_history

pytest.importorskip("matplotlib")


def numbers(text):
    return int(re.search(r"(\S+)$", text)[1].replace(",", ""))


def test_the_discs_of_the_tree_have_the_area_of_their_counts(case):
    axes = case.model.plot_tree().axes[0]
    below = pd.concat([case.table.level_1, case.table.level_2])
    counted = below[below != ""].value_counts()
    sizes = {disc.get_gid(): disc.get_sizes()[0] for disc in axes.collections}
    assert set(sizes) == set(counted.index)
    areas = np.array([sizes[path] for path in counted.index]) - 6
    np.testing.assert_allclose(areas / areas[0], counted / counted.iloc[0], rtol=1e-6)
    names = {text.get_text().rsplit("  ", 1)[0]: numbers(text.get_text()) for text in axes.texts}
    assert names == {path.split(" > ")[-1]: count for path, count in counted.items()}


def test_the_tree_may_be_cut(case):
    texts = [text.get_text() for text in case.model.plot_tree(depth=1).axes[0].texts]
    counted = case.table.level_1.value_counts()
    assert sorted(texts) == sorted(f"{name}  {n}" for name, n in counted.items() if name)


def bars(picture):
    axes = picture.axes[0]
    names = [label.get_text() for label in axes.get_yticklabels()]
    return dict(zip(names, [bar.get_width() for bar in axes.patches]))


def test_bars_are_the_counts_of_a_level(case):
    counted = case.table.level_2.str.split(" > ").str[-1].value_counts()
    drawn = bars(case.model.plot_sizes(level=2))
    assert {name: n for name, n in drawn.items() if n} == counted[counted.index != ""].to_dict()


@pytest.mark.parametrize("level", [1, 2])
def test_bars_add_up_to_the_corpus_where_branches_differ_in_depth(level):
    import hierseed

    texts = ["cats purr", "dogs bark", "rain falls", "a cat", "a dog", "the rain"]
    seeds = {"Pets > Cats": [0], "Pets > Dogs": [1], "Weather": [2]}
    model = hierseed.fit(texts, list(seeds), seeds, embedder="wordllama", method="unfit")
    drawn = bars(model.plot_sizes(level=level))
    assert sum(drawn.values()) == len(texts)
    assert ("topics that end above level 2" in drawn) == (level == 2)


def test_the_smaller_topics_are_added_up(case):
    widths = list(bars(case.model.plot_sizes(level=2, most=2)).values())
    counted = case.table.level_2.value_counts()
    assert widths[:3] == [*counted.iloc[:2], counted.iloc[2:].sum()]


def test_none_has_a_bar(case):
    foreign = {f"z{i}": "zxqv wvuq" for i in range(7)}
    table = case.model.assign(case.texts | foreign).to_frame()
    nowhere = int(table.is_none.sum())
    drawn = bars(case.model.plot_sizes(documents=case.texts | foreign))
    assert drawn.get("None", 0) == nowhere
    assert sum(drawn.values()) == len(table)


def test_the_map_has_a_point_for_each_document_in_the_colour_of_its_topic(case):
    axes = case.model.plot_map().axes[0]
    points = axes.collections[0]
    assert len(points.get_offsets()) == len(case.texts)
    colours = [tuple(row) for row in points.get_facecolors().round(4)]
    by_topic = pd.Series(colours).groupby(case.table.topic.to_numpy()).nunique()
    assert (by_topic == 1).all()
    assert len(set(colours)) == len(case.table[["level_1", "is_other"]].drop_duplicates())
    # a document lies on the island that has the name of its topic
    islands = [patch.get_path() for patch in axes.patches]
    names = {text.get_text(): text.get_position() for text in axes.texts}
    for spot, topic in zip(points.get_offsets(), case.table.topic):
        (own,) = [land for land in islands if land.contains_point(names[topic.split(" > ")[-1]])]
        assert own.contains_point(spot, radius=1e-2) or own.contains_point(spot, radius=-1e-2)


def test_the_map_is_that_of_the_report(case, tmp_path):
    shown = case.model.report(case.texts, tmp_path / "report.html")["map"]
    points = case.model.plot_map().axes[0].collections[0].get_offsets()
    np.testing.assert_allclose(points, np.c_[shown["x"], shown["y"]], atol=1e-4)


@pytest.mark.parametrize("level", [1, 2])
def test_confusion_is_the_crosstab_of_gold_and_level(case, level):
    table = case.table[~case.table.is_seed]
    gold = pd.Series(case.gold)[table.index].str.split(" > ").str[level - 1]
    placed = table[f"level_{level}"].str.split(" > ").str[-1]
    expected = pd.crosstab(gold, placed)
    axes = case.model.plot_confusion(case.gold, level=level).axes[0]
    rows = [text.get_text() for text in axes.get_yticklabels()]
    columns = [text.get_text() for text in axes.get_xticklabels()]
    drawn = pd.DataFrame(0, index=rows, columns=columns)
    for text in axes.texts:
        x, y = text.get_position()
        drawn.iloc[int(y), int(x)] = int(text.get_text())
    for row, column in [(r, c) for r in expected.index for c in expected.columns]:
        assert drawn.at[row, column] == expected.at[row, column]
    assert drawn.to_numpy().sum() == len(table)


def test_topics_beyond_the_most_are_added_up_in_confusion(case):
    axes = case.model.plot_confusion(case.gold, level=2, most=2).axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()][-1] == "all others"
    assert sum(int(t.get_text()) for t in axes.texts) == int((~case.table.is_seed).sum())


def test_confusion_knows_the_levels(case):
    with pytest.raises(ParameterError, match="levels 1 to 2"):
        case.model.plot_confusion(case.gold, level=3)


def test_over_time_counts_documents_by_month(case):
    ids = list(case.texts)
    days = pd.Timestamp("2024-01-15") + pd.to_timedelta(np.arange(len(ids)) * 3, unit="D")
    dates = pd.Series(days, index=ids)
    counted = pd.crosstab(dates.dt.strftime("%Y-%m"), case.table.level_1[ids])
    picture = case.model.plot_over_time(dates, every="M")
    for axes in picture.axes:
        line = axes.lines[0]
        np.testing.assert_array_equal(line.get_ydata(), counted[line.get_gid()])
        assert axes.get_ylim()[1] > counted[counted.columns.difference([""])].to_numpy().max()
    shown = {axes.lines[0].get_gid() for axes in picture.axes}
    assert shown == set(counted.columns) - {""}


def test_dates_may_be_a_mapping_years_or_in_order_and_be_missing(case):
    ids = list(case.texts)
    years = [2000 + i % 5 for i in range(len(ids))]
    expected = [
        axes.lines[0].get_ydata().tolist() for axes in case.model.plot_over_time(years).axes
    ]
    as_text = {id: f"{year}-01-01" for id, year in zip(ids, years)}
    again = [axes.lines[0].get_ydata().tolist() for axes in case.model.plot_over_time(as_text).axes]
    assert again == expected
    counted = pd.crosstab(pd.Series(years, index=ids), case.table.level_1[ids]).to_numpy()
    assert sorted(expected) == sorted(counted.T.tolist())
    picture = case.model.plot_over_time(dict(list(as_text.items())[:30]))
    assert "80 without a date" in " ".join(text.get_text() for text in picture.texts)


def test_a_period_without_documents_is_zero(case):
    dates = {id: "2020" if i % 2 else "2023" for i, id in enumerate(case.texts)}
    for axes in case.model.plot_over_time(dates).axes:
        assert axes.lines[0].get_ydata()[1:3].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("step", "unit"), [("1h", "day"), ("1D", "week"), ("8D", "month"), ("20D", "quarter")]
)
def test_the_period_follows_the_time_that_dates_span(case, step, unit):
    days = pd.date_range("2020-02-03", periods=len(case.texts), freq=step)
    picture = case.model.plot_over_time(dict(zip(case.texts, days)))
    shown = " ".join(text.get_text() for text in picture.texts)
    assert f"Documents a {unit}, {len(case.texts)} in all" in shown


def test_dates_that_cannot_be_used_are_refused(case):
    with pytest.raises(CorpusError, match="'soon'"):
        case.model.plot_over_time(dict.fromkeys(case.texts, "soon"))
    with pytest.raises(CorpusError, match="2 dates for 110 documents"):
        case.model.plot_over_time(["2020", "2021"])
    with pytest.raises(CorpusError, match="has a date"):
        case.model.plot_over_time({"nobody": "2020"})


def test_history_is_that_of_the_fit(case):
    history = case.model.estimator.history_
    for axes in case.model.plot_history().axes:
        line = axes.lines[0]
        assert line.get_ydata().tolist() == [event[line.get_gid()] for event in history]
    with pytest.raises(ModelError, match="no rounds"):
        draw_history([], "UnfitHierSeed")


def test_a_picture_is_written_and_shows_itself_in_a_notebook(case, tmp_path):
    picture = case.model.plot_sizes()
    assert picture._repr_png_().startswith(b"\x89PNG")
    picture.savefig(tmp_path / "sizes.svg")
    assert "</svg>" in (tmp_path / "sizes.svg").read_text()
