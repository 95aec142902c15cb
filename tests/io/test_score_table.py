"""Scoring a table as `assign` writes it."""

import pandas as pd
import pytest

from hierseed.errors import CorpusError, SeedError, TaxonomyError
from hierseed.evaluate import score
from hierseed.io.score_table import gold_topics, read_gold, read_placed, score_table
from hierseed.io.seeds import read_seeds
from hierseed.taxonomy import Taxonomy

TAXONOMY = Taxonomy.from_paths(["A > B", "A > C", "D"])
A, B, C, D = range(4)


def write(tmp_path, rows, gold, name="placed.csv"):
    table = pd.DataFrame(rows, columns=["id", "topic", "is_other", "is_seed"])
    table["is_none"] = table["topic"] == ""
    if name.endswith("parquet"):
        table.to_parquet(tmp_path / name)
    else:
        table.to_csv(tmp_path / name, index=False)
    pd.DataFrame(gold, columns=["id", "topic"]).to_csv(tmp_path / "gold.csv", index=False)
    return tmp_path / name, tmp_path / "gold.csv"


ROWS = [
    ("1", "A > B", False, True),
    ("2", "A > B", False, False),
    ("3", "A > Other", True, False),
    ("4", "", False, False),
    ("5", "D", False, False),
    ("6", "A > C", False, False),
    ("6", "D", False, False),
    ("9", "D", False, False),
]
GOLD = [
    ("1", "A > B"),
    ("2", "A > B"),
    ("3", "A > C"),
    ("4", "D"),
    ("5", "D"),
    ("6", "A > C"),
    ("6", "D"),
    ("7", "A"),
]


@pytest.mark.parametrize("name", ["placed.csv", "placed.parquet"])
def test_a_table_is_scored_as_its_rows_are(tmp_path, name):
    result = score_table(*write(tmp_path, ROWS, GOLD, name), TAXONOMY)
    fitted = TAXONOMY.with_others([A])
    topics = [B, 4, -1, D, C, D, -1]  # documents 2, 3, 4, 5, 6, 6 and 7, which has no row
    direct = score(
        TAXONOMY,
        fitted.tree.ancestors[topics],
        [[B], [C], [D], [D], [C, D], [A]],
        rows=[0, 1, 2, 3, 4, 4, 5],
    )
    assert result.scores == direct
    counts = (result.documents, result.seeds_left_out, result.without_gold, result.without_row)
    assert counts == (6, 1, 1, 1)


def test_seeds_and_missing_rows_on_request(tmp_path):
    files = write(tmp_path, ROWS, GOLD)
    assert score_table(*files, TAXONOMY, with_seeds=True).documents == 7
    assert score_table(*files, TAXONOMY, only_table=True).documents == 5


def test_other_is_known_by_its_name_where_no_column_says_so(tmp_path):
    pd.DataFrame({"id": ["1"], "topic": ["A > Other"]}).to_csv(tmp_path / "t.csv", index=False)
    placed = read_placed(tmp_path / "t.csv", TAXONOMY)
    assert placed.topics == {"1": [4]}
    assert placed.taxonomy.paths[4] == "A > Other"


def test_topics_of_another_taxonomy_are_refused_by_name(tmp_path):
    files = write(tmp_path, [("1", "X > Y", False, False)], GOLD)
    with pytest.raises(TaxonomyError, match="X > Y"):
        score_table(*files, TAXONOMY)


def test_ids_that_never_meet_are_refused(tmp_path):
    files = write(tmp_path, [("one", "D", False, False)], GOLD)
    with pytest.raises(CorpusError, match="same ids"):
        score_table(*files, TAXONOMY)


def test_gold_that_is_all_seeds_differs_from_gold_of_other_documents(tmp_path):
    rows = [(id, topic, False, True) for id, topic in dict(GOLD).items()]
    files = write(tmp_path, rows, GOLD)
    with pytest.raises(CorpusError, match=r"are seeds.*with_seeds=True"):
        score_table(*files, TAXONOMY)
    assert score_table(*files, TAXONOMY, with_seeds=True).documents == len(dict(GOLD))


def test_whole_numbers_are_the_same_id_however_spelled(tmp_path):
    plain = score_table(*write(tmp_path, ROWS, GOLD), TAXONOMY)
    spread = [(f"{id}.0", topic) for id, topic in GOLD]  # as pandas writes a column with a gap
    assert score_table(*write(tmp_path, ROWS, spread), TAXONOMY) == plain
    rows = [(f"{id}.0", *rest) for id, *rest in ROWS]
    assert score_table(*write(tmp_path, rows, GOLD), TAXONOMY) == plain


def test_none_in_gold_says_that_a_document_belongs_to_no_topic(tmp_path):
    rows = [("1", "D", False, False), ("2", "", False, False), ("3", "D", False, False)]
    gold = [("1", "None"), ("2", "none"), ("3", "D")]
    result = score_table(*write(tmp_path, rows, gold), TAXONOMY)
    assert result.documents == 3
    assert result.scores == score(TAXONOMY, TAXONOMY.tree.ancestors[[D, -1, D]], [[], [], [D]])
    assert result.scores.all.levels[0].accuracy == pytest.approx(2 / 3)


def test_a_topic_called_none_is_that_topic(tmp_path):
    pd.DataFrame({"id": ["1"], "topic": ["None"]}).to_csv(tmp_path / "g.csv", index=False)
    for paths, expected in ((["A", "None"], [1]), (["A", "B > None"], [2]), (["A", "B"], [])):
        taxonomy = Taxonomy.from_paths(paths)
        assert read_gold(tmp_path / "g.csv", taxonomy) == {"1": expected}
        assert gold_topics({"1": "None"}, taxonomy) == {"1": expected}


def test_none_is_no_topic_for_a_seed(tmp_path):
    pd.DataFrame({"id": ["1"], "topic": ["None"]}).to_csv(tmp_path / "s.csv", index=False)
    with pytest.raises(SeedError, match="no topic 'None'"):
        read_seeds(tmp_path / "s.csv", TAXONOMY)
