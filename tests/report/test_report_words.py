"""Words that set topics apart: planted ones are found, those of every text are not."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hierseed.core.tree import Tree
from hierseed.report.words import distinctive_words, find_words

TREE = Tree([-1, -1, 0, 0, 1])


def corpus(n: int = 30) -> tuple[list[int], list[str]]:
    own = {2: "salmon river", 3: "mast river", 4: "comet orbit"}
    topics = [t for t in own for _ in range(n)] + [-1] * 5
    texts = [f"the of and {own.get(t, 'nothing')} word{i % 7}" for i, t in enumerate(topics)]
    return topics, texts


def test_planted_words_are_found_and_common_ones_are_not():
    topics, texts = corpus()
    words = distinctive_words(TREE, topics, texts)
    assert words[2] == ["salmon"]  # 'river' is also its sibling's
    assert words[3] == ["mast"]
    assert set(words[4]) == {"comet", "orbit"}
    assert words[0][0] == "river"  # what both children share sets the parent apart
    assert not {"the", "of", "and"} & {word for some in words for word in some}


def test_a_common_word_that_one_topic_uses_a_little_more_is_not_distinctive():
    topics, texts = corpus(2_000)  # significant, since there are many documents
    texts = [f"{text} return" if i % 3 or t == 2 else text for i, (t, text) in
             enumerate(zip(topics, texts))]  # fmt: skip
    assert distinctive_words(TREE, topics, texts)[2] == ["salmon"]


def test_order_of_documents_does_not_matter():
    topics, texts = corpus()
    order = np.random.default_rng(0).permutation(len(texts))
    assert distinctive_words(TREE, topics, texts) == distinctive_words(
        TREE, [topics[i] for i in order], [texts[i] for i in order]
    )


def test_a_word_repeated_in_one_document_does_not_win():
    topics, texts = corpus()
    texts[0] += " loud" * 500
    assert "loud" not in distinctive_words(TREE, topics, texts)[2]


def test_topics_without_documents_have_no_words():
    assert distinctive_words(TREE, [4], ["comet"])[2] == []
    assert distinctive_words(TREE, [], []) == [[]] * 5
    assert distinctive_words(TREE, [2, 3], ["", "123"]) == [[]] * 5


def test_scripts_without_spaces_are_read_in_pairs():
    assert find_words("東京都") == {"東京", "京都"}
    assert "привет" in find_words("Привет, мир!")


@given(st.text())
def test_any_text_can_be_read(text):
    assert all(word == word.lower() or len(word) for word in find_words(text))
