"""Seeds name topics as people do; what can't be meant is told all at once."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hierseed import Taxonomy
from hierseed.errors import CorpusError, SeedError, TaxonomyError
from hierseed.io.score_table import read_gold
from hierseed.io.seeds import Seeds, TopicFinder, name_text, read_seeds

TAXONOMY = Taxonomy(
    ["Health", "Mental health", "HIV/AIDS", "General", "Safety", "Guns", "General"],
    [-1, 0, 0, 0, -1, 4, 4],
    codes=["3", "301", "302", "300", "12", "", "1200"],
    descriptions=["", "care of the mind", "", "", "", "", ""],
)


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("Health > Mental health", 1),
        ("health>mental  HEALTH", 1),
        ("HIV/AIDS", 2),
        ("guns", 5),
        ("301", 1),
        ("3", 0),
        (" Health ", 0),
        ("Safety > General", 6),
    ],
)
def test_a_topic_by_path_last_name_or_code(text: str, topic: int) -> None:
    assert TopicFinder(TAXONOMY).find(text) == topic


def test_an_ambiguous_name_lists_what_it_may_be() -> None:
    with pytest.raises(TaxonomyError, match=r"2 topics: 'Health > General', 'Safety > General'"):
        TopicFinder(TAXONOMY).find("General")


def test_an_unknown_name_comes_with_the_nearest() -> None:
    with pytest.raises(TaxonomyError, match="no topic 'Gun'; did you mean 'Safety > Guns'"):
        TopicFinder(TAXONOMY).find("Gun")
    with pytest.raises(TaxonomyError, match=r"no topic 'Quantum gravity'$"):
        TopicFinder(TAXONOMY).find("Quantum gravity")


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.sampled_from("aAbB3"), min_size=1, max_size=3), min_size=1, max_size=6))
def test_every_path_finds_its_own_topic(paths: list[list[str]]) -> None:
    taxonomy = Taxonomy.from_paths({tuple(path): None for path in paths})
    finder = TopicFinder(taxonomy)
    assert [finder.find(path) for path in taxonomy.paths] == list(range(len(taxonomy)))


ROWS = [
    ("a", "", "Guns"),
    ("", "a text, of my own", "302"),
    ("b", "", "Guns"),
    ("a", "", "HIV/AIDS"),
]
FORMATS = ["csv", "tsv", "jsonl", "xlsx", "parquet"]


def write(file: Path, rows: list[tuple[str, str, str]]) -> Path:
    frame = pd.DataFrame(rows, columns=["Id", "text", "topic"], dtype=object)
    if file.suffix == ".jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in frame.to_dict("records")))
    elif file.suffix == ".xlsx":
        frame.to_excel(file, index=False)
    elif file.suffix == ".parquet":
        frame.to_parquet(file)
    else:
        frame.to_csv(file, index=False, sep="\t" if file.suffix == ".tsv" else ",")
    return file


@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_gives_the_same_seeds(tmp_path: Path, ending: str) -> None:
    seeds = read_seeds(write(tmp_path / f"seeds.{ending}", ROWS), TAXONOMY)
    assert seeds.by_id == {"a": [5, 2], "b": [5]}
    assert (seeds.texts, seeds.text_topics) == (["a text, of my own"], [2])
    assert len(seeds) == 4
    assert seeds.counts(7).tolist() == [0, 0, 2, 0, 0, 2, 0]


names = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8)


@settings(max_examples=60, deadline=None)
@given(given=st.dictionaries(names, st.sampled_from(range(7)), min_size=1, max_size=6))
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_any_seeds_come_back(
    tmp_path_factory: pytest.TempPathFactory, ending: str, given: dict[str, int]
) -> None:
    file = tmp_path_factory.mktemp("seeds") / f"seeds.{ending}"
    seeds = read_seeds(
        write(file, [(id, "", TAXONOMY.paths[topic]) for id, topic in given.items()]), TAXONOMY
    )
    assert seeds.by_id == {id: [topic] for id, topic in given.items()}


def test_all_faults_at_once_with_their_lines(tmp_path: Path) -> None:
    rows = [
        ("a", "", "Gun"),
        ("b", "", "General"),
        ("", "", "Guns"),
        ("c", "", " "),
        ("d", "", "Guns"),
    ]
    with pytest.raises(SeedError) as caught:
        read_seeds(write(tmp_path / "seeds.csv", rows), TAXONOMY)
    message = str(caught.value)
    assert message.startswith("3 rows of ")
    assert "seeds.csv:2: no topic 'Gun'; did you mean 'Safety > Guns'?" in message
    assert "seeds.csv:3: 'General' matches 2 topics" in message
    assert "seeds.csv:4: neither an id nor a text" in message
    assert "seeds.csv:5" not in message  # not filled in yet


def test_files_that_hold_no_seeds(tmp_path: Path) -> None:
    file = tmp_path / "seeds.csv"
    file.write_text("document,topic\n1,Guns\n")
    with pytest.raises(SeedError, match=r"no column 'id' or 'text'.*'document', 'topic'"):
        read_seeds(file, TAXONOMY)
    file.write_text("id,label\n1,Nonsense\n")
    with pytest.raises(SeedError, match="no column 'topic'"):
        read_seeds(file, TAXONOMY)
    file.write_text("id,topic\n")
    with pytest.raises(SeedError, match="no seeds in"):
        read_seeds(file, TAXONOMY)
    with pytest.raises(SeedError, match="no file"):
        read_seeds(tmp_path / "absent.csv", TAXONOMY)


def test_a_row_that_stands_twice_counts_once(tmp_path: Path) -> None:
    seeds = read_seeds(write(tmp_path / "seeds.csv", [ROWS[0], ROWS[0]]), TAXONOMY)
    assert seeds.by_id == {"a": [5]}


def test_rows_of_a_corpus() -> None:
    seeds = Seeds({"b": [5], "d": [2]})
    np.testing.assert_array_equal(seeds.rows(iter("abcd")), [-1, 5, -1, 2])
    assert Seeds({"b": [5, 1]}).rows("ab") == [[], [5, 1]]
    with pytest.raises(SeedError, match=r"1 of 2 seed documents are not in the corpus of 3: 'd'"):
        seeds.rows("abc")


def test_whole_numbers_match_however_they_are_written() -> None:
    seeds = Seeds({"34.0": [5], "7": [2], "8": [1], "8.0": [3], "9": [1], "9.0": [4]})
    corpus = ["34", "7.0", "8", "8.0", "9"]
    seeds.match(corpus.__contains__, 5, corpus)
    assert seeds.by_id == {"34": [5], "7.0": [2], "8": [1], "8.0": [3], "9": [1, 4]}
    with pytest.raises(SeedError, match=r"'1\.50', where ids are like '34', '7\.0'"):
        Seeds({"1.50": [5]}).match(corpus.__contains__, 5, corpus[:2])


def test_names_stand_in_for_leaves_without_seeds() -> None:
    seeds = Seeds({"a": [5]})
    assert seeds.without(TAXONOMY) == [1, 2, 3, 6]
    assert seeds.add_names(TAXONOMY) == 4
    assert seeds.texts[0] == "Mental health, Health. care of the mind"
    assert seeds.text_topics == [1, 2, 3, 6]
    assert seeds.without(TAXONOMY) == []
    assert name_text(TAXONOMY, 0) == "Health."


def test_names_shared_with_deeper_topics_are_noted_when_columns_are_guessed(tmp_path: Path) -> None:
    taxonomy = Taxonomy.from_paths(["Health", "Safety > Health", "Safety > Guns"])
    noted = {}
    for column in ("topic", "label"):
        file = tmp_path / f"{column}.csv"
        file.write_text(f"id,{column}\na,Health\nb,Safety > Guns\n")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the guess
            noted[column] = read_seeds(file, taxonomy).shared
    assert noted["topic"] == noted["label"] == {"Health": ["Safety > Health"]}


def test_gold_is_by_id(tmp_path: Path) -> None:
    assert read_gold(write(tmp_path / "g.csv", [ROWS[0], ROWS[3]]), TAXONOMY) == {"a": [5, 2]}
    with pytest.raises(ValueError, match="have no id"):
        read_gold(write(tmp_path / "g.csv", ROWS), TAXONOMY)


def test_gold_is_called_gold(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("doc,label\n1,x\n")
    with pytest.raises(CorpusError, match=r"^gold can't be read: .*g.csv has no column 'topic'"):
        read_gold(tmp_path / "g.csv", TAXONOMY)
    (tmp_path / "g.csv").write_text("id,topic\n")
    with pytest.raises(CorpusError, match=r"has no labels. Give rows of id,topic$"):
        read_gold(tmp_path / "g.csv", TAXONOMY)


def test_gold_rows_without_a_topic_are_reported(tmp_path: Path) -> None:
    path = TAXONOMY.paths[0]
    (tmp_path / "g.csv").write_text(f"id,topic\n1,{path}\n2,\n3,\n")
    with pytest.warns(UserWarning, match="2 rows have no topic in .*g.csv: ignored"):
        assert read_gold(tmp_path / "g.csv", TAXONOMY) == {"1": [0]}


def test_a_code_is_found_as_pandas_writes_it() -> None:
    coded = Taxonomy(["A", "B", "C"], [-1, 0, 0], codes=["1", "105", "105.0"])
    finder = TopicFinder(coded)
    assert [finder.find(text) for text in ("1.0", "105", "105.0")] == [0, 1, 2]
    with pytest.raises(TaxonomyError, match=r"no topic '7\.0'"):
        finder.find("7.0")
