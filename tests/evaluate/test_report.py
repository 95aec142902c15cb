from hierseed.evaluate import score
from hierseed.evaluate.protocol import to_text
from hierseed.taxonomy import Taxonomy

TAXONOMY = Taxonomy.from_paths(["A > B", "A > C", "D"])
SCORES = score(TAXONOMY, TAXONOMY.tree.ancestors[[1, 2, 3, -1]], [1, 1, 3, 3])


def test_both_protocols_are_always_shown():
    text = to_text(SCORES)
    assert "Protocol all" in text
    assert "Protocol paper" in text
    assert "75.0%" in text
    assert "(4 documents)" in text
    assert "(3 documents)" in text
    assert text.count("mean") == 2


def test_columns_line_up():
    block = to_text(SCORES).split("\n\n")[1].splitlines()[1:]
    assert len({len(line) for line in block}) == 1
